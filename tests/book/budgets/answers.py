"""Answers to the exercises of book/budgets.ipynb."""

import math

import numpy as np
import torch

from book.budgets.checks import best_size, rate_of, size_and_tokens
from tests.book.answers import right, wrong

# What a budget buys


@right(size_and_tokens)
def tokens_first(budget, per_parameter):
    tokens = (budget / 6 * per_parameter) ** 0.5
    return [tokens / per_parameter, tokens]


@right(size_and_tokens)
def in_logarithms(budget, per_parameter):
    half = (math.log(budget) - math.log(6) - math.log(per_parameter)) / 2
    return np.exp(half), np.exp(half + math.log(per_parameter))


@wrong(size_and_tokens, "one token for each parameter")
def half_of_it_each(budget, per_parameter):
    return budget / 12, budget / 12 * per_parameter


# The bottom of a valley


@right(best_size)
def with_torch(sizes, gaps):
    x, y = torch.tensor(sizes).double().log(), torch.tensor(gaps).double().log()
    x, middle = x - x.mean(), x.mean()
    powers = torch.stack([torch.ones_like(x), x, x.square()], dim=1)
    _, slope, bend = torch.linalg.lstsq(powers, y[:, None]).solution[:, 0]
    return (middle - slope / (2 * bend)).exp()


@right(best_size)
def by_the_derivative(sizes, gaps):
    curve = np.polynomial.Polynomial.fit(np.log10(sizes), np.log10(gaps), 2)
    return 10 ** curve.deriv().roots()[0]


@wrong(best_size, "five sizes")
def through_three_of_them(sizes, gaps):
    return with_torch(
        [sizes[0], sizes[len(sizes) // 2], sizes[-1]], [gaps[0], gaps[len(gaps) // 2], gaps[-1]]
    )


# A rate for every parameter


@right(rate_of)
def in_one_line(name, shape, rate, tuned, width):
    return rate / (width / tuned) if name.split(".")[0] == "blocks" and len(shape) > 1 else rate


@right(rate_of)
def step_by_step(name, shape, rate, tuned, width):
    if "blocks" not in name:
        return rate
    if len(shape) < 2:
        return rate
    return torch.tensor(rate).double() * tuned / width


@wrong(rate_of, "a narrower model")
def never_more(name, shape, rate, tuned, width):
    divided = name.startswith("blocks") and len(shape) == 2
    return rate / max(1, width / tuned) if divided else rate
