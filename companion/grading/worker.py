"""The submission's side of the border: runs inside the sandbox, as a user who may do nothing.

Learners' code shares this process and may do to it what it likes, so nothing that is decided here
counts: it runs cells, and answers what the grader asks about the objects that they made.
"""

import json
import os
import resource
import sys
from contextlib import ExitStack


def step_down(user: int) -> None:
    """Become an unprivileged user, for good."""
    if os.getuid() == 0:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)


def private_pipes() -> tuple[int, int]:
    """The grader's pipes under other numbers; what the process prints itself goes nowhere."""
    pipes = os.dup(0), os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    return pipes


def limit(memory: int, seconds: int, file: int, processes: int) -> None:
    """Limits that hold from now on; memory counts on top of what the libraries have taken."""
    with open("/proc/self/statm", encoding="ascii") as pages:
        taken = int(pages.read().split()[0]) * resource.getpagesize()
    for what, most in {
        resource.RLIMIT_AS: taken + memory,
        resource.RLIMIT_CPU: seconds,
        resource.RLIMIT_FSIZE: file,
        resource.RLIMIT_NPROC: processes,
        resource.RLIMIT_NOFILE: 256,
        resource.RLIMIT_CORE: 0,
    }.items():
        resource.setrlimit(what, (most, most))


def main() -> None:
    """Get ready, say so, and serve until the grader closes the pipe."""
    options = json.loads(sys.argv[1])
    step_down(options.pop("user"))
    reading, writing = private_pipes()

    from companion.grading.learner import Learner  # what this imports is imported with no rights

    with ExitStack() as files:
        source = files.enter_context(os.fdopen(reading, "rb"))
        target = files.enter_context(os.fdopen(writing, "wb"))
        learner = Learner(source, target)
        limit(**options)
        learner.work()


if __name__ == "__main__":
    main()
