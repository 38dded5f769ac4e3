"""Several processes train like one."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("one_of_several.py")


@pytest.fixture(scope="module")
def reports():
    """What one process reports, and what each of two does."""
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node"]
    reports = {}
    for count in ("1", "2"):
        command = [sys.executable, *launch, count, SCRIPT]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
        reports[count] = [json.loads(line) for line in done.stdout.splitlines()]
    return reports


def test_losses_and_gradients_are_those_of_one(reports):
    (one,), (first, second) = reports["1"], reports["2"]
    assert first["processes"] == second["processes"] == 2
    for name in ("loss", "grad_norm", "weights"):
        assert first[name] == second[name]
        assert first[name] == pytest.approx(one[name], rel=1e-12)


def test_accumulation_adds_to_it(reports):
    for report in (*reports["1"], *reports["2"]):
        assert report["accumulated"] == pytest.approx(report["loss"], rel=1e-12)


def test_each_draws_its_own_dropout(reports):
    first, second = reports["2"]
    assert first["drawn"] != second["drawn"]
