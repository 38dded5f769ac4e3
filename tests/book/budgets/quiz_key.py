"""Right options of the quiz on budgets, schedules and rates, computed."""

import math

import torch

from book.budgets import budgets, rates
from book.budgets.checks import _rate_of, _size_and_tokens
from book.sizes import parameters


def four_times() -> str:
    before, after = (_size_and_tokens(budget, 20)[0] for budget in (1e18, 4e18))
    return {1: "As large", 2: "Twice", 4: "Four times"}[round(after / before)]


def steps_bought() -> str:
    return f"{60_000e9 / (6 * 1e6 * 1e3):,.0f}"


def cut_short() -> str:
    """Every seed of the committed table, and every size up to the best; a larger one may gain."""
    gaps = {(r["seed"], r["d"], r["cut"]): r["gap"] for r in rates.measured() if "cut" in r}
    seeds = {seed for seed, _, _ in gaps}
    best = max(min(rates.SIZES, key=lambda d: gaps[seed, d, False]) for seed in seeds)
    small = [d for d in rates.SIZES if d <= best]
    more = [gaps[seed, d, True] - gaps[seed, d, False] for seed in seeds for d in small]
    if all(nats > 0 for nats in more):
        return "It is higher"
    return "It is lower" if all(nats < 0 for nats in more) else "It is the same"


def embedding() -> str:
    """The exponent of either count, at the mean of the committed runs."""

    def exponent(with_embedding: bool) -> float:
        sizes = [parameters(d, with_embedding) for d in budgets.WIDTHS]
        gaps = torch.tensor(
            [
                [
                    [r["gap"] for r in budgets.measured() if (r["budget"], r["d"]) == (budget, d)]
                    for d in budgets.WIDTHS
                ]
                for budget in budgets.BUDGETS
            ]
        ).mean(-1)
        best = [budgets.lowest(sizes, row) for row in gaps.tolist()]
        return math.log(best[-1] / best[0]) / math.log(budgets.BUDGETS[-1] / budgets.BUDGETS[0])

    more = exponent(False) - exponent(True)
    return "It stays" if abs(more) < 0.05 else f"It becomes {'larger' if more > 0 else 'smaller'}"


def wide_rate() -> str:
    return f"{_rate_of('blocks.0.attention.out.weight', (64, 64), 0.04, 16, 64):.2f}"
