"""The sandbox refuses where it cannot be had, and its limits hold."""

import stat
import subprocess
import sys

import pytest

from companion.grading import sandbox
from companion.grading.__main__ import main
from companion.grading.sandbox import NoIsolation
from tests.grading.test_grade import apart


@pytest.fixture
def nothing_tried():
    sandbox.require.cache_clear()
    yield
    sandbox.require.cache_clear()


def test_without_bubblewrap_nothing_is_graded(nothing_tried, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoIsolation, match="apt-get install bubblewrap"):
        sandbox.require()
    with pytest.raises(SystemExit) as refused:
        main(tmp_path, ["grade", "self_attention", str(tmp_path)])
    assert refused.value.code == 2
    assert "needs bubblewrap" in capsys.readouterr().err


def test_where_namespaces_are_refused_it_says_why(nothing_tried, monkeypatch, tmp_path):
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'No permissions to create a new namespace' >&2\nexit 1\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoIsolation, match=r"No permissions to create a new namespace(.|\n)*sysctl"):
        sandbox.require()


LIMITED = """
import os, resource, sys
from companion.grading.worker import limit, step_down

step_down({user})
with open("/proc/self/status") as status:
    print([line.split() for line in status if line.startswith(("Uid", "CapEff", "NoNewPrivs"))])
limit(memory=2**28, seconds=100, file=2**20, processes=64)

def outcome(attempt):
    try:
        attempt()
    except (OSError, MemoryError, ValueError) as error:
        return type(error).__name__

def write(path, size):
    with open(path, "wb") as file:
        file.write(bytes(size))

children = []
def fork():
    for _ in range(100):
        if (child := os.fork()) == 0:
            os.pause() if hasattr(os, "pause") else __import__("signal").pause()
        children.append(child)

print(outcome(lambda: bytearray(2**29)))
print(outcome(lambda: write("/tmp/large", 2**21)))
print(outcome(lambda: [write(f"/tmp/{{i}}", 2**20 - 1) for i in range(100)]))
print(outcome(lambda: write("/written", 1)), outcome(lambda: write("/dev/shm/written", 1)))
print(outcome(lambda: resource.setrlimit(resource.RLIMIT_AS, (-1, -1))))
print(outcome(fork))
"""


@apart
def test_limits_hold_for_a_user_without_rights():
    command = sandbox.bubblewrap(sys.executable, "-c", LIMITED.format(user=sandbox.NOBODY))
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    rights, *outcomes = done.stdout.splitlines()
    assert rights == str(
        [["Uid:", *4 * [str(sandbox.NOBODY)]], ["CapEff:", "0" * 16], ["NoNewPrivs:", "1"]]
    )
    assert outcomes == [
        "MemoryError",
        "OSError",  # one file is too large
        "OSError",  # all files together are too large
        "OSError OSError",  # nowhere else is anything to be written
        "ValueError",  # and limits can only be made lower
        "BlockingIOError",
    ]
