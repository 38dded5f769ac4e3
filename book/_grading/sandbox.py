"""Where a submission runs: another user, no network, nothing to see, nothing to write, limits.

bubblewrap builds the sandbox from namespaces of the Linux kernel. Into it go, to be read only, the
system's programs and libraries, the Python environment and the packages `companion` and `book`, the
latter without its notebooks, as a wheel has it; neither the repository, nor another submission, nor
a home. What is written goes into a small memory disk.
"""

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from ctypes.util import find_library
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import psutil

import book
import companion
from book._grading.privileges import NOBODY

DISK = 64 * 2**20  # bytes that may be written in all
LOOK_EVERY = 0.25  # seconds between two looks at the memory
LONGEST_LINE = 32 * 2**20  # bytes
WORKER = """
import gc
gc.disable()  # looking for garbage among what is only being imported takes a third of the time
from book._grading import privileges
privileges.give_up()
from book._grading import worker  # with no rights, and no thread from before
worker.main()
"""
PACKAGES = [Path(package.__file__).parent for package in (companion, book)]
KEPT_BACK = ("ipynb", "solutions")  # in a name: notebooks, their checkpoints, exports of them
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/tmp",
    "USER": "nobody",
    "LANG": "C.UTF-8",
    "PYTHONPATH": os.pathsep.join(dict.fromkeys(str(path.parent) for path in PACKAGES)),
    "PYTHONDONTWRITEBYTECODE": "1",
    "OMP_NUM_THREADS": "1",
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
}


class NoIsolation(RuntimeError):
    """Submissions cannot be run apart on this machine."""


class Lost(Exception):
    """The submission's process cannot go on."""


class LimitExceeded(Lost):
    """It has taken too much."""


@dataclass(frozen=True)
class Limits:
    """What a submission may take: seconds, bytes, numbers."""

    cell: float = 60.0
    total: float = 300.0
    start: float = 120.0  # until Python and torch are there
    memory: int = 2 * 2**30  # beyond what the libraries take
    file: int = 16 * 2**20
    processes: int = 64  # and threads


def bubblewrap(*command: str) -> list[str]:
    """The command that runs another one in the sandbox, to be started in `ENVIRONMENT`."""
    program = shutil.which("bwrap")
    if program is None or find_library("seccomp") is None:
        raise NoIsolation(
            "grading runs submissions in a sandbox, for which it needs bubblewrap and libseccomp: "
            "apt-get install bubblewrap libseccomp2. Where there is no Linux use a virtual machine."
        )
    words = [program, "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    words += ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
    words += ["--unshare-cgroup-try", "--hostname", "sandbox"]
    if os.getuid() == 0:  # the process becomes nobody itself, and has no other right than this
        words += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        words += ["--unshare-user", "--uid", str(NOBODY), "--gid", str(NOBODY)]
    for path in (Path("/", name) for name in ("bin", "lib", "lib32", "lib64", "sbin", "usr")):
        if path.is_symlink():
            words += ["--symlink", os.readlink(path), str(path)]
        elif path.is_dir():
            words += ["--ro-bind", str(path), str(path)]
    words += ["--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"]
    words += ["--perms", "1777", "--size", str(DISK), "--tmpfs", "/tmp", "--chdir", "/tmp"]
    for path in (Path(sys.base_prefix), Path(sys.prefix)):
        if not path.is_relative_to("/usr"):
            words += [*_folders(path.parents), "--ro-bind", str(path), str(path)]
    for package in PACKAGES:
        words += [*_folders(package.parents), "--perms", "0755", "--tmpfs", str(package)]
        shown = [*_shown(package)]
        words += _folders({x for path in shown for x in path.parents if package in x.parents})
        for path in shown:  # one may be gone already, such as what an editor keeps for a moment
            words += ["--ro-bind-try", str(path), str(path)]
        words += ["--remount-ro", str(package)]
    words += ["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev", "--remount-ro", "/"]
    return [*words, *command]


def _folders(paths: Iterable[Path]) -> list[str]:
    """bubblewrap's words for folders that all may look into, where there are none yet."""
    return [word for x in sorted(paths) for word in ("--perms", "0755", "--dir", str(x))]


def _shown(folder: Path) -> Iterator[Path]:
    """What a submission may see of a folder: all of it, or its parts without what is kept back."""
    if not any(map(_is_kept_back, folder.rglob("*"))):
        yield folder
        return
    for path in folder.iterdir():
        if path.is_dir():
            yield from _shown(path)
        elif not _is_kept_back(path):
            yield path


def _is_kept_back(path: Path) -> bool:
    return any(word in path.name for word in KEPT_BACK)


@cache
def require() -> None:
    """Do nothing where submissions can be run apart, else say why not: `NoIsolation`."""
    tried = subprocess.run(
        bubblewrap("/bin/true"), env=ENVIRONMENT, capture_output=True, text=True, timeout=60
    )
    if tried.returncode:
        raise NoIsolation(
            f"bubblewrap cannot build a sandbox here: {tried.stderr.strip()}\n"
            "Grade as root, or allow user namespaces: sysctl kernel.unprivileged_userns_clone=1, "
            "on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0, too. In a container that "
            "forbids both, use a virtual machine. Without a sandbox nothing is graded."
        )


class Sandbox:
    """A process that runs a submission's cells within limits, and what it writes about them."""

    def __init__(self, sources: list[str], limits: Limits) -> None:
        require()
        self.limits, self.read = limits, b""
        self.looked = time.monotonic()  # at its memory
        numbers = [limits.memory, int(limits.total) + 1, limits.file, limits.processes]
        self.process = subprocess.Popen(
            bubblewrap(sys.executable, "-c", WORKER, json.dumps(numbers)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            env=ENVIRONMENT,
            start_new_session=True,
        )
        with suppress(BrokenPipeError), self.process.stdin as pipe:
            pipe.write(json.dumps(sources).encode())

    def line(self, seconds: float) -> bytes:
        """The next line that it writes; `Lost` if it has ended, taken too long or too much."""
        deadline = time.monotonic() + seconds
        while b"\n" not in self.read:
            now = time.monotonic()
            if now >= deadline:
                raise LimitExceeded("it took too long")
            if now >= self.looked + LOOK_EVERY:  # also while it keeps on sending
                self.looked = now
                if _memory_of(self.process.pid) > 2 * self.limits.memory:
                    raise LimitExceeded("it took too much memory")
            if len(self.read) > LONGEST_LINE:
                raise LimitExceeded("it sent too much")
            if any(select.select([self.process.stdout], [], [], min(deadline - now, LOOK_EVERY))):
                more = os.read(self.process.stdout.fileno(), 2**20)
                if not more:
                    raise Lost("its process has ended")
                self.read += more
        line, _, self.read = self.read.partition(b"\n")
        return line

    def close(self) -> None:
        """Kill the process and all that it has started."""
        os.killpg(self.process.pid, signal.SIGKILL)  # with bubblewrap the kernel kills the rest
        self.process.wait()
        self.process.stdout.close()


def _memory_of(process: int) -> int:
    """The bytes that a process and all its children have in memory."""
    with suppress(psutil.NoSuchProcess):
        parent = psutil.Process(process)
        return sum(x.memory_info().rss for x in [parent, *parent.children(recursive=True)])
    return 0
