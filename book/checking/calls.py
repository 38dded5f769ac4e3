"""Calling an answer: on the code of a rung, or on inputs; and what an error in it means."""

import ast
import dis
import functools
import inspect
import re
import sysconfig
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy
from itertools import pairwise
from pathlib import Path
from types import CodeType, FunctionType

import numpy as np
import torch

import book
import companion
from book.checking.ending import calling
from book.checking.results import as_array, show
from book.checking.rungs import Ladder
from book.checking.undisturbed import undisturbed


class Mistake(Exception):
    """The answer is wrong: the mistake by name, and the smallest input that shows it."""

    def __init__(self, mistake: str, example: str = "") -> None:
        super().__init__(mistake)
        self.mistake, self.example = mistake, example


class NotAttempted(Exception):
    """The answer still raises the NotImplementedError of the exercise."""


def call(answer: Callable, **inputs):
    """The learner's result for these inputs, which are given by position and must stay as they are.

    Raises:
        NotAttempted: the answer is still the exercise's.
        Mistake: it raised something, changed an input, or returned nothing.
    """
    given = {name: _copy(x) for name, x in inputs.items()}
    before = {name: _arrays_in(x) for name, x in given.items()}
    shown = show(inputs)
    try:
        with calling(shown), undisturbed():
            result = answer(*given.values())
    except Exception as error:
        raise mistake_of(error, shown) from error
    for name, x in given.items():
        if _has_changed(x, before[name]):
            raise _changes_input(name, x, shown)
    if result is None:
        raise Mistake(none_of(answer), shown)
    check_computed(result, shown)
    return result


def none_of(answer: Callable) -> str:
    """That it returned None, and whether a `return` with a value is in it at all."""
    parts = [getattr(answer, "forward", answer)]
    if isinstance(answer, type):
        parts = [x for name, x in vars(answer).items() if name != "__init__"]
    codes = [x.__code__ for x in parts if hasattr(x, "__code__")]
    if any(map(_gives_nothing, codes)):
        return "it returned None; is the `return` missing?"
    return "it returned None" + bool(codes) * (
        "; there is a `return`, but it is not reached, or what stands behind it gives None"
    )


def _gives_nothing(code: CodeType) -> bool:
    """Whether no `return` with a value is in it."""
    steps = [*dis.get_instructions(code)]
    given = [x for x, then in pairwise(steps) if then.opname == "RETURN_VALUE"]
    given += [x for x in steps if x.opname == "RETURN_CONST"]
    return all("CONST" in x.opname and x.argval is None for x in given)


HERE = "<the code of a rung>"


CALLED = "what is called in a rung, and how its inputs are watched"


class _Watched(ast.NodeTransformer):
    """Every call in the code of a rung, made through the function `CALLED`."""

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        if getattr(node.func, "id", "") != "super":  # it looks at who calls it
            node.args = [node.func, *node.args]
            node.func = ast.copy_location(ast.Name(CALLED, ast.Load()), node.func)
        return node


class _Inputs:
    """Calls what a rung calls, and sees which of its inputs an answer changes.

    `changed` holds them by the place in the call, with the name that the answer has for each.
    """

    def __init__(self, answer: Callable) -> None:
        self.answer, self.changed, self.calls_others = answer, {}, False

    def __call__(self, function: Callable, /, *values, **named):
        owner = getattr(function, "__self__", function)
        of_it = isinstance(self.answer, type) and isinstance(owner, self.answer)
        if not of_it and function is not self.answer:
            return function(*values, **named)
        method = getattr(function, "__name__", "") if of_it else ""
        given = {(method, place): x for place, x in [*enumerate(values), *named.items()]}
        before = {place: _arrays_in(x) for place, x in given.items()}
        self.calls_others |= any(isinstance(x, FunctionType) for x in given.values())
        result = function(*values, **named)
        names = _parameters(function)
        for (_, place), x in given.items():
            if _has_changed(x, before[method, place]):
                name = place if place in named else dict(enumerate(names)).get(place)
                self.changed.setdefault((method, place), (name or f"number {place + 1}", x))
        return result


def _parameters(function: Callable) -> list[str]:
    """The names of what a function takes by position, as far as they can be had."""
    try:
        parameters = inspect.signature(getattr(function, "forward", function)).parameters.values()
    except (TypeError, ValueError):
        return []
    return [x.name for x in parameters if x.kind <= x.POSITIONAL_OR_KEYWORD]


def run(
    code: str,
    name: str,
    answer: Callable,
    learners: AbstractContextManager | None = None,
    seed: int = 0,
):
    """The value of the last line, where `name` is this answer, and the inputs that it changes.

    The learner's comes with a context in which its lines are run; those that make the inputs, which
    may take longer, are not.
    """
    make_inputs, call_it, give = _compiled(code, name)
    inputs = _Inputs(answer)
    names = {"torch": torch, "np": np, name: answer, CALLED: inputs}
    given = {*names, "__builtins__"}
    with undisturbed() if learners else nullcontext():
        # The CPU's alone: to seed a GPU that nobody has used yet takes longer than most answers.
        torch.default_generator.manual_seed(seed)
        exec(make_inputs, names)
        made = {key: (x, _arrays_in(x)) for key, x in names.items() if key not in given}
        with learners or nullcontext():
            exec(call_it, names)
            value = eval(give, names)
    from_others = inputs.calls_others and not inputs.changed
    changed = {
        key: (Got(key) if from_others else key, x)
        for key, (x, before) in made.items()
        if _has_changed(x, before)
    }
    return value, inputs.changed | changed


class Got(str):
    """The name of what an answer was not given, but got from a function that it was given."""


def theirs(
    ladder: Ladder, code: str, answer: Callable, learners: AbstractContextManager, seed: int = 0
):
    """What the learner's answer gives on a rung.

    Raises:
        Mistake: it changes an input that the right answer leaves as it is.
    """
    value, changed = run(code, ladder.name, answer, learners, seed)
    for place, (name, x) in changed.items():
        if place not in ours(code, ladder.name, ladder.right)[1]:
            raise _changes_input(name, x)
    return value


@functools.lru_cache(maxsize=1024)
def _compiled(code: str, name: str) -> tuple[CodeType, CodeType, CodeType]:
    """What comes before the first line that uses `name`; the rest but the last line; this one."""
    *lines, last = ast.parse(code).body
    uses = [any(getattr(x, "id", "") == name for x in ast.walk(line)) for line in lines]
    first = [*uses, True].index(True)
    watched = [_Watched().visit(line) for line in lines[first:]]
    parts = [ast.Module(part, []) for part in (lines[:first], watched)]
    give = ast.fix_missing_locations(ast.Expression(_Watched().visit(last.value)))
    give = compile(give, HERE, "eval")
    return *(compile(part, HERE, "exec") for part in parts), give


@functools.lru_cache(maxsize=4096)
def ours(code: str, name: str, answer: Callable, seed: int = 0):
    """`_result` with an answer of ours, the right one or a known mistake: it is always the same."""
    return run(code, name, answer, seed=seed)


def _has_changed(x, before: list[np.ndarray]) -> bool:
    after = _arrays_in(x)
    return len(before) != len(after) or not all(map(_equal, before, after))


def _changes_input(name: str, x, example: str = "") -> Mistake:
    which = f"`{name}`, which a function that it is given hands out" * isinstance(name, Got)
    return Mistake(
        f"it changes {which or f'its input {name}'}; work on a copy, or use operations that make a "
        "new array",
        f"{example}\n{show({f'{name} afterwards': x})}".strip(),
    )


def _arrays_in(x) -> list[np.ndarray]:
    """Copies of all numbers in an input; none of what holds none."""
    if isinstance(x, torch.nn.Module):
        x = x.state_dict()
    if isinstance(x, Mapping):
        x = [*x.values()]
    if isinstance(x, list | tuple):
        return [np.asarray(len(x)), *(array for item in x for array in _arrays_in(item))]
    if isinstance(x, np.ndarray | int | float | str) or (torch.is_tensor(x) and not x.is_meta):
        return [as_array(x).copy()]
    return []


def check_computed(result, shown: str) -> None:
    """Raise a `Mistake` if it is nothing yet."""
    if isinstance(result, Iterator | Awaitable | AsyncIterator):
        kind = type(result).__name__
        raise Mistake(
            f"it returned a {kind}, which has computed nothing yet; return a list or a tensor",
            shown,
        )


def mistake_of(error: BaseException, example: str, trying: str = "") -> Exception:
    """What an error in the answer means: not attempted yet, or a mistake with its line."""
    own = own_steps(error)
    last = [*steps_of(error)][-1]
    if isinstance(error, NotImplementedError):
        operation = dis.opname[last.tb_frame.f_code.co_code[last.tb_lasti]]
        if last in own and operation == "RAISE_VARARGS":
            return NotAttempted()
        if last.tb_frame.f_code.co_name == "_forward_unimplemented":
            kind = type(last.tb_frame.f_locals["self"])
            methods = [name for name, x in vars(kind).items() if inspect.isfunction(x)]
            return Mistake(
                f"the class {kind.__name__} has no method `forward`; "
                f"it has {', '.join(methods) or 'none at all'}",
                example,
            )
    said = f"it raised {said_by(error)}"
    call = re.search(r"\(\) (takes|missing|got|received) ", said)
    if isinstance(error, TypeError) and not own and call:
        return Mistake(f"{said}: it cannot be called in this way", f"{where(error)}\n{example}")
    if isinstance(error, AttributeError) and not own:
        methods = [name for name in dir(type(error.obj)) if not name.startswith("_")][:12]
        return Mistake(f"{said}; it has {', '.join(methods)}", example)
    if not own and any(step.tb_frame.f_code.co_filename == HERE for step in steps_of(error)):
        return Mistake(f"what it returned cannot be used ({said_by(error)}){trying}", example)
    return Mistake(said + trying, f"{where(error)}\n{example}")


def said_by(error: BaseException) -> str:
    """The error in words, also one whose own text cannot be had."""
    try:
        return f"{type(error).__name__}: {error}".removesuffix(": ")
    except Exception:
        return type(error).__name__


def where(error: BaseException) -> str:
    """The last line in the traceback that is the learner's own."""
    if not (own := own_steps(error)):
        return "in the call itself: do the arguments fit?"
    [last] = traceback.extract_tb(own[-1], limit=1)
    return f"in {last.name}, line {last.lineno}: {last.line}"


LIBRARIES = tuple(str(Path(module.__file__).parent) for module in (book, companion, torch, np))
LIBRARIES += (sysconfig.get_path("stdlib"), HERE)


def own_steps(error: BaseException) -> list:
    """The steps of the traceback that are in the learner's code."""
    return [x for x in steps_of(error) if is_own(x.tb_frame.f_code.co_filename)]


def is_own(file: str) -> bool:
    return not file.startswith(LIBRARIES)


def steps_of(error: BaseException):
    step = error.__traceback__
    while step:
        yield step
        step = step.tb_next


def _copy(x):
    """A copy with the gradient's way back to the original."""
    return x.clone() if isinstance(x, torch.Tensor) else deepcopy(x)


def _equal(x, y) -> bool:
    x, y = as_array(x), as_array(y)
    return x.shape == y.shape and np.array_equal(x, y, equal_nan=x.dtype.kind == "f")
