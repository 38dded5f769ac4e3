"""What the grader may ask of the process that runs a submission: cells, names, calls."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import BinaryIO

import torch
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from torch import nn
from torch.func import functional_call
from traitlets.config import Config

from companion.checks.exercise import quietly, repeatable, where
from companion.grading.peer import Peer
from companion.grading.wire import LONGEST, from_pickle, read_frame, to_data

LONGEST_STREAM = 100_000  # letters of what a cell prints


class Callback:
    """A function of the grader's, which stays there."""

    def __init__(self, peer: Peer, number: int, name: str) -> None:
        self.peer, self.number, self.__name__ = peer, number, name

    def __call__(self, *args, **kwargs):
        return self.peer.call(self.number, "", args, kwargs)


class Learner(Peer):
    """The end in the sandbox."""

    serves = Peer.serves | {"run", "name", "attribute", "next", "begin", "end"}

    def __init__(self, source: BinaryIO, target: BinaryIO) -> None:
        def read(size: int) -> bytes:
            if len(data := source.read(size)) < size:
                raise EOFError("the grader has closed the pipe")
            return data

        def send(data: bytes) -> None:
            target.write(data)
            target.flush()

        super().__init__(send, read)
        self.errors: list[dict] = []
        self.same_numbers = ExitStack()
        quiet = Config(HistoryManager={"enabled": False}, InteractiveShell={"colors": "NoColor"})
        self.shell = InteractiveShell.instance(config=quiet)
        self.shell._showtraceback = self._keep_error
        self.shell.display_trap.hook = self._show

    def work(self) -> None:
        """Say that it is ready, then serve."""
        self.send(self.encode(("result", "ready"))[0])
        while True:
            (kind, *content), marked = self.decode(read_frame(self.read))
            self.send(self.serve(kind, content, marked))

    def encode(self, message: tuple):
        return to_data(message, self.describe)

    def decode(self, parts: tuple[bytes, bytes]):
        return from_pickle(parts, self.find)

    def find(self, kind: str, number: int, name: str = ""):
        """What a number of the grader's stands for."""
        return self.objects[number] if kind == "yours" else Callback(self, number, name)

    def find_call(self, number: int, method: str, state: dict | None) -> Callable:
        called = self.objects[number]
        if state is not None:
            return _with_state(called, method, state)
        return getattr(called, method) if method else called

    def describe(self, x) -> dict:
        """What the grader is told of an object that stays here."""
        if isinstance(x, Callback):
            return {"yours": x.number}
        known = {"number": self.number(x), "type": type(x).__name__, "callable": callable(x)}
        if isinstance(x, type) or hasattr(x, "__code__"):
            known["name"] = str(x.__name__)
        known["iterator"] = hasattr(x, "__next__")
        return known | self._module(x) if isinstance(x, nn.Module) else known

    def _module(self, module: nn.Module) -> dict:
        """A module's form: its tensors by name, its parts, and how it prints."""
        parameters = [(name, x.detach(), x.requires_grad) for name, x in module.named_parameters()]
        parts = [(name, self.number(x), *_part(x)) for name, x in module.named_modules() if name]
        return {
            "module": str(module)[:LONGEST],
            "parameters": parameters,
            "buffers": [(name, x.detach()) for name, x in module.named_buffers()],
            "parts": parts,
            "training": module.training,
        }

    def describe_error(self, error: Exception):
        names = [kind.__name__ for kind in type(error).__mro__]
        return names, str(error)[:LONGEST], where(error)[:LONGEST]

    def serve(self, kind: str, content: list, marked: list[torch.Tensor]) -> bytes:
        try:
            with quietly():
                return super().serve(kind, content, marked)
        except (SystemExit, KeyboardInterrupt) as error:  # an answer that says sys.exit()
            return self.encode(("raised", *self.describe_error(error)))[0]

    def serve_run(self, marked, source: str) -> bytes:
        """Run a cell; its outputs in the notebook's format."""
        self.errors.clear()
        with capture_output() as captured:
            self.shell.run_cell(source, store_history=True)
        outputs = [
            {"output_type": "stream", "name": name, "text": text[:LONGEST_STREAM]}
            for name, text in (("stdout", captured.stdout), ("stderr", captured.stderr))
            if text
        ]
        for shown in captured.outputs:
            outputs.append(
                {
                    "output_type": "display_data",
                    "data": {kind: str(x) for kind, x in shown.data.items()},
                    "metadata": {},
                }
            )
        return self.encode(("result", outputs + self.errors))[0]

    def _show(self, value=None) -> None:
        """A cell's last value, shown as a notebook shows it."""
        if value is not None and not self.shell.displayhook.quiet():
            data, metadata = self.shell.display_formatter.format(value)
            self.shell.display_pub.publish(data, metadata)

    def _keep_error(self, kind, error, lines) -> None:
        self.errors.append(
            {
                "output_type": "error",
                "ename": kind.__name__,
                "evalue": str(error)[:LONGEST],
                "traceback": [line[:LONGEST] for line in lines],
            }
        )

    def serve_name(self, marked, name: str) -> bytes:
        """The object that a cell has given this name."""
        if name not in self.shell.user_ns:
            raise NameError(f"name {name!r} is not defined")
        return self.encode(("result", self.shell.user_ns[name]))[0]

    def serve_attribute(self, marked, number: int, name: str) -> bytes:
        return self.encode(("result", getattr(self.objects[number], name)))[0]

    def serve_next(self, marked, number: int) -> bytes:
        return self.encode(("result", [*_first(self.objects[number])]))[0]

    def serve_begin(self, marked) -> bytes:
        """From now on the random numbers are those of every check."""
        self.same_numbers.enter_context(repeatable())
        return self.encode(("result", None))[0]

    def serve_end(self, marked) -> bytes:
        self.same_numbers.close()
        return self.encode(("result", None))[0]


def _first(iterator):
    for x in iterator:
        yield x
        return


class _Method(torch.nn.Module):
    def __init__(self, module: torch.nn.Module, method: str) -> None:
        super().__init__()
        self.module, self.method = module, method

    def forward(self, *args, **kwargs):
        return (getattr(self.module, self.method) if self.method else self.module)(*args, **kwargs)


def _with_state(module: torch.nn.Module, method: str, state: dict) -> Callable:
    """The module's method, computed with these parameters and buffers instead of its own."""
    named = {f"module.{name}": x for name, x in state["tensors"].items()}
    if module.training != state["training"]:
        module.train(state["training"])
    return lambda *args, **kwargs: functional_call(_Method(module, method), named, args, kwargs)


def _part(module: nn.Module) -> tuple[str, dict, list[str]]:
    """The class of a part, its settings, and the parameters that it does without."""
    settings = {name: x for name, x in vars(module).items() if isinstance(x, int | float | tuple)}
    without = [name for name, x in module._parameters.items() if x is None]
    return type(module).__name__, settings, without
