"""The sandbox refuses where it cannot be had, and its limits hold."""

import platform
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from book._grading import privileges, sandbox
from book._grading.__main__ import main
from book._grading.sandbox import NoIsolation
from book._grading.student import sources
from tests.book.conftest import ROOT
from tests.book.grading.conftest import require_isolation

QUIETLY = {"env": sandbox.ENVIRONMENT, "capture_output": True, "text": True, "timeout": 120}
apart = pytest.mark.usefixtures("isolation")


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
    assert "needs bubblewrap and libseccomp" in capsys.readouterr().err


def test_where_namespaces_are_refused_it_says_why(nothing_tried, monkeypatch, tmp_path):
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'No permissions to create a new namespace' >&2\nexit 1\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoIsolation, match=r"No permissions to create a new namespace(.|\n)*sysctl"):
        sandbox.require()


@pytest.mark.parametrize("ci", ["", "true"])
def test_without_a_sandbox_these_tests_are_skipped_but_fail_in_ci(
    ci, nothing_tried, monkeypatch, tmp_path
):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CI", ci)
    fails, skips = pytest.fail.Exception, pytest.skip.Exception
    with pytest.raises((fails, skips), match="apt-get install bubblewrap") as outcome:
        require_isolation()
    assert outcome.type is (fails if ci else skips)


READING = """
import sys
from pathlib import Path

import book.self_attention.checks
import companion
from book._grading.privileges import give_up

give_up()
for path in map(Path, sys.argv[1:]):
    try:
        print("read", path, len(path.read_bytes()))
    except FileNotFoundError:
        pass
for package in (book, companion):
    print("there", *(x for x in Path(*package.__path__).rglob("*") if "ipynb" in x.name))
"""


@pytest.mark.long
@apart
def test_a_submission_reads_no_solutions():
    solutions = sources(ROOT).values()
    assert all(path.is_file() for path in solutions)
    command = sandbox.bubblewrap(sys.executable, "-c", READING, *map(str, solutions))
    done = subprocess.run(command, **QUIETLY)
    assert done.stdout == "there\nthere\n", done.stderr


def test_what_an_editor_leaves_beside_the_solutions_is_kept_back(tmp_path):
    shown = ["one/checks.py", "one/quiz.toml", "one/figures/word.py", "two/checks.py"]
    kept = ["one/one_solutions.ipynb", "one/.ipynb_checkpoints/one_solutions-checkpoint.ipynb"]
    kept += ["one/one.ipynb", "one/.~one_solutions.ipynb", "one/figures/one_solutions.html"]
    for name in (*shown, *kept):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    parts = {path.relative_to(tmp_path).as_posix() for path in sandbox._shown(tmp_path)}
    assert parts == {*shown[:3], "two"}  # a folder without any goes in as it is


LIMITED = """
import os, resource, sys
from book._grading.privileges import give_up, limit

give_up()
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
print(outcome(lambda: [write(f"/tmp/{i}", 2**20 - 1) for i in range(100)]))
print(outcome(lambda: write("/written", 1)), outcome(lambda: write("/dev/shm/written", 1)))
print(outcome(lambda: resource.setrlimit(resource.RLIMIT_AS, (-1, -1))))
print(outcome(fork))
"""


@apart
def test_limits_hold_for_a_user_without_rights():
    command = sandbox.bubblewrap(sys.executable, "-c", LIMITED)
    done = subprocess.run(command, **QUIETLY)
    assert done.returncode == 0, done.stderr
    rights, *outcomes = done.stdout.splitlines()
    assert rights == str(
        [["Uid:", *4 * [str(privileges.NOBODY)]], ["CapEff:", "0" * 16], ["NoNewPrivs:", "1"]]
    )
    assert outcomes == [
        "MemoryError",
        "OSError",  # one file is too large
        "OSError",  # all files together are too large
        "OSError OSError",  # nowhere else is anything to be written
        "ValueError",  # and limits can only be made lower
        "BlockingIOError",
    ]


KERNEL = """
import ctypes, os, sys, threading
from book._grading.privileges import give_up

give_up()
libc = ctypes.CDLL(None, use_errno=True)

def outcome(result):
    return "done" if result >= 0 else os.strerror(ctypes.get_errno())

print("memory", outcome(libc.memfd_create(b"", 0)), outcome(libc.shmget(0, 4096, 0o1666)))
print("namespace", outcome(libc.unshare(0x10020000)), outcome(libc.syscall({clone}, 0x10000000)))
print("clone3", outcome(libc.syscall({clone3}, 0, 0)))
threads = [threading.Thread(target=print, args=["a thread"])]
[thread.start() or thread.join() for thread in threads]
print("a process", os.system("true"))
"""


@apart
def test_memory_that_no_limit_counts_is_refused():
    import pyseccomp as seccomp  # where there is libseccomp

    numbers = {x: seccomp.resolve_syscall(seccomp.Arch.NATIVE, x) for x in ("clone", "clone3")}
    script = KERNEL.format(**numbers)
    command = sandbox.bubblewrap(sys.executable, "-c", script)
    done = subprocess.run(command, **QUIETLY)
    assert done.stdout.splitlines() == [
        "memory Operation not permitted Operation not permitted",
        "namespace Operation not permitted Operation not permitted",
        "clone3 Function not implemented",
        "a thread",
        "a process 0",
    ], done.stderr


@apart
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the numbers are those of x32")
def test_calls_in_another_machines_numbers_are_refused():
    script = KERNEL.partition("print")[0] + "print(outcome(libc.syscall(0x40000000 + 39)))"
    done = subprocess.run(sandbox.bubblewrap(sys.executable, "-c", script), **QUIETLY)
    assert done.stdout == "Operation not permitted\n", done.stderr


FULL = """
import mmap, os
taken = mmap.mmap(-1, 2**28)  # in memory only what has been written
for i in range(0, 2**28, 4096):
    taken[i] = os.write(1, b"x")
while True:
    os.write(1, b"x")
"""
ENDLESS = "import os\nwhile True: os.write(1, b'x' * 10_000)"


@apart
@pytest.mark.parametrize(
    ("script", "why"),
    [
        (FULL, "it took too much memory"),  # which is looked at while it keeps sending
        (ENDLESS, "it sent too much"),  # a line without an end
        ("import os\nos._exit(0)", "its process has ended"),  # without a word
    ],
)
def test_what_a_process_does_instead_of_a_line_costs_it(script, why, monkeypatch):
    sandbox.require()
    command = sandbox.bubblewrap(sys.executable, "-c", script)
    monkeypatch.setattr(sandbox, "bubblewrap", lambda *_: command)
    monkeypatch.setattr(sandbox, "LONGEST_LINE", 2**20)
    with (
        closing(sandbox.Sandbox([], sandbox.Limits(memory=2**26))) as process,
        pytest.raises(sandbox.Lost, match=why),
    ):
        process.line(60)


@apart
def test_the_instructors_environment_stays_outside(monkeypatch):
    monkeypatch.setenv("COMPANION_SECRET", "hidden")
    with closing(sandbox.Sandbox([], sandbox.Limits())) as process:
        seen = Path(f"/proc/{process.process.pid}/environ").read_bytes()
    assert b"hidden" not in seen


@apart
def test_a_sandbox_that_is_closed_at_once_leaves_no_process():
    started = []
    for _ in range(5):
        with closing(sandbox.Sandbox([], sandbox.Limits())) as process:
            started.append(process.process.pid)
    left = [p for p in psutil.process_iter() if started[0] <= p.pid <= started[-1] + 20]
    _, alive = psutil.wait_procs([p for p in left if p.name() == "bwrap"], timeout=5)
    # Another process of the tests may have begun one of its own meanwhile.
    ours = {psutil.Process(), *psutil.Process().parents()}
    assert not [p for p in alive if {*p.parents()} <= ours]
