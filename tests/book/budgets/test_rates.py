"""The committed table of schedules that are cut short, and of rates of the matrices alone."""

import pytest

from book import sizes
from book.budgets import budgets, rates


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
    model = sizes.trained(d, rates.STEPS, text, seed, peak=0.04, matrices=matrices)
    (kept,) = (
        row["gap"]
        for row in rows
        if (row["seed"], row["d"], row.get("matrices"), row.get("peak"))
        == (seed, d, matrices, 0.04)
    )
    assert sizes.gap(model, *test) == pytest.approx(kept, abs=0.02)
