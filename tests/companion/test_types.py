"""The package is typed: a checker finds wrong calls before anything runs."""

import os
import subprocess
import sys
from pathlib import Path

import companion
from companion import GPT, KVCache, models, nn

SCRIPT = """
import torch
from companion.generation import generate
from companion.models import GPT, GPTConfig
from companion.training import fit, next_token_loss

config = GPTConfig(vocab_size="11", d_model=8, num_layers=1, num_heads=2, d_ff=8, max_len=8)
fit(GPT(config), 3, steps=1, loss=next_token_loss(0), learning_rate=0.1)
generate(GPT(config), torch.ones(1, 1), "x")
"""


def test_three_wrong_calls_are_found(tmp_path):
    script, root = tmp_path / "wrong.py", Path(companion.__file__).parents[1]
    script.write_text(SCRIPT)
    options = ["--follow-imports=silent", "--cache-dir", str(tmp_path / "cache")]
    found = subprocess.run(
        [sys.executable, "-m", "mypy", *options, script],
        env=os.environ | {"MYPYPATH": str(root)},
        capture_output=True,
        text=True,
    )
    errors = [line for line in found.stdout.splitlines() if "error:" in line]
    assert [line.split(":")[1] for line in errors] == ["7", "8", "9"], found.stdout + found.stderr
    for error, name in zip(errors, ("vocab_size", '"fit"', '"generate"'), strict=True):
        assert name in error


def test_models_and_layers_are_in_the_package_itself():
    assert (GPT, KVCache) == (models.GPT, nn.KVCache)
