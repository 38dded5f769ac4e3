"""Schedules that are cut short, rates of the matrices alone, and their committed table."""

import pytest
import torch

from book.scaling import budgets, rates
from companion.data import corpus


def test_a_schedule_planned_for_longer_is_stopped_on_its_way():
    text = budgets.ids_of(corpus(6 * budgets.BATCH, 0))
    whole = budgets.trained(4, 6, text, 0).state_dict()
    same = budgets.trained(4, 6, text, 0, planned=6).state_dict()
    torch.testing.assert_close(same, whole, rtol=0, atol=0)
    cut = budgets.trained(4, 6, text, 0, planned=18)
    # its warm-up is longer than the other's whole schedule is high
    assert not torch.allclose(cut.embedding.weight, whole["embedding.weight"], atol=1e-3)


def test_the_rate_of_the_matrices_is_theirs_alone():
    text = budgets.ids_of(corpus(2 * budgets.BATCH, 0))
    torch.manual_seed(3)
    start = budgets.model_of(4)
    moved = budgets.trained(4, 2, text, 3, matrices=0.0)
    for (name, old), new in zip(start.named_parameters(), moved.parameters(), strict=True):
        inside = name.startswith("blocks") and old.dim() == 2
        assert torch.equal(old, new) == inside, name


@pytest.mark.long
def test_the_table_has_every_run_and_its_shortest_comes_out_again():
    rows = rates.measured()
    seeds = {row["seed"] for row in rows}
    found = {(row["seed"], row["d"], row["cut"]) for row in rows if "cut" in row}
    assert found == {(s, d, cut) for s in seeds for d in rates.SIZES for cut in (False, True)}
    found = {(row["seed"], row["d"], row["matrices"], row["peak"]) for row in rows if "peak" in row}
    assert found == {(s, *way, peak) for s in seeds for way in rates.WAYS for peak in rates.PEAKS}
    seed, (d, matrices) = min(seeds), rates.WAYS[-1]
    text, *test = budgets.reading(seed)
    model = budgets.trained(d, rates.STEPS, text, seed, peak=0.04, matrices=matrices)
    (kept,) = (
        row["gap"]
        for row in rows
        if (row["seed"], row["d"], row.get("matrices"), row.get("peak"))
        == (seed, d, matrices, 0.04)
    )
    assert budgets.gap(model, *test) == pytest.approx(kept, abs=0.02)
