"""What a prediction asks, and what it refuses."""

import pytest
import torch

from book.page import prediction_figure


def test_the_steps_of_a_slider_fit_its_range():
    def steps(truth, between):
        data = prediction_figure("?", truth, between=between).data
        return data["step"], data["digits"]

    assert steps(0.5, (0, 1)) == (0.01, 2)
    assert steps(97.5, (0, 100)) == (1.0, 0)
    assert steps(torch.tensor(3), (1, 40)) == (1.0, 0)
    assert steps(3.5, (1, 40)) == (0.1, 1)
    assert steps(2e4, (0, 1e6)) == (1e4, 0)


def test_a_guess_starts_in_the_middle_and_on_a_step():
    start = prediction_figure("?", 12, between=(1, 40)).value["prediction"]
    assert start == {"guess": 21, "shown": False}
    line = prediction_figure("?", [0.1, 0.9], between=(0, 1), x=["short", "long"])
    assert line.value["prediction"]["guess"] == [0.5, 0.5] and line.data["x"] == ["short", "long"]
    assert prediction_figure("?", "a", choices=["a", "b"]).value["prediction"]["guess"] is None


@pytest.mark.parametrize(
    ("truth", "options", "message"),
    [
        (1.5, {"between": (0, 1)}, r"truth 1\.5 must lie between 0 and 1"),
        (0.5, {}, r"needs between=\(low, high\), or choices"),
        ("c", {"choices": ["a", "b"]}, "truth 'c' must be one of two or more"),
        ("a", {"choices": ["a", "a"]}, "two or more different choices"),
        ("a", {"choices": ["a", "b"], "between": (0, 1)}, "neither between nor x"),
        ([0.1, 0.2], {"between": (0, 1)}, "a slider has one truth"),
        ([0.1, 0.2], {"between": (0, 1), "x": [1, 2, 3]}, "a line over 3 x needs as many truths"),
    ],
)
def test_what_cannot_be_guessed_is_refused(truth, options, message):
    with pytest.raises(ValueError, match=message):
        prediction_figure("?", truth, **options)
