"""Kernels that are forked from a process which has imported what nearly every notebook imports.

A hundred notebooks import torch and the page kit, and torch's compiler as soon as they make an
optimizer: three seconds each time; a heatmap imports seaborn, and digits scikit-learn. Python's
fork server pays them once. Only the modules are there already; names, settings, the folder and
`sys.path` are those of a fresh kernel.
"""

import gc
import multiprocessing
import os
import signal
import sys
import threading
import time
from pathlib import Path

from ipykernel.kernelapp import launch_new_instance

os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"  # a kernel's; read at import
ASKED_FOR = os.environ.get("PYTHONPATH", "").split(os.pathsep)
ADDED = {"", os.getcwd(), str(Path(__file__).parents[2])}  # by a kernel, `python -m` and pytest
PATH = [path for path in sys.path if path not in ADDED or path in ASKED_FOR]
forking = multiprocessing.get_context("forkserver")
forking.set_forkserver_preload(
    ["torch._dynamo", "seaborn", "sklearn.datasets", "book.page", "book.checking", __name__]
)


class Kernel(forking.Process):
    """A kernel's process, with what jupyter_client asks of a Popen."""

    stdin = stdout = stderr = None

    def poll(self) -> int | None:
        return self.exitcode

    def wait(self) -> int | None:
        self.join()
        return self.exitcode

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)


def launch(command: list[str], *, cwd: str, env: dict[str, str], **_) -> Kernel:
    """In place of `jupyter_client.launch_kernel`: the kernel leads a group, which gets signals."""
    kernel = Kernel(target=_run, args=(command[command.index("-f") :], cwd, env))
    kernel.start()
    while os.getpgid(kernel.pid) != kernel.pid:
        time.sleep(0.01)
    return kernel


def _run(arguments: list[str], cwd: str, env: dict[str, str]) -> None:
    os.setsid()
    os.chdir(cwd)
    os.environ.update(env)
    sys.path[:] = PATH
    signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.freeze()  # half a million objects that stay: no collection need look at them
    threading.Thread(target=_end_with_the_parent, daemon=True).start()
    parent = f"--IPKernelApp.parent_handle={os.getppid()}"  # else it says how to connect to it
    launch_new_instance(argv=[*arguments, parent])


def _end_with_the_parent() -> None:
    multiprocessing.parent_process().join()
    os._exit(1)
