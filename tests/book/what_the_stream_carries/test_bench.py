"""The chapter's bench: its cell is run on stand-ins, and the controls are driven from Python."""

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import nbformat
import torch

from book import what_the_stream_carries

FOLDER = Path(what_the_stream_carries.__file__).parent


def made(pushes: list):
    """The bench of two tasks, each with two nouns of which one obeys."""
    notebook = nbformat.read(FOLDER / "what_the_stream_carries.ipynb", as_version=4)
    (source,) = (cell.source for cell in notebook.cells if cell.id == "bench")

    def pushed(place, vector):
        pushes.append((place, vector))
        return nullcontext()

    def chances(frame, nouns, words):
        return torch.tensor([[0.5, 0.25], [0.125, 0.5]])

    names = {
        "TASKS": {"number": ("the {}", "fox", [], ["is", "are"]), "gender": ("{}", "", [], "ab")},
        "PLACES": {"input": "in", "block 1": "one"}, "pushed": pushed, "chances": chances,
        "vectors": {("number", "input"): 10, ("gender", "block 1"): 100},
        "asked": {"number": ["fox", "cat"], "gender": ["king", "duke"]},
    }  # fmt: skip
    *lines, last = source.split("\nbench(\n")
    exec("\nbench(\n".join(lines) + "\nfound = bench(\n" + last, names)
    return SimpleNamespace(**names["found"].controls, bench=names["found"])


def test_the_vector_is_pushed_as_the_controls_say():
    pushes = []
    one = made(pushes)
    assert pushes == [("in", 10)]
    said = one.bench.said()
    assert said.startswith("With 1 times this vector, 1 of 2 nouns obey.")
    assert "**69%** of the probability" in said
    one.what.value, one.place.value, one.times.value = "gender", "block 1", -0.5
    one.bench.said()
    assert pushes[-1] == ("one", -50)
