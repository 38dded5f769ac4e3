"""What the docstrings show runs as shown, and the cells that they name as their reasons exist."""

import doctest
import json
import re
import sys
from pathlib import Path

import pytest
import torch

import companion
from companion import generation, models, nn, pretrained, training

ROOT = Path(companion.__file__).parents[1]
SHOWN = [
    nn.scaled_dot_product_attention,
    nn.MultiHeadAttention,
    nn.KVCache,
    models.GPT,
    training.fit,
    generation.generate,
    generation.stream,
    pretrained.load,
    pretrained.save,
]


@pytest.mark.parametrize("shown", SHOWN, ids=lambda shown: shown.__name__)
def test_an_example_gives_what_it_shows(shown, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = shown.__module__
    names = vars(sys.modules[module]) | vars(sys.modules[module.rpartition(".")[0]])
    names["torch"] = torch
    (test,) = doctest.DocTestFinder(recurse=False).find(shown, shown.__name__, globs=names)
    assert len(test.examples) >= 3 and any(example.want for example in test.examples)
    assert doctest.DocTestRunner().run(test).failed == 0


def test_cells_that_are_named_as_reasons_measure_something():
    reasons = set()
    for path in (ROOT / "companion").rglob("*.py"):
        reasons |= set(re.findall(r"(book/\w+/\w+\.ipynb)#cell-([\w-]+)", path.read_text("utf8")))
    assert len(reasons) >= 10
    for notebook, name in reasons:
        cells = json.loads((ROOT / notebook).read_text("utf8"))["cells"]
        (source,) = ("".join(cell["source"]) for cell in cells if cell["id"] == name)
        assert "claim(" in source, f"{notebook}#{name}"
