"""Answers by somebody who had not read the checks."""

from collections import Counter

import numpy as np

from tests.book.unseen import answers_to

right, wrong = answers_to("making_things_up")


@right
def singleton_rate(told):
    counts = Counter(told)
    once = sum(1 for n in counts.values() if n == 1)
    return once / len(told)


wrong("divided by the people, not the texts", "/ len(told)", "/ len(counts)")
wrong(
    "different people, also those told of more often",
    "sum(1 for n in counts.values() if n == 1)",
    "len(counts)",
)
wrong("the others", "if n == 1", "if n > 1")
wrong(
    "the share of texts about people told of more than once",
    "once / len(told)",
    "1 - once / len(told)",
)
wrong("at most twice", "n == 1", "n <= 2")
wrong("whole numbers are divided", "once / len(told)", "once // len(told)")
wrong("a number, not a share", "once / len(told)", "once")
wrong("in percent", "once / len(told)", "100 * once / len(told)")
wrong("all that are told of as rarely as the rarest", "n == 1", "n == min(counts.values())")


@right("singleton_rate")
def singleton_rate_by_looking(told):
    alone = []
    for i, person in enumerate(told):
        others = told[:i] + told[i + 1 :]
        alone.append(person not in others)
    return sum(alone) / len(alone)


wrong("in no earlier text", "told[:i] + told[i + 1 :]", "told[:i]")
wrong("in no later text", "told[:i] + told[i + 1 :]", "told[i + 1 :]")
wrong(
    "not in the neighbouring texts",
    "told[:i] + told[i + 1 :]",
    "told[max(i - 1, 0):i] + told[i + 1 : i + 2]",
)


@right
def calibration_error(sure, right):
    bins = [[] for _ in range(10)]
    for p, ok in zip(sure, right, strict=True):
        bins[min(int(p * 10), 9)].append((p, ok))
    error = 0
    for inside in bins:
        if inside:
            mean = sum(p for p, _ in inside) / len(inside)
            share = sum(ok for _, ok in inside) / len(inside)
            error += abs(mean - share) * len(inside) / len(sure)
    return error


wrong("each bin counts the same", "* len(inside) / len(sure)", "/ sum(1 for b in bins if b)")
wrong(
    "each of the ten bins counts the same, the empty ones too", "* len(inside) / len(sure)", "/ 10"
)
wrong("signed: too sure and too unsure cancel", "abs(mean - share)", "(mean - share)")
wrong("squared", "abs(mean - share)", "(mean - share) ** 2")
wrong("rounded to the nearest bin", "int(p * 10)", "round(p * 10)")
wrong(
    "the middle of the bin instead of the mean",
    "mean = sum(p for p, _ in inside) / len(inside)",
    "mean = (min(int(inside[0][0] * 10), 9) + 0.5) / 10",
)
wrong(
    "the answers that are exactly 1 are left out",
    "        bins[min(int(p * 10), 9)]",
    "        if p < 1: bins[int(p * 10)]",
)
wrong("a sum, not a mean", "* len(inside) / len(sure)", "* len(inside)")
wrong("the sum of the bins' differences, unweighted", "* len(inside) / len(sure)", "")
wrong(
    "the largest of the differences",
    "error += abs(mean - share) * len(inside) / len(sure)",
    "error = max(error, abs(mean - share))",
)
wrong(
    "a bin's upper edge belongs to it, not to the next",
    "min(int(p * 10), 9)",
    "max(int(np.ceil(p * 10)) - 1, 0)",
)
wrong(
    "floor division by .1, which puts .3 below .3", "min(int(p * 10), 9)", "min(int(p // 0.1), 9)"
)


@right("calibration_error")
def calibration_error_at_once(sure, right):
    sure, right = np.array(sure, dtype=float), np.array(right, dtype=float)
    which = np.minimum(np.floor(sure * 10).astype(int), 9)
    gaps = np.bincount(which, weights=sure - right, minlength=10)
    return float(np.abs(gaps).sum() / len(sure))


wrong(
    "every answer's own difference",
    "np.bincount(which, weights=sure - right, minlength=10)",
    "sure - right",
)
wrong(
    "one bin for all",
    "which = np.minimum(np.floor(sure * 10).astype(int), 9)",
    "which = np.zeros(len(sure), dtype=int)",
)
wrong(
    "bins between the least and the most sure",
    "np.floor(sure * 10)",
    "np.floor((sure - sure.min()) / (sure.max() - sure.min() + 1e-12) * 10)",
)
wrong(
    "ten bins with equally many answers",
    "np.minimum(np.floor(sure * 10).astype(int), 9)",
    "np.argsort(np.argsort(sure)) * 10 // len(sure)",
)
wrong(
    "an eleventh bin for those that are exactly 1",
    "np.minimum(np.floor(sure * 10).astype(int), 9)",
    "np.floor(sure * 10).astype(int)",
)


@right
def best_score(sure, right, t):
    best = 0.0
    for threshold in sure:
        score = 0.0
        for p, ok in zip(sure, right, strict=True):
            if p >= threshold:
                score += 1 if ok else -t / (1 - t)
        best = max(best, score / len(sure))
    return best


wrong("refusing everything is not tried", "best = 0.0", 'best = -float("inf")')
wrong(
    "the mean over the answered questions",
    "score / len(sure)",
    "score / sum(p >= threshold for p in sure)",
)
wrong(
    "surer than the threshold: the least sure is never answered", "p >= threshold", "p > threshold"
)
wrong("a wrong answer costs t", "-t / (1 - t)", "-t")
wrong("a wrong answer costs nothing", "-t / (1 - t)", "0")
wrong("a wrong answer costs (1 - t) / t", "-t / (1 - t)", "-(1 - t) / t")
wrong("a wrong answer gains", "-t / (1 - t)", "t / (1 - t)")
wrong("the sum, not the mean", "score / len(sure)", "score")
wrong(
    "only the thresholds .1, .2 to .9",
    "for threshold in sure",
    "for threshold in [k / 10 for k in range(1, 10)]",
)
wrong("t itself is the threshold", "for threshold in sure", "for threshold in [t]")
wrong(
    "refusals cost as much as half a wrong answer",
    "        best =",
    "            else:\n                score -= t / (1 - t) / 2\n        best =",
)


@right("best_score")
def best_score_sorted(sure, right, t):
    sure, right = np.array(sure, dtype=float), np.array(right, dtype=bool)
    points = np.where(right, 1.0, -t / (1 - t))
    order = np.argsort(-sure)
    running = np.concatenate([[0.0], np.cumsum(points[order])])
    ends = np.append(np.diff(sure[order]) != 0, True)
    allowed = np.concatenate([[True], ends])
    return float(running[allowed].max() / len(sure))


wrong("cuts between answers that are equally sure", "running[allowed].max()", "running.max()")
wrong(
    "the right ones first among equally sure ones, and cuts between them",
    "np.argsort(-sure)",
    "np.lexsort((~right, -sure))",
    "running[allowed].max()",
    "running.max()",
)
wrong("the least sure are answered first", "np.argsort(-sure)", "np.argsort(sure)")
wrong("the right answers alone are answered", "running[allowed].max()", "right.sum()")
wrong("in the order of the list", "np.argsort(-sure)", "np.arange(len(sure))")
wrong(
    "returns the threshold",
    "float(running[allowed].max() / len(sure))",
    "float(np.append(1.0, sure[order])[np.where(allowed, running, -np.inf).argmax()])",
)
