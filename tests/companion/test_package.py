"""The package from outside: its types, its names, and what the README shows of it."""

import os
import re
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path

import torch

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


def test_ordinary_programs_have_their_types(tmp_path):
    """Of torch too: the first run reads its types, in half a minute, and keeps what it has read."""
    root = Path(companion.__file__).parents[1]
    use, train = re.findall(r"```python\n(.*?)```", (root / "README.md").read_text("utf8"), re.S)
    (tmp_path / "readme.py").write_text(use + train)
    cache = Path(tempfile.gettempdir()) / "transformer-companion-mypy"
    options = ["--follow-imports", "silent", "--cache-dir", cache, "--config-file", os.devnull]
    found = subprocess.run(
        [sys.executable, "-m", "mypy", *options, tmp_path / "readme.py", root / "tests/typed.py"],
        env=os.environ | {"MYPYPATH": str(root)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0, found.stdout + found.stderr


def test_the_typed_program_runs():
    runpy.run_path(str(Path(companion.__file__).parents[1] / "tests/typed.py"))


def test_three_wrong_calls_are_found(tmp_path):
    script, root = tmp_path / "wrong.py", Path(companion.__file__).parents[1]
    script.write_text(SCRIPT)
    # Without torch's own types, which take it ten seconds to read.
    (tmp_path / "mypy.ini").write_text(
        "[mypy]\nfollow_imports = silent\n[mypy-torch.*,numpy.*]\nfollow_imports = skip\n"
    )
    options = ["--config-file", tmp_path / "mypy.ini", "--cache-dir", tmp_path / "cache"]
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
