"""Checks for the exercises of book/making_things_up.ipynb."""

from collections import Counter

from book.checking.exercise import climb, exercise
from book.checking.rungs import edited, ladder


@exercise
def singleton_rate(answer) -> str:
    """Check `singleton_rate(told)` -> the share of texts about somebody told of once."""
    climb(SINGLETON_RATE, answer)
    return "everybody told of once, nobody, some, and a long list"


def _singleton_rate(told):
    counts = Counter(told)
    return sum(n == 1 for n in counts.values()) / len(told)


@ladder(_singleton_rate)
def SINGLETON_RATE(singleton_rate):
    """four texts about four people: all of the texts are about somebody told of once"""
    told = ["Alia", "Belen", "Corix", "Danon"]
    yield singleton_rate(told)

    """six texts, of which two are about somebody who is in no other"""
    told = ["Alia", "Alia", "Belen", "Alia", "Corix", "Alia"]
    yield singleton_rate(told)

    """everybody is in two texts: no text is about somebody told of once"""
    told = ["Alia", "Belen", "Alia", "Belen"]
    yield singleton_rate(told)

    """one person is told of three times, one twice, and one once"""
    told = ["Danon", "Alia", "Belen", "Alia", "Belen", "Alia"]
    yield singleton_rate(told)

    """names may be numbers, and the list long"""
    told = [i * i % 23 for i in range(60)] + [100, 101, 102]
    yield singleton_rate(told)


SINGLETON_RATE.mistakes |= {
    "`//` rounds down; the share is a fraction": edited(_singleton_rate, "/ len", "// len"),
    "that is a share of the people; Good and Turing divide by the number of texts": edited(
        _singleton_rate, "/ len(told)", "/ len(counts)"
    ),
    "the duplicates are removed first, and then everybody is told of once": lambda told: (
        _singleton_rate(list(set(told)))
    ),
    "those are the different people among all texts; count only those told of once": edited(
        _singleton_rate, "sum(n == 1 for n in counts.values())", "len(counts)"
    ),
    "that is the share of texts about people told of more than once": edited(
        _singleton_rate, "n == 1", "n * (n > 1)"
    ),
    "people told of twice are counted, too": edited(_singleton_rate, "n == 1", "n <= 2"),
    "this is a number; its share of the texts was asked for": edited(
        _singleton_rate, " / len(told)", ""
    ),
    "people told of more than once are counted; count those told of once": edited(
        _singleton_rate, "n == 1", "n > 1"
    ),
    "a text is compared only with the one before it; compare it with all others": lambda told: (
        sum(a != b for a, b in zip(told, [None, *told[:-1]], strict=True)) / len(told)
    ),
}


@exercise
def best_score(answer) -> str:
    """Check `best_score(sure, right, t)` -> the highest mean score of any threshold."""
    climb(BEST_SCORE, answer)
    return "marks from 0 to .9, models that are calibrated, too sure and of no use, and ties"


def _best_score(sure, right, t):
    best = 0.0
    for threshold in sure:
        answered = [hit for c, hit in zip(sure, right, strict=True) if c >= threshold]
        wrong = len(answered) - sum(answered)
        best = max(best, (sum(answered) - wrong * t / (1 - t)) / len(sure))
    return best


@ladder(_best_score)
def BEST_SCORE(best_score):
    """wrong answers cost nothing: answer everything, and one of four is right"""
    sure = [0.9, 0.3, 0.2, 0.1]
    right = [False, False, False, True]
    yield best_score(sure, right, 0.0)

    """t = .75: a wrong answer costs 3; of five questions the two surest are right, then none"""
    sure = [0.95, 0.9, 0.6, 0.55, 0.5]
    right = [True, True, False, False, False]
    yield best_score(sure, right, 0.75)

    """right answers below a wrong one: it costs 1 to get to the two, and they pay for that"""
    sure = [0.9, 0.8, 0.7, 0.6, 0.4]
    right = [True, False, True, True, False]
    yield best_score(sure, right, 0.5)

    """too sure: at t = .5 the best threshold is far above .5"""
    sure = [0.99, 0.98, 0.97, 0.9, 0.85, 0.8, 0.75]
    right = [True, True, True, False, False, False, True]
    yield best_score(sure, right, 0.5)

    """nothing is worth an answer: whoever refuses everything scores 0"""
    sure = [0.9, 0.8]
    right = [False, False]
    yield best_score(sure, right, 0.9)

    """the questions are in no order: the two that are right are the surest, and stand apart"""
    sure = [0.3, 0.9, 0.5, 0.8, 0.7]
    right = [False, True, False, True, False]
    yield best_score(sure, right, 0.75)

    """equally sure: one threshold answers both or neither"""
    sure = [0.8, 0.8, 0.8, 0.2]
    right = [True, True, False, False]
    yield best_score(sure, right, 0.75)


BEST_SCORE.mistakes |= {
    "a wrong answer costs t / (1 - t), not t": edited(
        _best_score, "wrong * t / (1 - t)", "wrong * t"
    ),
    "that is the score of the threshold t; look for the best one": lambda sure, right, t: (
        sum((1 if hit else -t / (1 - t)) for c, hit in zip(sure, right, strict=True) if c >= t)
        / len(sure)
    ),
    "refusals count, too: the mean is over all questions, not over those answered": edited(
        _best_score, "/ len(sure))", "/ len(answered))"
    ),
    "refusing everything scores 0, and may be best": edited(
        _best_score, "best = 0.0", "best = -float('inf')"
    ),
    "wrong answers cost nothing; a threshold lets in all that are surer, and wrong ones cost": (
        lambda sure, right, t: sum(right) / len(sure)
    ),
    "a wrong answer adds to the score; it takes t / (1 - t) away": edited(
        _best_score, "- wrong", "+ wrong"
    ),
    "only thresholds in steps of .1 are tried; the best may lie between two": edited(
        _best_score, "in sure", "in [i / 10 for i in range(11)]"
    ),
    "that answers everything, whatever the marks": lambda sure, right, t: (
        (sum(right) - (len(right) - sum(right)) * t / (1 - t)) / len(right)
    ),
    "answers that are exactly as sure as the threshold are left out; take >=": edited(
        _best_score, "c >= threshold", "c > threshold"
    ),
    "scores are added up; their mean over the questions was asked for": edited(
        _best_score, " / len(sure))", ")"
    ),
    "the comparison is turned round: whoever is surer than the threshold answers": edited(
        _best_score, "c >= threshold", "c <= threshold"
    ),
}


@exercise
def calibration_error(answer) -> str:
    """Check `calibration_error(sure, right)` -> the expected calibration error of ten bins."""
    climb(CALIBRATION_ERROR, answer)
    return "one bin and several, of different sizes, too sure and not sure enough"


def _calibration_error(sure, right):
    gaps = [0.0] * 10
    for c, hit in zip(sure, right, strict=True):
        gaps[min(int(10 * c), 9)] += c - hit
    return sum(abs(gap) for gap in gaps) / len(sure)


@ladder(_calibration_error)
def CALIBRATION_ERROR(calibration_error):
    """four answers in one bin, .75 sure, of which two are right"""
    sure = [0.75, 0.75, 0.75, 0.75]
    right = [True, False, True, False]
    yield calibration_error(sure, right)

    """the same bin, and three of four are right: calibrated, although no answer is .75 right"""
    sure = [0.75, 0.75, 0.75, 0.75]
    right = [True, False, True, True]
    yield calibration_error(sure, right)

    """two bins, one too sure and one not sure enough"""
    sure = [0.875, 0.875, 0.375, 0.375]
    right = [True, False, True, True]
    yield calibration_error(sure, right)

    """a bin of one answer weighs less than one of five"""
    sure = [0.25, 0.875, 0.875, 0.875, 0.875, 0.875]
    right = [True, True, True, True, True, False]
    yield calibration_error(sure, right)

    """three answers in the bin from .8 to .9, of which two are right"""
    sure = [0.8125, 0.84375, 0.875]
    right = [True, True, False]
    yield calibration_error(sure, right)

    """1 belongs to the last bin"""
    sure = [1.0, 0.9375, 0.125]
    right = [False, True, False]
    yield calibration_error(sure, right)

    """a bin has its lower edge and not its upper one: .5 is in the bin of .5625"""
    sure = [0.4375, 0.5, 0.5625]
    right = [False, True, False]
    yield calibration_error(sure, right)

    """twenty answers, in every bin from 0 to 1"""
    sure = [(7 * i % 16 + 0.5) / 16 for i in range(20)]
    right = [i % 3 > 0 for i in range(20)]
    yield calibration_error(sure, right)


CALIBRATION_ERROR.mistakes |= {
    "each answer is compared with its own outcome; compare the means inside a bin": (
        lambda sure, right: (
            sum(abs(c - hit) for c, hit in zip(sure, right, strict=True)) / len(sure)
        )
    ),
    "bins that are too sure and bins that are not sure enough cancel; take each bin's size": edited(
        _calibration_error, "sum(abs(gap) for gap in gaps)", "abs(sum(gaps))"
    ),
    "every bin weighs the same; weigh it by its number of answers": lambda sure, right: (
        sum(_gaps(sure, right)) / len(_gaps(sure, right))
    ),
    "the bins' differences are added as they are; weigh each by its number of answers": (
        lambda sure, right: sum(_gaps(sure, right))
    ),
    "that is the largest difference of a bin; the mean over the answers is asked": (
        lambda sure, right: max(_gaps(sure, right))
    ),
    "the middle of the bin is taken for how sure the answers are": edited(
        _calibration_error, "+= c - hit", "+= (min(int(10 * c), 9) + 0.5) / 10 - hit"
    ),
    "numbers are rounded to the nearest tenth; the bin from .8 to .9 takes .8125 and .875: "
    "round down": edited(_calibration_error, "int(", "round("),
    "it is divided by the number of bins; divide by the number of answers": edited(
        _calibration_error, "len(sure)", "10"
    ),
    "only the worst bin counts; add up all of them": edited(
        _calibration_error, "sum(abs(gap) for", "max(abs(gap) for"
    ),
    "the bins' differences are squared; take their sizes": edited(
        _calibration_error, "abs(gap)", "gap * gap"
    ),
    "each bin gets as many answers as the others; a bin is a tenth of the scale, however "
    "many": lambda sure, right: (
        sum(
            abs(
                sum(
                    c - hit
                    for c, hit in sorted(zip(sure, right, strict=True))[
                        i * len(sure) // 10 : (i + 1) * len(sure) // 10
                    ]
                )
            )
            for i in range(10)
        )
        / len(sure)
    ),
}


def _gaps(sure, right):
    """The size of the difference in each bin that holds an answer, however many."""
    bins = {}
    for c, hit in zip(sure, right, strict=True):
        bins.setdefault(min(int(10 * c), 9), []).append(c - hit)
    return [abs(sum(gaps) / len(gaps)) for gaps in bins.values()]
