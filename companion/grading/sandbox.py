"""Where a submission runs: another user, no network, nothing to see, nothing to write, limits.

bubblewrap builds the sandbox from namespaces of the Linux kernel. Into it go, to be read only, the
system's programs and libraries, the Python environment and the package `companion`; neither the
repository, nor another submission, nor a home. What is written goes into a small memory disk.
"""

import json
import os
import platform
import select
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Self

import psutil

import companion
from companion.grading import worker

NOBODY = 65534
DISK = 64 * 2**20  # bytes that may be written in all
LOOK_EVERY = 0.25  # seconds between two looks at the memory
SYSTEM = ("bin", "lib", "lib32", "lib64", "sbin", "usr")


class NoIsolation(RuntimeError):
    """Submissions cannot be run apart on this machine."""


class Lost(Exception):
    """The submission's process has ended, or was ended."""


class LimitExceeded(Lost):
    """It was ended because it took too much."""


@dataclass(frozen=True)
class Limits:
    """What a submission may take.

    Args:
        cell: seconds for one cell, or for one check.
        total: seconds for the whole submission.
        start: seconds until Python and torch are there.
        memory: bytes beyond what the libraries take.
        file: bytes of one file.
        processes: processes and threads.
    """

    cell: float = 60.0
    total: float = 300.0
    start: float = 120.0
    memory: int = 2 * 2**30
    file: int = 16 * 2**20
    processes: int = 64


def bubblewrap(*command: str) -> list[str]:
    """The command that runs another one in the sandbox."""
    program = shutil.which("bwrap")
    if program is None:
        raise NoIsolation(
            "grading runs submissions in a sandbox, for which it needs bubblewrap (bwrap): "
            "apt-get install bubblewrap. It exists for Linux only; elsewhere use a virtual machine."
        )
    words = [program, "--die-with-parent", "--new-session", "--clearenv"]
    words += ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
    words += ["--unshare-cgroup-try", "--hostname", "sandbox", "--cap-drop", "ALL"]
    if os.getuid() == 0:  # the process becomes nobody itself, and has no other right than this
        words += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        words += ["--unshare-user", "--uid", str(NOBODY), "--gid", str(NOBODY)]
    for name in SYSTEM:
        path = Path("/", name)
        if path.is_symlink():
            words += ["--symlink", os.readlink(path), str(path)]
        elif path.is_dir():
            words += ["--ro-bind", str(path), str(path)]
    words += ["--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"]
    words += ["--perms", "1777", "--size", str(DISK), "--tmpfs", "/tmp", "--chdir", "/tmp"]
    package = Path(companion.__file__).parent
    for path in dict.fromkeys([Path(sys.base_prefix), Path(sys.prefix), package]):
        if not path.is_relative_to("/usr"):
            for above in reversed(path.parents[:-1]):
                words += ["--perms", "0755", "--dir", str(above)]
            words += ["--ro-bind", str(path), str(path)]
    words += ["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"]
    for name, value in {
        "PATH": "/usr/bin:/bin",
        "HOME": "/tmp",
        "USER": "nobody",
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(package.parent),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": "1",
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "IPYTHONDIR": "/tmp/.ipython",
    }.items():
        words += ["--setenv", name, value]
    return [*words, "--remount-ro", "/", *command]


@cache
def require() -> None:
    """Do nothing where submissions can be run apart.

    Raises:
        NoIsolation: they cannot; with the reason and what to do.
    """
    if platform.machine() not in worker.MACHINES:
        raise NoIsolation(
            f"grading needs a processor of {' or '.join(worker.MACHINES)}, whose system calls it "
            f"knows; this is {platform.machine()}. Use a virtual machine."
        )
    tried = subprocess.run(bubblewrap("/bin/true"), capture_output=True, text=True, timeout=60)
    if tried.returncode:
        raise NoIsolation(
            f"bubblewrap cannot build a sandbox here: {tried.stderr.strip()}\n"
            "Grade as root, or allow user namespaces: sysctl kernel.unprivileged_userns_clone=1, "
            "on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0, too. In a container that "
            "forbids both, use a virtual machine. Without a sandbox nothing is graded."
        )


class Sandbox:
    """The process of one submission.

    Args:
        limits: what it may take.

    Raises:
        NoIsolation: there is no sandbox to be had.
    """

    def __init__(self, limits: Limits) -> None:
        require()
        self.limits = limits
        self.deadline = time.monotonic() + limits.start
        self.ended = ""
        self.looked = time.monotonic()  # at its memory
        options = {
            "user": NOBODY,
            "memory": limits.memory,
            "seconds": int(limits.total) + 1,
            "file": limits.file,
            "processes": limits.processes,
        }
        command = [sys.executable, "-m", "companion.grading.worker", json.dumps(options)]
        self.process = subprocess.Popen(
            bubblewrap(*command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            env={},  # a process in there may be able to read that of bubblewrap
        )
        for pipe in (self.process.stdin, self.process.stdout):
            os.set_blocking(pipe.fileno(), False)

    def send(self, data: bytes) -> None:
        """Write to the submission's process.

        Raises:
            Lost: it is not there any more, or has taken too much.
        """
        rest = memoryview(data)
        while rest:
            self._wait(writing=True)
            try:
                rest = rest[os.write(self.process.stdin.fileno(), rest) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                self.end("its process has ended")

    def read(self, size: int) -> bytes:
        """The next `size` bytes from it.

        Raises:
            Lost: it is not there any more, or has taken too much.
        """
        data = bytearray()
        while len(data) < size:
            self._wait(writing=False)
            try:
                more = os.read(self.process.stdout.fileno(), min(size - len(data), 2**20))
            except BlockingIOError:
                continue
            if not more:
                self.end("its process has ended")
            data += more
        return bytes(data)

    def _wait(self, *, writing: bool) -> None:
        """Return when the pipe is ready; end the process when it has taken too much."""
        if self.ended:
            raise Lost(self.ended)
        streams = ([], [self.process.stdin]) if writing else ([self.process.stdout], [])
        while True:
            now = time.monotonic()
            if now >= self.deadline:
                self.end("it took too long", LimitExceeded)
            if now >= self.looked + LOOK_EVERY:  # also while it keeps on sending
                self.looked = now
                if _memory_of(self.process.pid) > 2 * self.limits.memory:
                    self.end("it took too much memory", LimitExceeded)
            if any(select.select(*streams, [], min(self.deadline - now, LOOK_EVERY))):
                return

    def end(self, why: str, kind: type[Lost] = Lost) -> None:
        """Kill the process and all that it has started.

        Raises:
            Lost: always, with the reason.
        """
        self.ended = self.ended or why
        self.close()
        raise kind(self.ended)

    def close(self) -> None:
        """Kill the process and all that it has started; without effect the second time."""
        self.ended = self.ended or "it was closed"
        self.process.kill()  # bubblewrap's first process; the kernel kills the rest with it
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_) -> None:
        self.close()


def _memory_of(process: int) -> int:
    """The bytes that a process and all its children have in memory."""
    total = 0
    try:
        parent = psutil.Process(process)
        for part in [parent, *parent.children(recursive=True)]:
            total += part.memory_info().rss
    except psutil.NoSuchProcess:
        pass
    return total
