"""The reader's own model as a recipe: in any size, judged by what it never reads."""

import json
import math

import pytest
import torch
from safetensors.torch import load_file

from book.own_language_model.__main__ import own
from companion.train.__main__ import main

TINY = ["own", "--device", "cpu", "--steps", "4", "--checkpoint-every", "2", "--width", "32"]


def train(*arguments):
    main([*TINY, *arguments], recipes={"own": own}, program="own")


@pytest.mark.long
def test_it_is_trained_in_the_size_that_was_asked_for(capsys, tmp_path):
    out = ["--out", str(tmp_path / "run")]
    train("--depth", "1", *out)
    weights = load_file(tmp_path / "run" / "checkpoint.safetensors")
    assert any(weight.shape == (96, 32) for weight in weights.values())  # queries, keys, values
    last = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()[-1]
    told = json.loads(last)["evaluation"]
    assert told["nats_from_the_best"] > 0 and len(told["samples"]) == 5
    train("--depth", "1", *out, "--resume")  # nothing is left to do
    with pytest.raises(SystemExit):
        train("--depth", "2", *out, "--resume")
    assert "'depth': 1" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        train("--dropout", "0.1", "--out", str(tmp_path / "elsewhere"))
    assert "own has no --dropout" in capsys.readouterr().err


@pytest.mark.long
def test_it_comes_in_any_size():
    small, large = own(30, 0).model, own(30, 0, width=96, depth=3).model
    assert (len(small.blocks), small.embedding.weight.shape[1]) == (2, 64)
    assert (len(large.blocks), large.embedding.weight.shape[1]) == (3, 96)
    with pytest.raises(ValueError, match="multiple of 16"):
        own(30, 0, width=40)


def test_it_never_reads_what_it_is_judged_by():
    recipe = own(30, 0)
    first, again, other = (recipe.batches(step) for step in (1, 1, 2))
    assert torch.equal(first, again)
    assert first.shape != other.shape or not torch.equal(first, other)
    told = recipe.evaluate(recipe.model.eval())
    even = math.log(len(recipe.model.embedding.weight))
    assert told["validation_loss"] == pytest.approx(even, abs=0.3)
    assert 30 < told["nats_from_the_best"] < 60  # about 8.7 tokens, 5 nats each above the entropy
