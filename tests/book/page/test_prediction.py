"""What a prediction asks, what it says of its answer, and what it refuses."""

import ast

import nbformat
import pytest
import torch

from book._press.execute import code_of, notebooks
from book.page import prediction_figure
from tests.book.conftest import ROOT

PREDICTION = "prediction_figure"


def test_the_steps_of_a_slider_fit_its_range():
    def steps(truth, between):
        data = prediction_figure("?", truth, between=between).data
        return data["step"], data["digits"]

    assert steps(0.5, (0, 1)) == (0.01, 2)
    assert steps(97.5, (0, 100)) == (1.0, 0)
    assert steps(torch.tensor(3), (1, 40)) == (1.0, 0)
    assert steps(3.5, (1, 40)) == (0.1, 1)
    assert steps(2e4, (0, 1e6)) == (1e4, 0)


@pytest.mark.parametrize(
    ("truth", "asked"),
    [
        (12, {"between": (1, 40)}),
        ([0.1, 0.9], {"between": (0, 1), "x": ["short", "long"]}),
        ("a", {"choices": ["a", "b"]}),
    ],
)
def test_there_is_no_guess_at_the_start(truth, asked):
    start = prediction_figure("?", truth, **asked).value["prediction"]
    assert start == {"guess": None, "shown": False}


@pytest.mark.parametrize(
    ("x", "places", "along"),
    [
        ([0, 1, 4], [0, 0.25, 1], "words"),
        (torch.tensor([2.0, 3.0, 6.0]), [0, 0.25, 1], "words"),
        ([4, 16, 64, 256, 1024], [0, 0.25, 0.5, 0.75, 1], "words (log scale)"),
        ([0, 1, 1000], [0, 0.5, 1], "words (not to scale)"),
        (["row", "1", "100"], [0, 0.5, 1], "words"),
    ],
)
def test_the_points_of_a_line_stand_where_their_numbers_are(x, places, along):
    data = prediction_figure("?", [0.5] * len(x), x=x, between=(0, 1), along="words").data
    assert data["places"] == pytest.approx(places) and data["along"] == along


@pytest.mark.parametrize(
    ("x", "names"),
    [
        ([0.3, 1.0, 1.2], ["0.3", "1", "1.2"]),
        (torch.tensor([0.3, 0.7]), ["0.3", "0.7"]),
        ([1, 8192, 2_000_000], ["1", "8192", "2000000"]),
    ],
)
def test_a_number_below_the_line_is_written_as_it_was_given(x, names):
    line = prediction_figure("?", [0.5] * len(x), x=x, between=(0, 1))
    assert line.data["x"] == names


def test_an_answer_is_measured_unless_it_is_computed():
    measured = prediction_figure("?", 0.5, between=(0, 1))
    computed = prediction_figure("?", 0.5, between=(0, 1), computed=True)
    assert (measured.data["found"], computed.data["found"]) == ("measured", "computed")
    assert "measured" in measured.fallback and "computed" in computed.fallback


def test_every_line_of_the_book_says_what_is_along_it():
    lines = []
    for path in notebooks(ROOT):
        for source in code_of(nbformat.read(path, as_version=4)):
            if "prediction_figure(" not in source:
                continue
            for node in ast.walk(ast.parse(source)):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") == PREDICTION:
                    given = {keyword.arg for keyword in node.keywords}
                    lines += [(path.stem, ast.unparse(node))] if "x" in given else []
    assert len(lines) > 5
    assert [line for line in lines if " along='" not in line[1]] == []


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
