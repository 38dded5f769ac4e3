"""Each kind of line at its own rate: the table has what its script chooses."""

import pytest

from book.thinking_on_paper import rates


def test_every_kind_of_line_has_the_rate_that_was_best_for_it():
    found = rates.stored()
    assert [(row["steps"], row["line"]) for row in found] == [
        (steps, name) for steps in rates.STEPS for name in rates.LINES
    ]
    for row in found:
        assert [float(rate) for rate in row["tried"]] == list(rates.RATES)
        assert row["tried"][str(row["rate"])] == max(row["tried"].values())
        assert len(row["right"]) == len(rates.SEEDS)


@pytest.mark.long
def test_a_stored_run_is_found_again():
    # Another processor rounds otherwise, and is as another seed.
    row = rates.stored()[2]
    assert row["line"] == "carries" and row["steps"] == 200
    assert rates.right("carries", 200, 701, row["rate"]) == pytest.approx(row["right"][0], abs=0.3)
