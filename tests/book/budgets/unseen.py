"""Answers that were written from the statements of the exercises, before their checks were."""

import math

import numpy as np
import torch
from numpy.polynomial import Polynomial

from tests.book.unseen import answers_to

right, wrong = answers_to("budgets")


@right
def size_and_tokens(budget, per_parameter):
    parameters = (budget / 6 / per_parameter) ** 0.5
    return parameters, per_parameter * parameters


wrong("forward alone", "/ 6 /", "/ 2 /")
wrong("no root", ") ** 0.5", ")")
wrong("the budget for each", "per_parameter * parameters", "budget / 6")
wrong("square with the ratio", "/ 6 / per_parameter", "/ 6 * per_parameter")


@right
def size_and_tokens(budget, per_parameter):
    tokens = math.sqrt(budget * per_parameter / 6)
    return tokens / per_parameter, tokens


wrong("whole numbers", "return tokens / per_parameter, tokens", "return int(tokens), int(tokens)")
wrong("exchanged", "tokens / per_parameter, tokens", "tokens, tokens / per_parameter")


@right
def best_size(sizes, gaps):
    a, b, _ = np.polyfit(np.log(sizes), np.log(gaps), 2)
    return np.exp(-b / (2 * a))


wrong("two forgotten", "(2 * a)", "a")
wrong("logarithm returned", "np.exp(-b / (2 * a))", "-b / (2 * a)")
wrong("gaps as they are", "np.log(gaps)", "gaps")
wrong("sizes as they are", "np.exp(-b / (2 * a))", "-b / (2 * a)", "np.log(sizes)", "sizes")
wrong("wrong order", "a, b, _", "_, b, a")


@right
def best_size(sizes, gaps):
    x, y = torch.tensor(sizes).double().log(), torch.tensor(gaps).double().log()
    powers = torch.stack([x**0, x, x**2], 1)
    _, b, a = torch.linalg.lstsq(powers, y[:, None]).solution.flatten()
    return torch.exp(-b / a / 2).item()


wrong("logarithm to ten", "torch.exp(-b / a / 2)", "10 ** (-b / a / 2)")


def lowest_of_those(sizes, gaps):
    return sizes[gaps.index(min(gaps))]


wrong("the lowest that was trained", lowest_of_those)


@right
def rate_of(name, shape, rate, tuned, width):
    if name.startswith("blocks.") and len(shape) == 2:
        return rate * tuned / width
    return rate


wrong("every matrix", 'name.startswith("blocks.") and ', "")
wrong("all of a block", " and len(shape) == 2", "")
wrong("inverse", "tuned / width", "width / tuned")
wrong("root", "rate * tuned / width", "rate * (tuned / width) ** 0.5")
wrong("only the first block", 'startswith("blocks.")', 'startswith("blocks.0.")')


@right
def rate_of(name, shape, rate, tuned, width):
    inside = "blocks" in name
    matrix = len(shape) > 1
    times = width / tuned
    return rate / times if inside and matrix else rate


wrong("only wider models", "inside and matrix", "inside and matrix and width > tuned")
wrong("attention alone", '"blocks" in name', '"attention" in name')
wrong("the shape's second number", "width / tuned", "shape[-1] / tuned")


@right
def size_and_tokens(budget, per_parameter):
    tokens = (budget * per_parameter / 6) ** 0.5
    return (budget / (6 * tokens), tokens)


wrong(
    "the six operations are forgotten",
    "    tokens = (budget * per_parameter / 6) ** 0.5\n    return (budget / (6 * tokens), tokens)",
    "    n = math.sqrt(budget / per_parameter)\n    return (n, per_parameter * n)",
)


@right
def best_size(sizes, gaps):
    curve = Polynomial.fit([math.log(s) for s in sizes], [math.log(g) for g in gaps], deg=2)
    bottom = curve.deriv().roots()[0]
    return math.exp(bottom.real)


wrong(
    "returns the measured size with the smallest gap",
    "    curve = Polynomial.fit([math.log(s) for s in sizes], [math.log(g) for g in gaps], deg=2)\n    bottom = curve.deriv().roots()[0]\n    return math.exp(bottom.real)",
    "    return sizes[int(np.argmin(gaps))]",
)


@right
def rate_of(name, shape, rate, tuned, width):
    if not name.startswith("blocks."):
        return rate
    if len(shape) == 1:
        return rate
    return rate * (tuned / width)


wrong(
    "the ratio is upside down: wider gets more",
    '    if not name.startswith("blocks."):\n        return rate\n    if len(shape) == 1:\n        return rate\n    return rate * (tuned / width)',
    '    if name.startswith("blocks.") and len(shape) == 2:\n        return rate * width / tuned\n    return rate',
)
