"""Checks for the exercises of book/is_it_good.ipynb."""

from math import comb, erfc, log, sqrt

import numpy as np

from book.checking.exercise import climb, exercise
from book.checking.rungs import edited, ladder


@exercise
def mcnemar(answer) -> str:
    """Check `mcnemar(first, second)` -> the exact two-sided p of two models' answers."""
    climb(MCNEMAR, answer)
    return "one model ahead, either one, both level, and no question on which they differ"


def _mcnemar(first, second):
    only_first = sum(a and not b for a, b in zip(first, second, strict=True))
    only_second = sum(b and not a for a, b in zip(first, second, strict=True))
    differ = only_first + only_second
    tail = sum(comb(differ, i) for i in range(min(only_first, only_second) + 1))
    return min(1.0, 2 * tail / 2**differ)


@ladder(_mcnemar)
def MCNEMAR(mcnemar):
    """five questions on which they differ, and the first is right on all five: 2 / 32"""
    first = [True, True, True, True, True, False, False, True]
    second = [False, False, False, False, False, False, False, True]
    yield mcnemar(first, second)

    """four to one: the coins that are at least so uneven are 5 to 0 and 4 to 1, on either side"""
    first = [True, True, True, True, False, False, True]
    second = [False, False, False, False, True, False, True]
    yield mcnemar(first, second)

    """questions that both answer alike say nothing about the difference"""
    first = [True, True, True, True, False] + 20 * [True] + 3 * [False]
    second = [False, False, False, False, True] + 20 * [True] + 3 * [False]
    yield mcnemar(first, second)

    """the second model is ahead: p is the same as with the two exchanged"""
    first = [False, False, False, False, False, False, True]
    second = [True, True, True, True, True, True, False]
    yield mcnemar(first, second)

    """three to three: nothing is more even, and a probability is at most 1"""
    first = [True, False, True, False, True, False]
    second = [False, True, False, True, False, True]
    yield mcnemar(first, second)

    """they never differ: nothing speaks against a fair coin"""
    first = second = [True, False, True]
    yield mcnemar(first, second)


MCNEMAR.mistakes |= {
    "that is one side only: a coin may be uneven on either": edited(
        _mcnemar, "2 * tail / 2**differ", "tail / 2**differ"
    ),
    "that is the chance of exactly this split; add all that are more uneven": edited(
        _mcnemar,
        "sum(comb(differ, i) for i in range(min(only_first, only_second) + 1))",
        "comb(differ, min(only_first, only_second))",
    ),
    "all questions are counted; only those on which the two differ are coins": edited(
        _mcnemar, "differ = only_first + only_second", "differ = len(first)"
    ),
    "it is not cut at 1": edited(
        _mcnemar, "min(1.0, 2 * tail / 2**differ)", "2 * tail / 2**differ"
    ),
    "the right answers of each are compared; what counts is on which questions they differ": edited(
        _mcnemar, "sum(a and not b for", "sum(a for", "sum(b and not a for", "sum(b for"
    ),
    "this is the approximation by chi squared; the exact p is a sum over tosses of coins": (
        lambda first, second: erfc(
            abs(sum(first) - sum(second))
            / sqrt(2 * max(1, sum(a != b for a, b in zip(first, second, strict=True))))
        )
    ),
    "that is 1 less the probability": edited(_mcnemar, "return min", "return 1 - min"),
    "splits that are more uneven are counted, but not this one": edited(
        _mcnemar, "min(only_first, only_second) + 1)", "min(only_first, only_second))"
    ),
    "it returns the same on every input of this check, 1: the tail goes up to the smaller of the "
    "two numbers, and is divided by 2**differ": edited(_mcnemar, "range(min(", "range(max("),
    "this split's own chance is counted half, as in mid-p; the exact p counts it whole": edited(
        _mcnemar, "2 * tail /", "(2 * tail - comb(differ, min(only_first, only_second))) /"
    ),
    "questions that both answer alike are counted as the second's": edited(
        _mcnemar, "sum(b and not a for", "sum(a == b for"
    ),
}


@exercise
def both_orders(answer) -> str:
    """Check `both_orders(odds)` -> the share of flips, and that of right verdicts by the sum."""
    climb(BOTH_ORDERS, answer)
    return "judges that flip, that do not, and one that prefers A and still knows something"


def _both_orders(odds):
    flips = sum((as_a > 0) == (as_b > 0) for as_a, as_b in odds)
    right = sum(as_a - as_b > 0 for as_a, as_b in odds)
    return flips / len(odds), right / len(odds)


@ladder(_both_orders)
def BOTH_ORDERS(both_orders):
    """it says A, and then B, when the right answer has moved there: no flip, and right"""
    odds = [(2.0, -3.0)]
    yield both_orders(odds)

    """the first verdict is A in both orders, which is a flip; the others stay with the right one;
    both shares are of all three"""
    odds = [(2.0, 3.0), (1.0, -3.0), (2.0, -4.0)]
    yield both_orders(odds)

    """it says B, and then A, so it stays with the wrong answer: no flip, and wrong"""
    odds = [(-1.5, 0.5)]
    yield both_orders(odds)

    """the first verdict is B in both orders: that is a flip, too"""
    odds = [(-0.5, -2.5), (1.0, -2.0), (2.0, -1.0)]
    yield both_orders(odds)

    """it always says A, but more surely when A is right: the sum of both orders is right"""
    odds = [(4.0, 1.0), (5.0, 4.5), (3.0, 3.5)]
    yield both_orders(odds)

    """some flip and some do not"""
    odds = [(1.0, -2.0), (0.5, 0.25), (-1.0, 2.0), (-3.0, -1.0), (2.0, -0.5)]
    yield both_orders(odds)


BOTH_ORDERS.mistakes |= {
    "those are the verdicts that stay; a flip says the same letter in both orders": edited(
        _both_orders, "(as_a > 0) == (as_b > 0)", "(as_a > 0) != (as_b > 0)"
    ),
    "right is judged by the first order alone, in which A is right; both orders count": edited(
        _both_orders, "as_a - as_b > 0", "as_a > 0"
    ),
    "those are right in both orders; add the evidence of the two": edited(
        _both_orders, "as_a - as_b > 0", "as_a > 0 > as_b"
    ),
    "only pairs whose verdict flips are counted as right; the others count, too": edited(
        _both_orders, "as_a - as_b > 0", "as_a > as_b and (as_a > 0) == (as_b > 0)"
    ),
    "the two are added as they are; in the second order B is the right answer": edited(
        _both_orders, "as_a - as_b > 0", "as_a + as_b > 0"
    ),
    "the right ones are divided by the number of pairs that do not flip; all pairs count": edited(
        _both_orders, "right / len(odds)", "right / max(1, len(odds) - flips)"
    ),
    "only verdicts that say A twice are counted as flips": edited(
        _both_orders, "(as_a > 0) == (as_b > 0)", "as_a > 0 and as_b > 0"
    ),
    "// makes 0 of a share below 1; take /": edited(
        _both_orders,
        "return flips / len(odds), right / len(odds)",
        "return flips // len(odds), right // len(odds)",
    ),
    "those are right in at least one order; add the evidence of the two": edited(
        _both_orders, "as_a - as_b > 0", "as_a > 0 or as_b < 0"
    ),
}


@exercise
def first_proof(answer) -> str:
    """Check `first_proof(gains, odds)` -> after how many sentences the stake reaches them, or 0."""
    climb(FIRST_PROOF, answer)
    return "proofs at the first sentence and later, stakes that fall first or fall back, and none"


def _first_proof(gains, odds):
    stake = 0.0
    for read, gain in enumerate(gains, 1):
        stake += gain
        if stake >= log(odds):
            return read
    return 0


@ladder(_first_proof)
def FIRST_PROOF(first_proof):
    """each of the first sentences multiplies the stake by e: 20 is passed at the third"""
    gains = [1.0, 1.0, 1.0, 4.0, 1.0]
    yield first_proof(gains, 20)

    """the stake falls below 1 at first; what is lost has to be won back"""
    gains = [-2.0, 2.5, 0.75, 0.5, 2.0]
    yield first_proof(gains, 20)

    """the stake falls after it has risen: a sentence that loses counts as one that wins"""
    gains = [2.0, -1.0, 1.5, 1.0]
    yield first_proof(gains, 20)

    """you may stop at the proof, whatever would have come afterwards"""
    gains = [1.5, 2.0, -4.0, -1.0]
    yield first_proof(gains, 20)

    """one sentence is enough"""
    gains = [5.0, -1.0]
    yield first_proof(gains, 20)

    """exactly the odds are enough, too"""
    gains = [0.0, float(np.log(2)), 1.0, 5.0, -9.0]
    yield first_proof(gains, 2)

    """no sum reaches the odds: 0"""
    gains = [0.5, -0.25, 1.0, 0.75]
    yield first_proof(gains, 20)

    """other odds: 1,000 to 1"""
    gains = [2.0, 2.0, 1.0, 1.0, 1.0, 2.0]
    yield first_proof(gains, 1000)


FIRST_PROOF.mistakes |= {
    "a sentence is numbered from 0; return how many have been read": edited(
        _first_proof, "enumerate(gains, 1)", "enumerate(gains)"
    ),
    "a single sentence's ratio is held against the odds; it is the product of all so far": edited(
        _first_proof, "stake += gain", "stake = gain"
    ),
    "the gains are logarithms: their sum is held against ln(odds), not against the odds": edited(
        _first_proof, "log(odds)", "odds"
    ),
    "the odds are reached where the stake equals them, too: take >=": edited(
        _first_proof, ">=", ">"
    ),
    "the gains are natural logarithms; so is that of the odds": edited(
        _first_proof, "log(odds)", "log(odds, 10)"
    ),
    "before the first sentence the stake is 1, whose logarithm is 0": edited(
        _first_proof, "stake = 0.0", "stake = 1.0"
    ),
    "only what wins is counted; a sentence that loses lowers the stake": edited(
        _first_proof, "stake += gain", "stake += max(gain, 0.0)"
    ),
    "the whole set is read before the stake is looked at; stop where it first reaches "
    "the odds": lambda gains, odds: len(gains) if sum(gains) >= log(odds) else 0,
    "the mean of the gains is held against ln(odds); it is their sum": edited(
        _first_proof, "stake >=", "stake / read >="
    ),
    "20 is built in; the odds are an argument": edited(_first_proof, "log(odds)", "log(20)"),
    "this is the last sentence after which the odds are reached; return at the first": (
        lambda gains, odds: max(
            (n + 1 for n in range(len(gains)) if sum(gains[: n + 1]) >= log(odds)), default=0
        )
    ),
    "the gains are put in order, the largest first; read them as they come": (
        lambda gains, odds: _first_proof(sorted(gains, reverse=True), odds)
    ),
}
