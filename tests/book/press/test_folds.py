"""What the book calls folded code."""

import pytest

from book._press.folds import with_names


def named(source, *outputs, tags=("hide-input",), **metadata):
    cell = {"source": source, "outputs": list(outputs), "metadata": {"tags": [*tags], **metadata}}
    with_names([cell])
    return cell["metadata"].get("mystnb", {}).get("code_prompt_show")


def data(kind, text):
    return {"output_type": "display_data", "data": {kind: text}}


@pytest.mark.parametrize(
    ("name", "outputs"),
    [
        ("figure", [data("text/html", '<div class="companion-live" data-figure="word">')]),
        ("question", [data("text/html", '<div data-figure="prediction">')]),
        ("plot", [data("text/html", '<img class="companion-figure">')]),
        ("plot", [data("image/svg+xml", "<svg>")]),
        ("table", [data("text/markdown", ["| a | b |\n", "| :-- | --: |\n", "| 1 | 2 |"])]),
        ("plot", [data("text/markdown", "| :-- |"), data("image/png", "")]),
    ],
)
def test_a_fold_is_called_by_what_it_shows(name, outputs):
    assert named("x = 1", *outputs) == f"The code of this {name}"


def test_printed_lines_and_shown_code_are_told_apart():
    assert named("x = 1", {"output_type": "stream", "text": "1"}) == "The code of these lines"
    assert named("x", data("text/markdown", "```python\nx\n```")) == "Where this code comes from"


def test_a_fold_that_shows_nothing_is_called_by_what_it_defines():
    assert named("N = 3\ndef f():\n    y = 1\n\nclass G:\n    pass") == "The code of f() and G()"
    assert named("a = 1\nb, c = a, 2") == "Where b and c come from"
    assert named("_, c = 1, 2") == "Where c comes from"
    assert named("from book.page import setup; seed, device = setup(seed=0)") == "Set-up"


def test_a_fold_about_which_nothing_is_known_keeps_the_common_name():
    assert named("import torch") is None
    assert named("%matplotlib inline") is None


def test_open_code_has_no_name_and_a_name_that_is_there_stays():
    assert named("x = 1", tags=()) is None
    kept = {"code_prompt_show": "How this was measured"}
    assert named("x = 1", mystnb=kept) == "How this was measured"
