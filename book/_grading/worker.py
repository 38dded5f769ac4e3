"""Inside the sandbox: runs a notebook's cells and writes a line of JSON about each.

The cells come as JSON on the standard input. The first line that is written says "ready"; each of
the others what a cell has shown, in the notebook's format, and which functions it has changed.
"""

import gc
import json
import os
import re
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import torch
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

import book.checking.exercise  # (the engine, before the first look at the functions)
from book._grading import privileges
from book._grading.flags import changed, functions


class Session:
    """An interactive Python session, like that of a notebook's kernel."""

    def __init__(self) -> None:
        quiet = Config(HistoryManager={"enabled": False}, InteractiveShell={"colors": "NoColor"})
        self.shell = InteractiveShell.instance(config=quiet)
        self.shell._showtraceback = lambda kind, error, lines: self.traceback.extend(lines)
        self.shell.display_trap.hook = self._keep_value

    def run(self, source: str) -> list[dict]:
        """Run a cell; its outputs in the notebook's format."""
        self.traceback, self.values = [], []
        with capture_output() as captured:
            done = self.shell.run_cell(source, store_history=True)
        streams = ("stdout", captured.stdout), ("stderr", captured.stderr)
        outputs = [
            *({"output_type": "stream", "name": n, "text": s} for n, s in streams if s),
            *({"output_type": "display_data", "data": shown.data} for shown in captured.outputs),
            *self.values,
        ]
        error = done.error_before_exec or done.error_in_exec
        if error is not None:  # SystemExit, too: to nbgrader a check without an error has passed
            said = {"ename": type(error).__name__, "evalue": str(error)}
            outputs.append({"output_type": "error", **said, "traceback": self.traceback})
        return outputs

    def _keep_value(self, value=None) -> None:
        """A cell's last value. A number is a result: for nbgrader it is partial credit."""
        if value is not None and not self.shell.displayhook.quiet():
            kind = "execute_result" if isinstance(value, int | float) else "display_data"
            data, _ = self.shell.display_formatter.format(value)
            self.values.append({"output_type": kind, "data": data})


def import_checks(sources: list[str]) -> None:
    """Import the checks of the chapters that the cells name; all take half a second longer."""
    named = set(re.findall(r"\bbook\.(\w+)", "\n".join(sources)))
    for path in Path(book.__file__).parent.glob("*/checks.py"):
        if path.parent.name in named:
            import_module(f"book.{path.parent.name}.checks")


def main() -> None:
    """Get ready, say so, and run the cells."""
    sources, pipe = json.load(sys.stdin), os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):  # what a cell's processes print does not get into the lines
        os.dup2(nowhere, standard)
    import_checks(sources)
    # torch replaces functions of its own when it compiles, if it can, and makes an optimizer.
    with suppress(RuntimeError):
        torch.compile(torch.neg, backend="eager")(torch.ones(1))
    for kind in vars(torch.optim).values():
        if isinstance(kind, type) and kind is not torch.optim.Optimizer:
            kind([torch.ones(1, 1, requires_grad=True)])
    session, before, known = Session(), functions(), len(sys.modules)
    gc.freeze()  # a million objects that stay: no collection need look at them
    gc.enable()
    privileges.limit(*json.loads(sys.argv[1]))
    with os.fdopen(pipe, "w") as grader:
        print('"ready"', file=grader, flush=True)
        for source in sources:
            outputs = session.run(source)
            said = {"outputs": outputs, "changed": changed(before)}
            print(json.dumps(said, default=str), file=grader, flush=True)
            if said["changed"] or known != len(sys.modules):  # a new one may be of torch
                before, known = functions(), len(sys.modules)
