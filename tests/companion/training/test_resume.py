"""A run that is killed and resumed ends like one that was not, bit for bit."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from companion.training import load_checkpoint

SCRIPT = Path(__file__).with_name("killed_runs.py")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    seed = os.environ.get("KILL_SEED", "0")
    subprocess.run([sys.executable, SCRIPT, folder, seed], check=True, timeout=600)
    return folder


@pytest.mark.long
@pytest.mark.parametrize("way", ["writing", "exchange", "random"])
def test_killed_runs_end_like_whole_ones(folder, way):
    whole, resumed = folder / "whole.safetensors", folder / f"{way}.safetensors"
    assert load_checkpoint(resumed) == load_checkpoint(whole)  # the whole history
    expected, tensors = load_file(whole), load_file(resumed)
    assert tensors.keys() == expected.keys()
    for name, tensor in tensors.items():
        assert torch.equal(tensor, expected[name]), name


@pytest.mark.long
def test_nothing_is_left_beside_the_checkpoints(folder):
    assert {path.suffix for path in folder.iterdir()} == {".safetensors"}
