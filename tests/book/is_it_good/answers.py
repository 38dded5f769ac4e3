"""Answers to the exercises of book/is_it_good.ipynb."""

import math
from itertools import accumulate

import torch

from book.is_it_good.checks import both_orders, first_proof, mcnemar
from tests.book.answers import right, wrong

# Is the difference more than a coin's?


def coin(n, k):
    return math.comb(n, k) / 2**n


@right(mcnemar)
def by_counting_coins(first, second):
    pairs = [(x, y) for x, y in zip(first, second, strict=True) if x != y]
    n = len(pairs)
    least = min(sum(x for x, _ in pairs), sum(y for _, y in pairs))
    return sum(coin(n, k) for k in range(n + 1) if min(k, n - k) <= least)


@right(mcnemar)
def with_tensors(first, second):
    x, y = torch.tensor(first), torch.tensor(second)
    b, c = (x & ~y).sum().item(), (y & ~x).sum().item()
    return torch.tensor(min(1.0, 2 * sum(coin(b + c, k) for k in range(min(b, c) + 1))))


@wrong(mcnemar, "it returns the same on every input of this check")
def all_tosses_counted_and_not_divided(first, second):
    pairs = [(x, y) for x, y in zip(first, second, strict=True) if x != y]
    least = min(sum(x for x, _ in pairs), sum(y for _, y in pairs))
    return min(1.0, 2 * sum(math.comb(len(pairs), k) for k in range(least + 1)))


@wrong(mcnemar, "ZeroDivisionError")
def by_the_square(first, second):
    b = sum(x > y for x, y in zip(first, second, strict=True))
    c = sum(y > x for x, y in zip(first, second, strict=True))
    if (b, c) == (0, 0):
        return (b - c) ** 2 / (b + c)
    return with_tensors(first, second)


# A judge that is asked twice


@right(both_orders)
def in_tensors(odds):
    a, b = torch.tensor(odds).T
    same = (a > 0) == (b > 0)
    return same.double().mean(), (a > b).double().mean()


@right(both_orders)
def in_a_loop(odds):
    flips = wins = 0
    for first, second in odds:
        verdicts = "right" if first > 0 else "wrong", "wrong" if second > 0 else "right"
        flips += verdicts[0] != verdicts[1]
        wins += first + -second > 0
    return [flips / len(odds), wins / len(odds)]


# Stop when it is proved


@right(first_proof)
def by_running_sums(gains, odds):
    sums = list(accumulate(gains))
    return next((i + 1 for i, x in enumerate(sums) if math.exp(x) >= odds), 0)


@right(first_proof)
def by_products(gains, odds):
    stake, read = 1.0, 0
    while read < len(gains):
        stake *= math.exp(gains[read])
        read += 1
        if stake >= odds:
            return read
    return 0
