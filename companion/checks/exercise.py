"""How a check is written: call the answer, compare it with right and with known wrong ones.

A check is a function marked `@exercise`. It takes the learner's object, calls it through `call` or
`compare`, raises `Mistake` where something is wrong, and returns what it has tried.
"""

import functools
import inspect
import random
import sysconfig
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path

import numpy as np
import torch

import companion
from companion.checks.verdict import Verdict


class Mistake(Exception):
    """The answer is wrong: the mistake by name, and the smallest input that shows it."""

    def __init__(self, mistake: str, example: str = "") -> None:
        super().__init__(mistake)
        self.mistake, self.example = mistake, example


class NotAttempted(Exception):
    """The answer still says NotImplementedError."""


def exercise(check: Callable[..., str]) -> Callable[..., Verdict]:
    """Make a check give a `Verdict`: what it returns was tried, what it raises is the mistake."""

    @functools.wraps(check)
    def judged(answer) -> Verdict:
        with repeatable():
            try:
                if not callable(answer):
                    raise Mistake(
                        f"expected a function or a class, got {type(answer).__name__}; "
                        "give its name, without parentheses"
                    )
                return Verdict("passed", tried=check(answer))
            except NotAttempted:
                return Verdict("not attempted")
            except Mistake as found:
                return Verdict("mistake", found.mistake, found.example)

    judged.__annotations__ = check.__annotations__ | {"return": Verdict}
    return judged


@contextmanager
def repeatable() -> Iterator[None]:
    """The same random numbers for every run of a check; the learner's own go on undisturbed."""
    states = random.getstate(), np.random.get_state()  # noqa: NPY002 (what answers draw from)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        random.seed(0)
        np.random.seed(0)  # noqa: NPY002
        try:
            yield
        finally:
            random.setstate(states[0])
            np.random.set_state(states[1])  # noqa: NPY002


@contextmanager
def quietly() -> Iterator[None]:
    """No warnings, which are errors in some places: the verdict is the same in all of them."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def call(answer: Callable, **inputs):
    """The learner's result for these inputs, which are given by position and must stay as they are.

    Raises:
        NotAttempted: the answer raised NotImplementedError.
        Mistake: it raised something else, changed an input, or returned nothing.
    """
    given = {name: _copy(x) for name, x in inputs.items()}
    try:
        with quietly():
            result = answer(*given.values())
    except NotImplementedError as error:
        raise NotAttempted from error
    except Exception as error:
        raise Mistake(
            f"it raised {type(error).__name__}: {error}", f"{where(error)}\n{show(inputs)}"
        ) from error
    for name, x in inputs.items():
        if isinstance(x, np.ndarray | torch.Tensor) and not _equal(x, given[name]):
            raise Mistake(
                f"it changes its input {name}; work on a copy, "
                "or use operations that make a new array",
                show({f"{name} before": x, f"{name} after": given[name]}),
            )
    if result is None:
        raise Mistake("it returned None; is the `return` missing?", show(inputs))
    return result


def compare(
    answer: Callable,
    cases: Sequence[dict],
    right: Callable,
    mistakes: Mapping[str, Callable],
    *,
    kind: type = torch.Tensor,
    numbers: type = np.floating,
    otherwise: str = "",
    optional: int = 0,
) -> None:
    """Hold the answer against the right one on every case, smallest first.

    Where it differs, the mistake is that of the first known wrong answer which gives the learner's
    numbers on all cases.

    Args:
        answer: the learner's function.
        cases: named inputs, in the order of the arguments.
        right: the right answer; returns a tuple of arrays.
        mistakes: what to say -> a wrong answer, in the form of `right`.
        kind: the type of the arrays; int for one number.
        numbers: what is in the arrays: np.floating, np.integer or np.bool_.
        otherwise: what to say where no known wrong answer gives the learner's numbers.
        optional: how many of the last arrays an answer may leave out.

    Raises:
        Mistake: the answer is wrong on a case.
    """
    results = [_result_or_mistake(answer, case, kind, numbers) for case in cases]
    right_so_far = ""
    for case, result in zip(cases, results, strict=True):
        if isinstance(result, Mistake):
            raise Mistake(result.mistake, f"{result.example}{right_so_far}") from result
        expected = right(*map(_copy, case.values()))
        if _agree(result, expected):
            if len(result) < len(expected) - optional:
                raise Mistake(f"it returned {len(result)} of {len(expected)} results", show(case))
            right_so_far = f"\nit was right on {_shapes(case)}" if _shapes(case) else ""
            continue
        example = f"{show(case)}\n{_difference(result, expected)}"
        for mistake, wrong in mistakes.items():
            if all(map(_would_give, [wrong] * len(cases), cases, results)):
                raise Mistake(mistake, example)
        raise Mistake(otherwise or _plain(result, expected), f"{example}{right_so_far}")


NUMBERS = {np.floating: "floating numbers", np.integer: "integers", np.bool_: "True and False"}


def _result_or_mistake(answer, case: dict, kind: type, numbers: type) -> "tuple | Mistake":
    try:
        result = call(answer, **case)
        result = tuple(result) if isinstance(result, tuple | list) else (result,)
        if not result:
            raise Mistake("it returned nothing but an empty tuple or list", show(case))
        for x in result:
            if not isinstance(x, kind):
                expected = f"{kind.__module__}.{kind.__name__}".removeprefix("builtins.")
                raise Mistake(
                    f"it returned {type(x).__name__}, expected {expected}",
                    show(case),
                )
            if not np.issubdtype(_numpy(x).dtype, numbers):
                dtype = _numpy(x).dtype if kind is int else x.dtype
                raise Mistake(f"it returned {dtype}, expected {NUMBERS[numbers]}", show(case))
    except Mistake as mistake:
        return mistake
    return result


def _would_give(wrong: Callable, case: dict, result: "tuple | Mistake") -> bool:
    """Whether a wrong answer gives this result; where the learner's raised, nobody can say no."""
    if isinstance(result, Mistake):
        return True
    try:
        with np.errstate(all="ignore"):
            return _agree(result, wrong(*map(_copy, case.values())))
    except (ValueError, RuntimeError, IndexError):  # it cannot take these shapes
        return False


def _agree(result: tuple, expected: tuple) -> bool:
    """Whether the arrays are the same, as far as the learner's go."""
    return len(result) <= len(expected) and all(map(close, result, expected))


def close(x, y) -> bool:
    """Whether two arrays have the same shape and the same numbers: of floats, as far as float32."""
    x, y = _numpy(x), _numpy(y)
    if x.dtype.kind != "f":
        return np.array_equal(x, y)
    return x.shape == y.shape and np.allclose(x, y, rtol=1e-4, atol=1e-5, equal_nan=True)


def _plain(result: tuple, expected: tuple) -> str:
    """The mistake where it has no name."""
    if len(result) > len(expected):
        most = "a single one" if len(expected) == 1 else f"at most {len(expected)}"
        return f"it returned {len(result)} arrays, expected {most}"
    for i, (x, y) in enumerate(zip(result, expected, strict=False), start=1):
        x, y = _numpy(x), _numpy(y)
        if x.shape != y.shape:
            which = "" if len(result) == 1 else f" in array {i} of {len(result)}"
            return f"it returned shape {tuple(x.shape)}{which}, expected {tuple(y.shape)}"
        if not np.isfinite(x).all() and np.isfinite(y).all():
            return "it returned NaN or infinity"
    return "the numbers are wrong"


def _difference(result: tuple, expected: tuple) -> str:
    for i, (x, y) in enumerate(zip(result, expected, strict=False), start=1):
        if close(x, y):
            continue
        which = "expected" if len(expected) == 1 else f"expected as result {i} of {len(expected)}"
        both = {which: y, "yours": x}
        if _numpy(x).shape == _numpy(y).shape and (_numpy(x).size > 16 or _text(x) == _text(y)):
            x, y = (_numpy(z).astype(float) for z in (x, y))
            apart = np.abs(x - y) if np.isfinite(x).all() else ~np.isfinite(x)
            place = tuple(int(i) for i in np.unravel_index(apart.argmax(), x.shape))
            both = {f"{which} at {list(place)}": f"{y[place]:.6g}", "yours": f"{x[place]:.6g}"}
        return show(both)
    return ""


def _shapes(case: dict) -> str:
    shapes = {name: tuple(x.shape) for name, x in case.items() if hasattr(x, "shape")}
    return ", ".join(f"{name} {shape}" for name, shape in shapes.items())


def show(named: dict) -> str:
    """One line for each: small arrays with their numbers, large ones with their shape."""
    return "\n".join(f"{name} = {_text(x)}" for name, x in named.items())


def _text(x) -> str:
    if isinstance(x, torch.nn.Module):
        return "".join([str(x), *(f", {name} {_text(p)}" for name, p in x.named_parameters())])
    if inspect.isfunction(x):
        return "a function"  # its own text holds an address
    if not isinstance(x, np.ndarray | torch.Tensor):
        return str(x)
    if x.ndim and _numpy(x).size > 16:
        return f"array of shape {tuple(x.shape)}"
    numbers = np.array2string(_numpy(x), precision=3, suppress_small=True, separator=", ")
    return " ".join(numbers.split())


def longest_chain(result: torch.Tensor) -> int:
    """The number of operations in a row that autograd has recorded on the way to the result.

    Raises:
        Mistake: it has recorded none.
    """
    if result.grad_fn is None:
        raise Mistake(
            "no gradient reaches the inputs, so that what waits for what cannot be counted",
            "inputs with requires_grad=True; the result has no grad_fn",
        )
    length, todo = {}, [result.grad_fn]
    while todo:
        needed = [before for before, _ in todo[-1].next_functions if before is not None]
        missing = [before for before in needed if before not in length]
        if missing:
            todo += missing
        else:
            length[todo.pop()] = 1 + max((length[before] for before in needed), default=0)
    return length[result.grad_fn]


def where(error: Exception) -> str:
    """The last line in the traceback that is the learner's own."""
    libraries = tuple(str(Path(module.__file__).parent) for module in (companion, torch, np))
    libraries += (sysconfig.get_path("stdlib"),)
    own = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(libraries)
    ]
    if not own:
        return "in the call itself: do the arguments fit?"
    return f"in {own[-1].name}, line {own[-1].lineno}: {own[-1].line}"


def _copy(x):
    """A copy with the gradient's way back to the original."""
    return x.clone() if isinstance(x, torch.Tensor) else deepcopy(x)


def _equal(x, y) -> bool:
    x, y = _numpy(x), _numpy(y)
    return x.shape == y.shape and np.array_equal(x, y, equal_nan=x.dtype.kind == "f")


def _numpy(x) -> np.ndarray:
    if not isinstance(x, torch.Tensor):
        return np.asarray(x)
    x = x.detach().cpu().resolve_conj()
    return (x.float() if x.dtype == torch.bfloat16 else x).numpy()
