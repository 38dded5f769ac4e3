"""Models that cost the same: steps for a budget, the bottom of a valley, the committed table."""

import math

import pytest
import torch

from book.language_model import NOTHING, log_probs
from book.scaling import budgets
from companion.data import corpus


def test_a_budget_buys_six_operations_for_every_parameter_and_token():
    for budget in budgets.BUDGETS:
        for d in budgets.WIDTHS:
            whole = 6 * budgets.parameters(d) * budgets.TOKENS * budgets.steps_for(budget, d)
            assert whole == pytest.approx(budget, rel=0.02)
    rows = budgets.ids_of(corpus(3000, 5))
    tokens = (rows[:, 1:] != NOTHING).sum().item() / 3000 * budgets.BATCH
    assert tokens == pytest.approx(budgets.TOKENS, rel=0.02)


def test_the_embedding_is_what_the_count_leaves_out():
    assert budgets.parameters(8) - budgets.parameters(8, embedding=False) == 8 * len(budgets.NUMBER)


def test_the_loss_is_that_of_the_language_models_own_log_probabilities():
    torch.manual_seed(0)
    model, rows = budgets.model_of(8), budgets.ids_of(corpus(20, 1))
    with torch.no_grad():
        expected = -log_probs(model, rows)[rows[:, 1:] != NOTHING]
        torch.testing.assert_close(budgets.losses(model, rows), expected)


def test_the_lowest_point_is_that_of_the_parabola():
    sizes = [1000, 3000, 9000, 30000]
    gaps = [math.exp(0.3 + 0.5 * math.log(n / 5000) ** 2) for n in sizes]
    assert budgets.lowest(sizes, gaps) == pytest.approx(5000, rel=1e-6)
    with pytest.raises(ValueError, match="no lowest point"):
        budgets.lowest(sizes, [1.0, 2.0, 2.5, 2.0])


def test_too_short_a_text_is_refused():
    with pytest.raises(ValueError, match="need 64 sentences, got 63"):
        budgets.trained(4, 2, budgets.ids_of(corpus(63, 0)), 0)


@pytest.mark.long
def test_the_table_has_every_run_and_its_shortest_comes_out_again():
    rows = budgets.measured()
    seeds = {row["seed"] for row in rows}
    assert {(row["seed"], row["budget"], row["d"]) for row in rows} == {
        (seed, budget, d) for seed in seeds for budget in budgets.BUDGETS for d in budgets.WIDTHS
    }
    seed, budget, d = min(seeds), min(budgets.BUDGETS), max(budgets.WIDTHS)
    text, *test = budgets.reading(seed)
    model = budgets.trained(d, budgets.steps_for(budget, d), text, seed)
    found = budgets.gap(model, *test)
    (kept,) = (r["gap"] for r in rows if (r["seed"], r["budget"], r["d"]) == (seed, budget, d))
    assert found == pytest.approx(kept, abs=0.02)
