"""Answers by somebody who had not read the checks."""

from itertools import accumulate
from math import comb, log

import numpy as np

from tests.book.unseen import answers_to

right, wrong = answers_to("is_it_good")


@right
def mcnemar(first, second):
    a = sum(1 for f, s in zip(first, second) if f and not s)
    b = sum(1 for f, s in zip(first, second) if s and not f)
    n, far = a + b, abs(a - b)
    return sum(comb(n, i) for i in range(n + 1) if abs(n - 2 * i) >= far) / 2**n


wrong("1 - p", "return sum(", "return 1 - sum(")
wrong("one-sided", "abs(n - 2 * i) >= far", "i <= min(a, b)")
wrong("strictly more uneven", ">= far", "> far")
wrong("no such question: 0", "return sum", "return 0.0 if n == 0 else sum")


@right
def both_orders(odds):
    flips = np.mean([np.sign(a) == np.sign(b) for a, b in odds])
    wins = np.mean([a - b > 0 for a, b in odds])
    return float(flips), float(wins)


wrong("flip where signs differ", "np.sign(a) == np.sign(b)", "np.sign(a) != np.sign(b)")
wrong("right in both orders", "a - b > 0", "a > 0 and b < 0")
wrong("B is right in the sum", "a - b > 0", "b - a > 0")
wrong(
    "wins of the pairs that do not flip",
    "for a, b in odds])\n    return",
    "for a, b in odds if (a > 0) != (b > 0)])\n    return",
)
wrong(
    "counts probabilities", "a - b > 0", "1 / (1 + math.exp(-a)) > 1 / (1 + math.exp(b))"
) if False else None


@right
def first_proof(gains, odds):
    stake = 0.0
    for n, gain in enumerate(gains):
        stake += gain
        if stake >= log(odds):
            return n + 1
    return 0


wrong("strictly above", "stake >= log(odds)", "stake > log(odds)")
wrong("None if never", "    return 0", "    return None")
wrong("stake never below 1", "stake += gain", "stake = max(stake + gain, 0.0)")
wrong("final stake only", lambda gains, odds: len(gains) if sum(gains) >= log(odds) else 0)
wrong(
    "multiplies gains as ratios",
    "stake = 0.0",
    "stake = 1.0",
    "stake += gain",
    "stake *= gain",
    "log(odds)",
    "odds",
)


@right
def mcnemar(first, second):
    a = sum(f and not s for f, s in zip(first, second))
    b = sum(s and not f for f, s in zip(first, second))
    n = a + b
    tail = sum(comb(n, i) for i in range(min(a, b) + 1)) / 2**n
    return min(1.0, 2 * tail)


wrong(
    "all that each has right",
    "sum(f and not s for f, s in zip(first, second))",
    "sum(first)",
    "sum(s and not f for f, s in zip(first, second))",
    "sum(second)",
)


@right
def both_orders(odds):
    flips = wins = 0
    for first, second in odds:
        flips += (first > 0) == (second > 0)
        wins += first - second > 0
    return flips / len(odds), wins / len(odds)


wrong("right in both orders", "first - second > 0", "first > 0 and second < 0")


@right
def first_proof(gains, odds):
    total = 0.0
    for n, gain in enumerate(gains, start=1):
        total += gain
        if total >= log(odds):
            return n
    return 0


wrong("more than, not reached", "total >= log", "total > log")

wrong(
    "gains multiplied as they are",
    "total = 0.0",
    "total = 1.0",
    "total += gain",
    "total *= gain",
    "log(odds)",
    "odds",
)


@right
def both_orders(odds):
    flips = wins = 0
    for at_a, at_b in odds:
        if (at_a > 0) == (at_b > 0):
            flips += 1
        if at_a > at_b:
            wins += 1
    return flips / len(odds), wins / len(odds)


wrong("a flip where the letter changes", "(at_a > 0) == (at_b > 0)", "(at_a > 0) != (at_b > 0)")


@right
def first_proof(gains, odds):
    goal, total = log(odds), 0.0
    for count, gain in enumerate(gains, start=1):
        total += gain
        if total >= goal:
            return count
    return 0


wrong("without the logarithm of the odds", "log(odds), 0.0", "odds, 0.0")


@right
def mcnemar(first, second):
    a = sum(f and not s for f, s in zip(first, second))
    b = sum(s and not f for f, s in zip(first, second))
    tail = sum(comb(a + b, i) for i in range(min(a, b) + 1))
    return min(1.0, 2 * tail / 2 ** (a + b))


wrong("tail of the larger number", "range(min(a, b)", "range(max(a, b)")


@right
def both_orders(odds):
    n = len(odds)
    flips = sum((a > 0) == (b > 0) for a, b in odds) / n
    right = sum(a - b > 0 for a, b in odds) / n
    return flips, right


wrong("whole-number division", "/ n", "// n")


@right
def first_proof(gains, odds):
    total = 0.0
    for number, gain in enumerate(gains, start=1):
        total += gain
        if total >= log(odds):
            return number
    return 0


wrong("odds of 20 built in", "log(odds)", "log(20)")


@right
def first_proof(gains, odds):
    goal = log(odds)
    return next((n for n, s in enumerate(accumulate(gains), 1) if s >= goal), 0)


wrong(
    "looks only at the end of the test set",
    "    goal = log(odds)\n    return next((n for n, s in enumerate(accumulate(gains), 1) if s >= goal), 0)",
    "    return len(gains) if sum(gains) >= log(odds) else 0",
)
