"""The package from outside: its types, its names, and what the README shows of it."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import companion
from companion import GPT, KVCache, models, nn

WRONG = """
import torch
from companion.generation import generate
from companion.models import GPT, GPTConfig
from companion.training import fit, next_token_loss

config = GPTConfig(vocab_size="11", d_model=8, num_layers=1, num_heads=2, d_ff=8, max_len=8)
fit(GPT(config), 3, steps=1, loss=next_token_loss(0), learning_rate=0.1)
generate(GPT(config), torch.ones(1, 1), "x")
"""


@pytest.mark.long
def test_a_type_checker_finds_wrong_calls_and_nothing_in_ordinary_programs(tmp_path):
    root = Path(companion.__file__).parents[1]
    use, train = re.findall(r"```python\n(.*?)```", (root / "README.md").read_text("utf8"), re.S)
    (tmp_path / "readme.py").write_text(use + train)
    (tmp_path / "wrong.py").write_text(WRONG)
    (tmp_path / "mypy.ini").write_text(
        "[mypy]\nfollow_imports = skip\n"  # reading all that torch imports takes minutes
        "[mypy-companion.*,torch,torch._tensor,torch.nn.*,torch.optim.*]\nfollow_imports = silent\n"
    )
    options = ["--config-file", "mypy.ini", "--cache-dir", "cache"]
    found = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "readme.py", root / "tests/typed.py", "wrong.py"],
        env=os.environ | {"MYPYPATH": str(root)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    errors = [line for line in found.stdout.splitlines() if "error:" in line]
    places = [error.split(" ")[0] for error in errors]
    assert places == [f"wrong.py:{line}:" for line in (7, 8, 9)], found.stdout + found.stderr
    for error, name in zip(errors, ("vocab_size", '"fit"', '"generate"'), strict=True):
        assert name in error


def test_the_typed_program_runs():
    runpy.run_path(str(Path(companion.__file__).parents[1] / "tests/typed.py"))


def test_the_readme_does_what_it_shows(tmp_path, monkeypatch):
    root = Path(companion.__file__).parents[1]
    text = (root / "README.md").read_text("utf8")
    use, train = re.findall(r"```python\n(.*?)```", text, re.S)
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(use, names)  # the lines of our own README
    model, ids = names["model"], torch.randint(50, (3, 11))
    torch.testing.assert_close(names["exported"].module()(ids), model(ids))
    torch.testing.assert_close(names["same"](ids), model(ids))
    if hasattr(torch.optim, "Muon"):  # came with torch 2.9
        exec(train, names)
        loss = names["history"].loss
        assert loss[-1] < loss[0] - 1 and len(loss) == 20


def test_models_and_layers_are_in_the_package_itself():
    assert (GPT, KVCache) == (models.GPT, nn.KVCache)
