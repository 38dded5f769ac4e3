"""The chapter's bench: its cell is run on stand-ins, and the controls are driven from Python."""

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
import torch

from book import who_copies

FOLDER = Path(who_copies.__file__).parent


def made(asked: list):
    """The bench of a model with two blocks of three heads, whose losses are 1 and 2 nats."""
    notebook = nbformat.read(FOLDER / "who_copies.ipynb", as_version=4)
    (source,) = (cell.source for cell in notebook.cells if cell.id == "bench")

    def silenced(heads, instead):
        asked.append((heads, instead))
        return nullcontext()

    names = {
        "BLOCKS": 2, "HEADS": 3, "copiers": [(1, 2), (0, 1), (0, 0)], "usual": "means",
        "read": lambda ids, first: ids, "silenced": silenced, "second_copy": lambda text: 1.0,
        "whole": 0.25, "testing": None,
        "in_english": lambda: (torch.zeros(4, 96), 0.5),
        "losses_from": lambda text, start: torch.tensor(2.0),
    }  # fmt: skip
    *lines, last = source.split("\nbench(\n")
    exec("\nbench(\n".join(lines) + "\nfound = bench(\n" + last, names)
    return SimpleNamespace(**names["found"].controls, bench=names["found"])


def test_the_heads_that_are_named_are_silenced():
    asked = []
    one = made(asked)
    assert asked == [([(1, 2), (0, 1)], None)]
    assert one.bench.said() == "Without 2 of 6 heads the loss is **1.00** nats, with them 0.25."
    one.heads.value, one.instead.value, one.text.value = "0.2", "their mean", "English"
    assert one.bench.said() == "Without 1 of 6 heads the loss is **2.00** nats, with them 0.50."
    assert asked[-1] == ([(0, 2)], "means")


@pytest.mark.parametrize("heads", ["18.6", "1", "a.b", "1.3", "-1.0"])
def test_other_heads_get_a_sentence(heads):
    asked = []
    one = made(asked)
    one.heads.value = heads
    assert "blocks 0 to 1, heads 0 to 2" in one.bench.said()
    assert len(asked) == 1
