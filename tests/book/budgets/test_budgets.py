"""Models that cost the same: steps for a budget, the bottom of a valley, the committed table."""

import math

import pytest

from book import sizes
from book.budgets import budgets
from book.language_model import NOTHING
from companion.data import corpus


def test_a_budget_buys_six_operations_for_every_parameter_and_token():
    for budget in budgets.BUDGETS:
        for d in budgets.WIDTHS:
            whole = 6 * sizes.parameters(d) * budgets.TOKENS * budgets.steps_for(budget, d)
            assert whole == pytest.approx(budget, rel=0.02)
    rows = sizes.ids_of(corpus(3000, 5))
    tokens = (rows[:, 1:] != NOTHING).sum().item() / 3000 * sizes.BATCH
    assert tokens == pytest.approx(budgets.TOKENS, rel=0.02)


def test_the_lowest_point_is_that_of_the_parabola():
    n = [1000, 3000, 9000, 30000]
    gaps = [math.exp(0.3 + 0.5 * math.log(size / 5000) ** 2) for size in n]
    assert budgets.lowest(n, gaps) == pytest.approx(5000, rel=1e-6)
    with pytest.raises(ValueError, match="no lowest point"):
        budgets.lowest(n, [1.0, 2.0, 2.5, 2.0])


@pytest.mark.long
def test_the_table_has_every_run_and_its_shortest_comes_out_again():
    rows = budgets.measured()
    seeds = {row["seed"] for row in rows}
    assert {(row["seed"], row["budget"], row["d"]) for row in rows} == {
        (seed, budget, d) for seed in seeds for budget in budgets.BUDGETS for d in budgets.WIDTHS
    }
    seed, budget, d = min(seeds), min(budgets.BUDGETS), max(budgets.WIDTHS)
    text, *test = budgets.reading(seed)
    model = sizes.trained(d, budgets.steps_for(budget, d), text, seed)
    found = sizes.gap(model, *test)
    (kept,) = (r["gap"] for r in rows if (r["seed"], r["budget"], r["d"]) == (seed, budget, d))
    assert found == pytest.approx(kept, abs=0.02)
