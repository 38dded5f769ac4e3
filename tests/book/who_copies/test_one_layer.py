"""The stored runs of one layer are what the script beside them finds."""

import math

import pytest
import torch

from book.who_copies import one_layer


def test_every_run_has_a_loss_for_each_measurement():
    runs = one_layer.measured()
    assert len({run["seed"] for run in runs}) == len(runs) == 5
    assert {len(run["losses"]) for run in runs} == {one_layer.STEPS // one_layer.EVERY}


def test_an_even_guess_counts_each_letter_once_and_each_prediction_once():
    ids = torch.tensor([[7, 7, 3, 7, 7], [1, 2, 3, 4, 1]])  # two letters, and four
    known = torch.tensor([[0, 0, 0, 1], [1, 0, 1, 0]]).bool()
    expected = (math.log(2) + 2 * math.log(4)) / 3
    assert one_layer.even_guess(ids, known) == pytest.approx(expected)


@pytest.mark.long
def test_the_first_measurement_of_a_run_is_found_again(monkeypatch):
    monkeypatch.setattr(one_layer, "STEPS", one_layer.EVERY)
    stored = one_layer.measured()[0]
    found = one_layer.run(stored["seed"])
    assert found["even"] == pytest.approx(stored["even"], abs=2e-4)  # rounded to four places
    # Another processor sums in another order, which 200 steps let grow.
    assert found["losses"] == pytest.approx(stored["losses"][:1], abs=0.005)
