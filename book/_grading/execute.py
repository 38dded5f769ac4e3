"""Runs the cells of a submission in the sandbox, where nbgrader would run them in a kernel."""

import json
import re
import time
from contextlib import closing, nullcontext

from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader.preprocessors.base import NbGraderPreprocessor
from nbgrader.utils import is_grade, is_solution

from book._grading import flags, harmless
from book._grading.sandbox import Limits, Lost, NoIsolation, Sandbox

MOST_OUTPUTS = 100  # of a cell
MOST_SHOWN = 20_000_000  # letters, with pictures, of all cells but the checks together
NAME = re.compile(r"[\w.]{1,100}")
PLACE = re.compile(r"\([^()]*, line (\d+)\)")  # of a SyntaxError


class ExecuteInSandbox(NbGraderPreprocessor):
    """Stands for nbgrader's Execute: answers and checks run in one process, in the sandbox.

    A process that is lost costs the cell that it was lost in: a new one runs the cells before it
    again and goes on behind it. In a submission that is flagged every check ends in an error, for
    which nbgrader gives no points, as in one that could not be read. `meanwhile` is entered while
    cells run: others may have the gradebook then.
    """

    def __init__(self, limits: Limits, meanwhile=None, unread: str = "") -> None:
        super().__init__()
        self.limits, self.unread, self.shown = limits, unread, 0
        self.meanwhile = meanwhile or nullcontext()
        self.flags: list[str] = []  # why a person has to read the submission
        self.lost: list[str] = []  # what took too much, ended its process, or is no Python

    def preprocess(self, notebook: NotebookNode, resources: dict):
        """Called by nbconvert."""
        cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
        checks = [*filter(_is_check, cells)]
        if self.unread:
            for cell in checks:
                cell.outputs = [_error("NotRead", self.unread)]
            return notebook, resources
        touched = flags.touched([x.source for x in cells], [x.source for x in checks])
        for i, (cell, names) in enumerate(zip(cells, touched, strict=True), start=1):
            cell.execution_count = i
            if names and not _is_check(cell):
                self.flags.append(f"In [{i}] touches {', '.join(names)}")
        with self.meanwhile:
            self._run(cells)
        self._say_why(cells)
        if self.flags:
            why = f"no points until a person gives them: {'; '.join(self.flags)}"
            for cell in checks:
                cell.outputs.append(_error("Flagged", why))
        return notebook, resources

    def _say_why(self, cells: list[NotebookNode]) -> None:
        """Where a check misses a name since a cell before it has failed, say that."""
        failed = None
        for cell in cells:
            error = next((x for x in cell.outputs if x.output_type == "error"), None)
            if not _is_check(cell):
                failed = (f"In [{cell.execution_count}]", error) if error else failed
                continue
            if error and error.ename == "NameError" and failed:
                place, cause = failed
                why = PLACE.sub(r"(line \1)", cause.evalue)
                if not any(said.startswith(place) for said in self.lost):
                    self.lost.append(f"{place}: {cause.ename}: {why}"[:300])
                error.ename, error.evalue = cause.ename, f"{why} in {place}; so {error.evalue}"
            failed = None

    def _run(self, cells: list[NotebookNode]) -> None:
        """Run all cells, in as many processes as it takes."""
        deadline, done, lost = time.monotonic() + self.limits.total, 0, set()
        while done < len(cells) and time.monotonic() < deadline:
            todo = [
                (i, cell)
                for i, cell in enumerate(cells)
                if i not in lost and (i >= done or not _is_check(cell))
            ]
            with closing(Sandbox([cell.source for _, cell in todo], self.limits)) as process:
                try:
                    process.line(self.limits.start)
                except Lost as error:  # before anything of the submission has run
                    raise NoIsolation(f"nothing runs in the sandbox: {error}") from error
                try:
                    for i, cell in todo:
                        left = deadline - time.monotonic()
                        outputs = self._shown(cell, process.line(min(self.limits.cell, left)))
                        if i >= done:
                            cell.outputs = outputs
                    return
                except Lost as error:
                    self.lost.append(f"In [{i + 1}]: {error}")
                    cell.outputs = [_error(type(error).__name__, str(error))]
                    lost.add(i)
                    done = max(done, i + 1)
        if done < len(cells):
            self.lost.append("the submission took too long in all")
            for cell in cells[done:]:
                cell.outputs = [_error("LimitExceeded", self.lost[-1])]

    def _shown(self, cell: NotebookNode, line: bytes) -> list[NotebookNode]:
        """A cell's outputs, made anew from what anybody may have written; else `Lost`."""
        try:
            said = json.loads(line)
            # Halves of letters fit in no file.
            said = json.loads(json.dumps(said, ensure_ascii=False).encode("utf8", "replace"))
            outputs = [_output(x, cell) for x in said["outputs"][-MOST_OUTPUTS:]]
            changed = [name for name in said["changed"] if NAME.fullmatch(name)]
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise Lost("its process has sent something else than outputs") from error
        if changed:
            more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
            flag = f"In [{cell.execution_count}] changes {', '.join(changed[:3])}{more}"
            self.flags += [] if flag in self.flags else [flag]
        if not _is_check(cell):
            self.shown += len(json.dumps(outputs))
            if self.shown > MOST_SHOWN:
                return [_error("TooMuch", f"left out: more than {MOST_SHOWN} letters")]
        return outputs


def _is_check(cell: NotebookNode) -> bool:
    return is_grade(cell) and not is_solution(cell)


def _output(x: dict, cell: NotebookNode) -> NotebookNode:
    kind = x["output_type"]
    if kind == "stream":
        # To nbgrader a check that writes to stderr has failed; a warning or a progress bar has not.
        name = "stderr" if x["name"] == "stderr" and not _is_check(cell) else "stdout"
        return new_output(kind, name=name, text=str(x["text"])[: harmless.LONGEST])
    if kind == "error":
        return _error(str(x["ename"])[:100], str(x["evalue"]), "\n".join(x["traceback"]))
    kind = "execute_result" if kind == "execute_result" else "display_data"
    return new_output(kind, data=harmless.output(x["data"]))


def _error(name: str, text: str, trace: str = "") -> NotebookNode:
    text = text[: harmless.LONGEST]
    lines = (trace or f"{name}: {text}")[: harmless.LONGEST].split("\n")
    return new_output("error", ename=name, evalue=text, traceback=lines)
