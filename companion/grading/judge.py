"""The grader's side of the border: runs a notebook whose answers are in the sandbox.

A cell that is graded runs here, not there. Names that the instructor's own cells import
(`checks`, `torch`) are the real ones; any other name in it is the learner's, and what it gets is a
value, or a stand-in that passes calls on to the sandbox.
"""

import ast
import builtins
import io
import json
import resource
import signal
import time
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress

import nbformat
from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode
from torch import nn

from companion.checks.exercise import repeatable
from companion.grading import harmless
from companion.grading.peer import OtherSide, Peer
from companion.grading.sandbox import LimitExceeded, Limits, Lost, Sandbox
from companion.grading.wire import Garbled, from_data, to_pickle

HERE = "companion.checks"  # what is defined there is called, not copied
MOST_OUTPUTS = 100  # of a cell
MOST_SHOWN = 20_000_000  # letters, with pictures, of all outputs of a submission


class TooMuch(Exception):
    """What a cell shows is left out."""

    def __str__(self) -> str:
        return f"left out: all outputs together have more than {MOST_SHOWN} letters"


class StandIn:
    """An object of the learner's: calls and attributes are asked for in the sandbox."""

    def __init__(self, grader: "Grader", number: int) -> None:
        self._grader, self._number = grader, number

    def __getattr__(self, name: str):
        if name.startswith("_"):
            raise AttributeError(name)
        return self._grader.attribute(self._number, name)

    def __call__(self, *args, **kwargs):
        return self._grader.call(self._number, "", args, kwargs)


class IteratorStandIn(StandIn):
    """A generator or another iterator of the learner's."""

    def __iter__(self) -> Iterator:
        while found := self._grader.ask("next", self._number)[0]:
            yield found[0]

    def __next__(self):
        return next(iter(self))


class ModuleStandIn(nn.Module):
    """A module of the learner's: its parameters are here, its computation is in the sandbox."""

    _complete = False  # until its parts are there, nothing is asked for in the sandbox

    def __init__(self, grader: "Grader", number: int, text: str) -> None:
        super().__init__()
        self._grader, self._number, self._text = grader, number, text

    def forward(self, *args, **kwargs):
        return self._compute("", args, kwargs)

    def _compute(self, method: str, args: tuple, kwargs: dict):
        named = dict(self.named_parameters()) | dict(self.named_buffers())
        state = {"tensors": named, "training": self.training}
        return self._grader.call(self._number, method, args, kwargs, state)

    def __getattr__(self, name: str):
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name.startswith("_") or not self._complete:
                raise
        found = self._grader.attribute(self._number, name)
        if not isinstance(found, StandIn):
            return found
        return lambda *args, **kwargs: self._compute(name, args, kwargs)

    def __repr__(self) -> str:
        return self._text


class Grader(Peer):
    """The trusted end of the pipe to one process in the sandbox."""

    def __init__(self, sandbox: Sandbox) -> None:
        super().__init__(sandbox.send, sandbox.read)
        self.sandbox = sandbox
        self._exchange(b"")  # it speaks first, and says that it is ready

    def _exchange(self, payload: bytes) -> list:
        try:
            return super()._exchange(payload)
        except Garbled as error:  # a check that goes on after this finds nobody to talk to
            self.sandbox.end(f"it sent what is no message: {error}")

    def encode(self, message: tuple):
        return to_pickle(message, self.name)

    def decode(self, parts: tuple[bytes, bytes]):
        return from_data(parts, self.stand_in)

    def name(self, x) -> tuple | None:
        """The name of what is not copied into the sandbox: the learner's own, functions of ours."""
        if isinstance(x, StandIn | ModuleStandIn):
            return "yours", x._number
        if isinstance(x, types.FunctionType | types.MethodType) and _stays_here(x):
            return "call", self.number(x), x.__name__
        if type(x).__module__.startswith(HERE) and callable(x) and not isinstance(x, nn.Module):
            return "call", self.number(x), type(x).__name__
        return None

    def stand_in(self, known: dict):
        """What stands for an object of the learner's, from what the sandbox says of it."""
        if "yours" in known:
            return self.objects[known["yours"]]
        number, kind = int(known["number"]), str(known["type"])[:100]
        if "module" in known:
            return _module(self, known)
        of = IteratorStandIn if known["iterator"] else StandIn if known["callable"] else Opaque
        stand_in = type(kind, (of,), {})(self, number)
        if "name" in known:
            stand_in.__name__ = str(known["name"])[:100]
        return stand_in

    def attribute(self, number: int, name: str):
        return self.ask("attribute", number, name)


class Opaque(StandIn):
    """An object that cannot be called."""

    __call__ = None


def _stays_here(function: Callable) -> bool:
    """Whether a function cannot be, or is not to be, found by its name on the other side."""
    if isinstance(function, types.MethodType) or "<" in function.__qualname__:
        return True
    return function.__module__.startswith(HERE)


def _module(grader: Grader, known: dict) -> ModuleStandIn:
    root = type(str(known["type"])[:100], (ModuleStandIn,), {})(
        grader, int(known["number"]), str(known["module"])
    )
    for path, *form in known["parts"]:
        above, _, name = path.rpartition(".")
        root.get_submodule(above).add_module(name, _part(grader, *form))
    for path, x, gradient in known["parameters"]:
        above, _, name = path.rpartition(".")
        root.get_submodule(above).register_parameter(name, nn.Parameter(x, requires_grad=gradient))
    for path, x in known["buffers"]:
        above, _, name = path.rpartition(".")
        root.get_submodule(above).register_buffer(name, x)
    for part in root.modules():
        if isinstance(part, ModuleStandIn):
            part._complete = True
    return root.train(bool(known["training"]))


def _part(grader: Grader, number: int, kind: str, settings: dict, without: list[str]) -> nn.Module:
    """A part of a learner's module: one of torch's own computes here, another is a stand-in."""
    of = getattr(nn, str(kind), None)
    if not (isinstance(of, type) and issubclass(of, nn.Module)):
        return type(str(kind)[:100], (ModuleStandIn,), {})(grader, int(number), str(kind)[:100])
    part = of.__new__(of)
    nn.Module.__init__(part)
    for name in without:
        part.register_parameter(name, None)
    for name, x in settings.items():
        if not hasattr(part, name) and isinstance(x, int | float | tuple):
            setattr(part, name, x)
    return part


class Notebook:
    """A submission on its way through the cells: in the sandbox, or here where they are graded.

    A process that was lost is replaced by a new one, which runs the cells so far again, without the
    one that it was lost in: an endless loop costs its own points only.

    Args:
        imports: the import statements of the instructor's notebook.
        limits: what the submission may take.
    """

    def __init__(self, imports: list[str], limits: Limits) -> None:
        self.limits, self.started = limits, time.monotonic()
        self.trusted: dict = {}
        for statement in imports:
            exec(statement, self.trusted)
        self.done: list[str] = []
        self.shown = 0  # letters of outputs so far
        self.sandbox = self.grader = None

    def run(self, source: str) -> list[dict]:
        """Run a cell of the learner's; its outputs in the notebook's format."""
        try:
            outputs = self._within_limits(lambda grader: _checked(grader.ask("run", source)))
            self.done.append(source)
            self.shown += len(json.dumps(outputs))
            return outputs if self.shown < MOST_SHOWN else [_error(TooMuch())]
        except (Lost, Garbled, OtherSide) as error:
            return [_error(error)]

    def grade(self, source: str) -> list[dict]:
        """Run a cell that is graded, and say by its outputs how that went."""
        try:
            return self._within_limits(lambda grader: self._judged(grader, source))
        except (Lost, Garbled, OtherSide) as error:
            return [_error(error)]

    def _within_limits(self, work: Callable):
        """Do something with the submission's process, which is started where there is none."""
        left = self.limits.total - (time.monotonic() - self.started)
        if left <= 0:
            raise LimitExceeded("the submission took too long in all")
        try:
            if self.grader is None:
                self._start()
            seconds = min(self.limits.cell, left)
            self.sandbox.deadline = time.monotonic() + seconds
            with stopped_after(seconds, self.sandbox), little_memory(self.limits.memory):
                result = work(self.grader)
            if self.sandbox.ended:  # a check may have taken the loss for an answer
                raise Lost(self.sandbox.ended)
            return result
        except (Lost, Garbled):
            self.close()
            raise

    def _start(self) -> None:
        self.sandbox = Sandbox(self.limits)
        self.grader = Grader(self.sandbox)
        began = time.monotonic()
        self.sandbox.deadline = began + self.limits.cell
        for source in self.done:
            self.grader.ask("run", source)

    def _judged(self, grader: Grader, source: str) -> list[NotebookNode]:
        grader.ask("begin")
        names = {**self.trusted}
        for name in _names(source) - names.keys() - vars(builtins).keys():
            with suppress(NameError):
                names[name] = grader.ask("name", name)
        with repeatable():
            outputs = _shown(source, names)
        if not grader.sandbox.ended:
            grader.ask("end")
        return outputs

    def close(self) -> None:
        """End the submission's process."""
        if self.sandbox is not None:
            self.sandbox.close()
        self.sandbox = self.grader = None


def imports_of(notebook: NotebookNode) -> list[str]:
    """The import statements of the instructor's cells, those of the solutions left out."""
    found = []
    for cell in notebook.cells:
        if cell.cell_type != "code" or cell.metadata.get("nbgrader", {}).get("solution"):
            continue
        tree = ast.parse(TransformerManager().transform_cell(cell.source))
        found += [
            ast.unparse(node)
            for node in ast.walk(tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
        ]
    return found


def _names(source: str) -> set[str]:
    """The names that a cell uses."""
    return {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}


def _shown(source: str, names: dict) -> list[NotebookNode]:
    """Run a cell here, and give its outputs in the notebook's format."""
    *body, last = ast.parse(source).body or [ast.Pass()]
    if not isinstance(last, ast.Expr):
        body, last = [*body, last], None
    outputs, printed = [], io.StringIO()
    try:
        with redirect_stdout(printed):
            exec(compile(ast.Module(body, []), "<check>", "exec"), names)
            value = (
                eval(compile(ast.Expression(last.value), "<check>", "eval"), names)
                if last
                else None
            )
        if value is not None:
            outputs.append(_display(value))
    except (Lost, Garbled):
        raise
    except Exception as error:
        outputs.append(_error(error))
    if printed.getvalue():
        outputs.insert(0, nbformat.v4.new_output("stream", name="stdout", text=printed.getvalue()))
    return outputs


def _display(value) -> NotebookNode:
    """The output that a cell's last value gives; a number is nbgrader's partial credit."""
    data = {"text/plain": repr(value)}
    if hasattr(value, "_repr_html_"):
        data["text/html"] = value._repr_html_()
    kind = "execute_result" if isinstance(value, int | float) else "display_data"
    return nbformat.v4.new_output(kind, data=data)


def _checked(outputs) -> list[NotebookNode]:
    """A cell's outputs, made anew from what the sandbox says they are."""
    try:
        plain = json.loads(json.dumps(outputs[:MOST_OUTPUTS]))  # no stand-in, endless for one
        return [_output(str(x["output_type"]), x) for x in plain]
    except (KeyError, TypeError, ValueError, AttributeError, MemoryError) as error:
        raise Garbled(f"these are no outputs: {error}") from error


def _output(kind: str, x: dict) -> NotebookNode:
    if kind == "stream":
        name = "stderr" if x["name"] == "stderr" else "stdout"
        return nbformat.v4.new_output(kind, name=name, text=str(x["text"])[: harmless.LONGEST])
    if kind == "error":
        lines = "\n".join(map(str, x["traceback"]))[: harmless.LONGEST].split("\n")
        name, text = str(x["ename"])[:100], str(x["evalue"])[: harmless.LONGEST]
        return nbformat.v4.new_output(kind, ename=name, evalue=text, traceback=lines)
    return nbformat.v4.new_output("display_data", data=harmless.output(x["data"]))


def _error(error: Exception) -> NotebookNode:
    name = type(error).__name__
    return nbformat.v4.new_output(
        "error", ename=name, evalue=str(error), traceback=[f"{name}: {error}"]
    )


@contextmanager
def stopped_after(seconds: float, process: Sandbox) -> Iterator[None]:
    """Raise `LimitExceeded` in the code below when it takes longer: a check, with huge inputs."""

    def stop(*_):
        process.end("the check took too long with this answer", LimitExceeded)

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds + 2)  # the sandbox's own limit comes first
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def little_memory(more: int) -> Iterator[None]:
    """No more memory here than this: an answer may ask a check for a matrix of any size."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    with open("/proc/self/statm", encoding="ascii") as pages:
        taken = int(pages.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + more, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
