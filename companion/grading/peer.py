"""Two processes that call each other's functions: with arrays, gradients, and arguments changed.

A `Peer` is one end of the pipe. While it waits for the answer to its own request, it serves the
other's: a learner's function may be given a function that stays on the grader's side.
"""

import builtins
from collections.abc import Callable
from contextlib import nullcontext

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode
from torch.utils._pytree import tree_leaves

from companion.grading.wire import Garbled, read_frame, tensors_in

REMEMBERED = 256  # calls whose gradient may still be asked for
DEEPEST = 5000  # operations in a row that are counted


class OtherSide(Exception):
    """Raised over there; the class's name is the one that it has there."""


class Peer:
    """One end. A subclass says how messages are written and read, and what else it serves.

    Args:
        send: writes bytes to the other side.
        read: reads exactly n bytes from it.
    """

    serves = frozenset({"call", "slopes"})

    def __init__(self, send: Callable[[bytes], None], read: Callable[[int], bytes]) -> None:
        self.send, self.read = send, read
        self.objects: list = []  # what the other side may name by its number
        self.served: dict[int, tuple] = {}  # number of a call -> its results and its inputs
        self.asked = 0

    def encode(self, message: tuple) -> tuple[bytes, list[torch.Tensor]]:
        raise NotImplementedError

    def decode(self, parts: tuple[bytes, bytes]) -> tuple[object, list[torch.Tensor]]:
        raise NotImplementedError

    def number(self, x) -> int:
        """The number by which the other side may name an object."""
        self.objects.append(x)
        return len(self.objects) - 1

    # Asking

    def ask(self, kind: str, *content):
        """The other side's answer to a request.

        Raises:
            Exception: what the other side raised, under its name.
        """
        payload, _ = self.encode((kind, *content))
        return self._exchange(payload)[0]

    def _exchange(self, payload: bytes) -> list:
        self.send(payload)
        while True:
            message, marked = self.decode(read_frame(self.read))
            if not isinstance(message, list | tuple) or not message:
                raise Garbled(f"a message that is a {type(message).__name__}")
            kind, *content = message
            if kind == "result" and content:
                return content
            if kind == "raised" and len(content) == 3:
                try:
                    error = _raised(*content)
                except (TypeError, ValueError) as why:
                    raise Garbled(f"an error that cannot be: {why}") from why
                raise error
            self.send(self.serve(kind, content, marked))

    def call(self, number: int, method: str, args: tuple, kwargs: dict, state: dict | None = None):
        """Call an object of the other side, or a method of it.

        Args:
            number: the object's.
            method: "" for the object itself.
            args: given by position.
            kwargs: given by name.
            state: for a module, the parameters and buffers to compute with.

        A check may look at how an answer computes: at the chain of operations that autograd
        has recorded, or, by a `TorchDispatchMode`, at each operation's result. It finds a chain of
        the same length here, and empty tensors of the same shapes.
        """
        self.asked += 1
        asked, watched = self.asked, _get_current_dispatch_mode() is not None
        payload, inputs = self.encode(
            ("call", asked, number, method, args, kwargs, state, torch.is_grad_enabled(), watched)
        )
        answer = self._exchange(payload)
        if len(answer) != 4:
            raise Garbled("an answer to a call has four parts")
        value, changed, depths, shapes = answer
        for shape in shapes:
            torch.empty(shape, device="meta")  # seen by whoever watches, and no memory is taken
        given = list(tensors_in(args, kwargs, state))
        for i, x in changed:
            _overwrite(given[i], x)
        results = [x for x in tensors_in(value) if isinstance(x, torch.Tensor) and x.requires_grad]
        if not results:
            return value
        inputs = inputs or [torch.zeros((), requires_grad=True)]
        linked = _Call.apply(self, asked, [x.detach() for x in results], *inputs)
        deep = map(_deepened, linked, depths)
        return _replaced(value, dict(zip(map(id, results), deep, strict=True)))

    # Serving

    def serve(self, kind: str, content: list, marked: list[torch.Tensor]) -> bytes:
        """The answer to the other side's request, or what it raised."""
        if not isinstance(kind, str) or kind not in self.serves:
            raise Garbled(f"no request: {str(kind)[:100]!r}")
        try:
            return getattr(self, f"serve_{kind}")(marked, *content)
        except Garbled:
            raise
        except Exception as error:
            return self.encode(("raised", *self.describe_error(error)))[0]

    def describe_error(self, error: Exception) -> tuple[list[str], str, str]:
        """The names of the error's classes, its text, and where it was raised."""
        return [kind.__name__ for kind in type(error).__mro__], str(error), ""

    def find_call(self, number: int, method: str, state: dict | None) -> Callable:
        """What a call is of: a function with a number, and nothing that can be reached from it."""
        if method or state is not None:
            raise Garbled("only a function can be called")
        return self.objects[number]

    def serve_call(
        self, marked, asked, number, method, args, kwargs, state, gradient, watched
    ) -> bytes:
        called = self.find_call(number, method, state)
        given = list(tensors_in(args, kwargs, state))
        before = [_copied(x) for x in given]
        with torch.set_grad_enabled(gradient), _Shapes() if watched else nullcontext() as shapes:
            value = called(*args, **kwargs)
        changed = [
            (i, _copied(x))
            for i, (x, old) in enumerate(zip(given, before, strict=True))
            if not _same(x, old)
        ]
        results = [x for x in tensors_in(value) if isinstance(x, torch.Tensor) and x.requires_grad]
        inputs = {x.grad_fn for x in given if isinstance(x, torch.Tensor)}
        depths = [_depth(x, inputs) for x in results]
        seen = sorted(shapes.seen)[:DEEPEST] if watched else []
        payload, results = self.encode(("result", value, changed, depths, seen))
        self.served[asked] = results, marked
        self.served.pop(asked - REMEMBERED, None)
        return payload

    def serve_slopes(self, marked, asked, slopes) -> bytes:
        results, inputs = self.served[asked]
        pairs = [(x, s) for x, s in zip(results, slopes, strict=True) if s is not None]
        found = [None] * len(inputs)
        if pairs and inputs:
            results, slopes = zip(*pairs, strict=True)
            found = torch.autograd.grad(
                results, inputs, slopes, allow_unused=True, retain_graph=True
            )
        return self.encode(("result", list(found)))[0]


class _Shapes(TorchDispatchMode):
    """Notes the shapes of what operations give, for a check that watches them."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[tuple[int, ...]] = set()

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        result = operation(*args, **(kwargs or {}))
        self.seen |= {tuple(x.shape) for x in tree_leaves(result) if isinstance(x, torch.Tensor)}
        return result


class _Call(torch.autograd.Function):
    """A call to the other side, as one operation with a gradient."""

    @staticmethod
    def forward(ctx, peer, asked, results, *inputs):
        ctx.peer, ctx.asked = peer, asked
        ctx.set_materialize_grads(False)
        return tuple(results)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, *slopes):
        found = ctx.peer.ask("slopes", ctx.asked, list(slopes))
        if not isinstance(found, list):
            raise Garbled("gradients come as a list")
        return None, None, None, *(found or [None])


def _copied(x):
    return x.detach().clone() if isinstance(x, torch.Tensor) else x.copy()


def _same(x, y) -> bool:
    """Whether an array has kept its shape and numbers, NaN where there was NaN."""
    if isinstance(x, np.ndarray):
        return x.shape == y.shape and np.array_equal(x, y, equal_nan=x.dtype.kind == "f")
    return x.shape == y.shape and bool(((x == y) | ((x != x) & (y != y))).all())


def _overwrite(x, new) -> None:
    """Do to the caller's array what the other side has done to its copy."""
    if isinstance(x, torch.Tensor):
        with torch.no_grad():
            if x.shape == new.shape:
                x.copy_(new)
            else:
                x.data = new
    else:
        x.resize(new.shape, refcheck=False)
        x[...] = new


def _replaced(value, by: dict):
    """The value with other tensors at the places of some."""
    if isinstance(value, torch.Tensor):
        return by.get(id(value), value)
    if isinstance(value, dict):
        return {key: _replaced(x, by) for key, x in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_replaced(x, by) for x in value)
    return value


def _depth(result: torch.Tensor, inputs: set) -> int:
    """How many recorded operations stand between the inputs (their `grad_fn`) and the result."""
    length = dict.fromkeys(inputs, 0)
    todo = [result.grad_fn] if result.grad_fn not in inputs else []
    while todo and len(length) < DEEPEST:
        needed = [before for before, _ in todo[-1].next_functions if before is not None]
        if missing := [before for before in needed if before not in length]:
            todo += missing
        else:
            length[todo.pop()] = max((length[before] for before in needed), default=-1) + 1
    return length.get(result.grad_fn, DEEPEST)


def _deepened(x: torch.Tensor, depth: int) -> torch.Tensor:
    """The same numbers, as many operations away from the inputs as on the other side."""
    for _ in range(min(int(depth), DEEPEST) - 1):
        x = x.clone()
    return x


def _raised(names: list[str], text: str, where: str) -> Exception:
    """An exception like the other side's: its name, its text, the nearest class of Python's own."""
    known = (getattr(builtins, str(name), None) for name in names)
    base = next(
        (
            kind
            for kind in known
            if isinstance(kind, type)
            and issubclass(kind, Exception)
            and not issubclass(kind, StopIteration)  # it would end a loop here without a word
        ),
        Exception,
    )
    says = {"__str__": lambda self: str(text), "where": str(where)}
    kind = type(str(next(iter(names), "Exception")), (OtherSide, base), says)
    return kind.__new__(kind, str(text))
