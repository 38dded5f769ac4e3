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
    "the share of texts about people told of more than once",
    "once / len(told)",
    "1 - once / len(told)",
)
wrong("a number, not a share", "once / len(told)", "once")


@right("singleton_rate")
def singleton_rate_by_looking(told):
    alone = []
    for i, person in enumerate(told):
        others = told[:i] + told[i + 1 :]
        alone.append(person not in others)
    return sum(alone) / len(alone)


wrong("in no earlier text", "told[:i] + told[i + 1 :]", "told[:i]")


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
wrong("squared", "abs(mean - share)", "(mean - share) ** 2")
wrong(
    "the answers that are exactly 1 are left out",
    "        bins[min(int(p * 10), 9)]",
    "        if p < 1: bins[int(p * 10)]",
)
wrong(
    "the largest of the differences",
    "error += abs(mean - share) * len(inside) / len(sure)",
    "error = max(error, abs(mean - share))",
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
    "ten bins with equally many answers",
    "np.minimum(np.floor(sure * 10).astype(int), 9)",
    "np.argsort(np.argsort(sure)) * 10 // len(sure)",
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


wrong(
    "the mean over the answered questions",
    "score / len(sure)",
    "score / sum(p >= threshold for p in sure)",
)
wrong("a wrong answer costs nothing", "-t / (1 - t)", "0")
wrong("the sum, not the mean", "score / len(sure)", "score")
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


wrong("the least sure are answered first", "np.argsort(-sure)", "np.argsort(sure)")
wrong(
    "returns the threshold",
    "float(running[allowed].max() / len(sure))",
    "float(np.append(1.0, sure[order])[np.where(allowed, running, -np.inf).argmax()])",
)


@right
def singleton_rate(told):
    counts = Counter(told)
    once = [person for person in told if counts[person] == 1]
    return len(once) / len(told)


wrong("a count, not a share", "len(once) / len(told)", "len(once)")
wrong(
    "other than the text before",
    "person for person in told if counts[person] == 1",
    "a for a, b in zip(told, [None, *told]) if a != b",
)


@right
def calibration_error(sure, right):
    gap = [0.0] * 10
    for c, r in zip(sure, right):
        gap[min(int(10 * c), 9)] += c - r
    return sum(abs(g) for g in gap) / len(sure)


wrong(
    "the middle of the bin, not the mean of sure",
    "+= c - r",
    "+= (min(int(10 * c), 9) + 0.5) / 10 - r",
)
wrong("the worst bin alone", "sum(abs(g)", "max(abs(g)")


@right
def best_score(sure, right, t):
    penalty = t / (1 - t)
    best = 0.0
    for threshold in sure:
        score = sum(1 if r else -penalty for c, r in zip(sure, right) if c >= threshold)
        best = max(best, score / len(sure))
    return best


wrong(
    "mean over the answered questions",
    "score / len(sure)",
    "score / sum(c >= threshold for c in sure)",
)


def ties_split(sure, right, t):
    best = total = 0.0
    for _, r in sorted(zip(sure, right), reverse=True):
        total += 1 if r else -t / (1 - t)
        best = max(best, total)
    return best / len(sure)


wrong("answers some of those that are equally sure", ties_split)


@right
def calibration_error(sure, right):
    bins = [[] for _ in range(10)]
    for c, ok in zip(sure, right):
        bins[min(int(c * 10), 9)].append((c, ok))
    error = 0.0
    for group in bins:
        if group:
            mean = sum(c for c, _ in group) / len(group)
            share = sum(ok for _, ok in group) / len(group)
            error += len(group) * abs(mean - share)
    return error / len(sure)


wrong(
    "every bin weighs the same",
    "error += len(group) * abs(mean - share)",
    "error += abs(mean - share)",
    "error / len(sure)",
    "error / sum(1 for group in bins if group)",
)


@right
def best_score(sure, right, t):
    best = 0.0
    for threshold in sure:
        marks = 0.0
        for c, ok in zip(sure, right):
            if c >= threshold:
                marks += 1 if ok else -t / (1 - t)
        best = max(best, marks / len(sure))
    return best


wrong(
    "the mean over the questions answered",
    "marks / len(sure)",
    "marks / sum(c >= threshold for c in sure)",
)
