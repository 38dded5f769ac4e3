"""How a check is written: a ladder of inputs, each of which isolates one idea.

A check is a function marked `@exercise`. It takes the learner's object, tries it on the rungs of
one or more ladders, and returns what they are; the first rung that fails is the mistake. What no
ladder can say a check finds out by itself: it calls the answer through `call` and raises `Mistake`.
"""

import ast
import dis
import functools
import inspect
import math
import sysconfig
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from copy import deepcopy
from itertools import permutations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

import companion
from companion.checks.altered import altered
from companion.checks.undisturbed import repeatable, undisturbed
from companion.checks.verdict import Verdict


class Mistake(Exception):
    """The answer is wrong: the mistake by name, and the smallest input that shows it."""

    def __init__(self, mistake: str, example: str = "") -> None:
        super().__init__(mistake)
        self.mistake, self.example = mistake, example


class NotAttempted(Exception):
    """The answer still raises the NotImplementedError of the exercise."""


def exercise(check: Callable[..., str]) -> Callable[..., Verdict]:
    """Make a check give a `Verdict`: what it returns was tried, what it raises is the mistake."""

    @functools.wraps(check)
    def judged(answer) -> Verdict:
        with undisturbed(), repeatable():
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


class Rung(NamedTuple):
    """One idea, and an input on which it alone decides.

    Args:
        idea: what holds on this input, in words; a learner reads it where it does not.
        code: what a learner can run again, in the words of the exercise; torch and np are there.
            Its last line is an expression, whose value is judged. The lines before the first one
            that names the answer make its inputs, which must stay as they are.
        instead: a mistake by name -> an answer that makes it, in the form of the right one.
    """

    idea: str
    code: str
    instead: Mapping[str, Callable] = {}


AGAIN = "called again as at first, it returns the same as at first: nothing stays from call to call"


def ladder(rungs: Sequence[Rung], right: Callable, *, optional: int = 0, **answer) -> None:
    """Hold an answer against the right one, rung by rung; the first that fails is its mistake.

    Numbers are compared as numbers: lists, arrays and tensors of any dtype are alike.

    Args:
        rungs: from the simplest input to the hardest; the first is tried once more at the end.
        right: the right answer, which is called as the learner's is; several results are a tuple.
        optional: how many of the last results an answer may leave out.
        answer: one keyword, the name that the answer has in the rungs: `attention=answer`.

    Raises:
        Mistake: a rung fails: the one of its known mistakes that gives the same, or its idea.
        NotAttempted: the answer is still the exercise's.
    """
    [(name, given)] = answer.items()
    for idea, code, instead in [*rungs, Rung(AGAIN, rungs[0].code)]:
        random = "torch.rand" in code or "torch.nn." in code
        shown = f"torch.manual_seed(0)\n{code}" if random else code
        try:
            result = _value(code, name, given, learners=True)
        except Mistake as mistake:
            raise Mistake(mistake.mistake, f"{shown}\n{mistake.example}") from mistake
        except Exception as error:
            raise mistake_of(error, shown, f", when this was tried: {idea}") from error
        if result is None:
            raise Mistake("it returned None; is the `return` missing?", shown)
        expected = _value(code, name, right)
        if _alike(result, expected, optional):
            continue
        example = f"{shown}\n{_difference(result, expected)}"
        matching = [
            mistake
            for mistake, wrong in instead.items()
            if _would_be(result, code, name, wrong, optional)
        ]
        everywhere = _results(given, right, rungs, name)
        if matching:
            agreement = {
                mistake: _agreement(everywhere, name, instead[mistake], optional)
                for mistake in matching
            }
            likely = max(agreement, key=agreement.get)
            if agreement[likely] == len(everywhere):
                raise Mistake(likely, example)
        # On one input a number is soon twice another. Five numbers on three inputs are not.
        fact = ""
        if len(everywhere) >= 3:
            fact = _relation(everywhere.values(), least=5)
            fact = fact or _case(result, everywhere, code, name, right, optional)
        if matching:
            idea += f". One mistake that gives the same result here: {likely}"
        else:
            fact = fact or _fact(result, expected, optional)
        raise Mistake(f"{fact}: {idea}" if fact else idea, example)


def _results(answer: Callable, right: Callable, rungs: Sequence[Rung], name: str) -> dict:
    """The code of each rung on which the answer gives anything -> what it gives, and the right."""
    results = {}
    for rung in rungs:
        try:
            there = _value(rung.code, name, answer, learners=True)
        except Exception:
            continue  # the learner's own: where it raises, nobody can say which mistake it makes
        results[rung.code] = there, _value(rung.code, name, right)
    return results


def _agreement(results: dict, name: str, wrong: Callable, optional: int) -> int:
    """On how many rungs a wrong answer gives these results."""
    return sum(
        _would_be(there, code, name, wrong, optional) for code, (there, _) in results.items()
    )


def _case(result, results: dict, code: str, name: str, right: Callable, optional: int) -> str:
    """The one change of an argument with which the right answer gives all these results."""
    if not inspect.isfunction(right):
        return ""
    calls = []

    def recorded(*values, **named):
        calls.append((values, named))
        return right(*values, **named)

    _value(code, name, recorded)
    values, named = calls[0]
    for case, wrong in altered(right, *values, **named).items():
        same = _would_be(result, code, name, wrong, optional)
        if same and _agreement(results, name, wrong, optional) == len(results):
            return f"what it returns, on every input of this check, would be right if {case}"
    return ""


KNOWN_FACTORS = {
    "in percent": 100,
    "1 / ln 2, as with logarithms to base 2": 1 / math.log(2),
    "ln 2, as with natural logarithms for those to base 2": math.log(2),
    "1 / ln 10, as with logarithms to base 10": 1 / math.log(10),
    "ln 2 / ln 10, as with logarithms to base 10 for those to base 2": math.log10(2),
}


def _relation(results: Iterable[tuple], least: int = 1) -> str:
    """How all results follow from what is expected, if that is `least` different numbers."""
    pairs = []
    for result, expected in results:
        if isinstance(expected, tuple) and _alike(result, expected):
            continue  # a shape, say
        try:
            x, y = _numbers(_alone(result)), _numbers(expected)
        except (TypeError, ValueError):
            return ""
        if x.shape != y.shape or "b" in (x.dtype.kind, y.dtype.kind):
            return ""
        pairs.append((x.ravel().astype(float), y.ravel().astype(float)))
    if not pairs:
        return ""
    x, y = map(np.concatenate, zip(*pairs, strict=True))
    if not np.isfinite([x, y]).all() or len(np.unique(y.round(4))) < least:
        return ""
    factor, offset = (x * y).sum() / max((y * y).sum(), 1e-12), (x - y).mean()
    known = [
        said for said, number in KNOWN_FACTORS.items() if math.isclose(factor, number, rel_tol=1e-4)
    ]
    told = f"{factor:.4g} times{f' ({known[0]})' if known else ''} what is expected"
    with np.errstate(all="ignore"):
        relations = {
            told: factor * y if abs(factor) > 1e-4 else None,
            f"{offset:+.4g} off": y + offset,
            "1 minus what is expected": 1 - y,
            "the square of what is expected": y * y,
            "the square root of what is expected": np.sqrt(y),
            "1 divided by what is expected": 1 / y,
        }
    for said, numbers in relations.items():
        if numbers is not None and close(x, numbers):
            return f"all that it returns, on every input of this check, is {said}"
    return ""


HERE = "<the code of a rung>"


def _value(code: str, name: str, answer: Callable, *, learners: bool = False):
    """The value of the last line, where `name` is this answer: the learner's, or one of ours.

    Raises:
        Mistake: an input has changed.
    """
    *lines, last = ast.parse(code).body
    uses = [any(getattr(x, "id", "") == name for x in ast.walk(line)) for line in lines]
    first = [*uses, True].index(True)
    names = {"torch": torch, "np": np, name: answer}
    given = {*names, "__builtins__"}
    with undisturbed() if learners else nullcontext():
        # The CPU's alone: to seed a GPU that nobody has used yet takes longer than most answers.
        torch.default_generator.manual_seed(0)
        exec(compile(ast.Module(lines[:first], []), HERE, "exec"), names)
        inputs = {key: (x, _arrays_in(x)) for key, x in names.items() if key not in given}
        exec(compile(ast.Module(lines[first:], []), HERE, "exec"), names)
        value = eval(compile(ast.Expression(last.value), HERE, "eval"), names)
    for key, (x, before) in inputs.items():
        _check_unchanged(key, x, before)
    return value


def _check_unchanged(name: str, x, before: list[np.ndarray], example: str = "") -> None:
    after = _arrays_in(x)
    if len(before) != len(after) or not all(map(_equal, before, after)):
        raise Mistake(
            f"it changes its input {name}; work on a copy, or use operations that make a new array",
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
        return [_numpy(x).copy()]
    return []


def _would_be(result, code: str, name: str, wrong: Callable, optional: int) -> bool:
    """Whether a wrong answer gives this result.

    It need not take all that the right one takes. Of what it raises, only what comes of its mistake
    is let pass: a name that is not there would be an error of the check.
    """
    try:
        given = _value(code, name, wrong)
    except (Mistake, LookupError, RuntimeError, TypeError, ValueError):
        return False
    if optional and isinstance(result, tuple) and not isinstance(given, tuple):
        result = result[0]  # of a mistake that only says what comes out first
    return _alike(result, given, optional)


def _alike(result, expected, optional: int = 0) -> bool:
    """Whether a result is the expected one, in whatever form its numbers come."""
    if isinstance(expected, tuple):
        result = result if isinstance(result, tuple | list) else (result,)
        right_count = len(expected) - optional <= len(result) <= len(expected)
        return right_count and all(map(_alike, result, expected))
    if not isinstance(expected, torch.Tensor | np.ndarray | np.number | list | int | float):
        return type(result) is type(expected) and result == expected
    try:
        return close(_numbers(result), expected) or close(_numbers(_alone(result)), expected)
    except (TypeError, ValueError):
        return False


def _alone(result):
    """The one array of a list or tuple that holds just one."""
    match result:
        case [torch.Tensor() | np.ndarray() as x] if x.ndim:
            return x
    return result


def _numbers(x) -> np.ndarray:
    """An array of what an answer has returned, nested lists of tensors included.

    Raises:
        TypeError: it is something else.
        ValueError: its rows have several lengths.
    """
    if isinstance(x, list | tuple):
        return np.asarray([_numbers(item) for item in x])
    if (array := _numpy(x)).dtype.kind not in "biuf":
        raise TypeError(f"expected numbers, got {type(x).__name__}")
    return array


def close(x, y) -> bool:
    """Whether two arrays have the same shape and the same numbers: of floats, as far as float32."""
    x, y = _numpy(x), _numpy(y)
    if x.dtype.kind != "f" and y.dtype.kind != "f":
        return np.array_equal(x, y)
    return x.shape == y.shape and np.allclose(x, y, rtol=1e-4, atol=1e-5, equal_nan=True)


def _fact(result, expected, optional: int = 0) -> str:
    """What can be seen of a wrong result without knowing why: its form; or nothing."""
    if isinstance(expected, tuple):
        results = result if isinstance(result, tuple | list) else (result,)
        if not len(expected) - optional <= len(results) <= len(expected):
            found = len(results)
            return f"it returned {found} result{'s' * (found != 1)}, expected {len(expected)}"
        facts = map(_fact, results, expected)
        return next(filter(None, facts), "")
    if _alike(result, expected):
        return ""
    try:
        x, y = _numbers(_alone(result)), _numbers(expected)
    except (TypeError, ValueError):
        kinds = type(result).__name__, type(expected).__name__
        return "it returned {}, expected {}".format(*kinds) if kinds[0] != kinds[1] else ""
    if x.shape != y.shape:
        seen = _seen_in_the_shape(x, y)
        return f"it returned shape {x.shape}, expected {y.shape}{seen}"
    if not np.isfinite(x).all() and np.isfinite(y).all():
        return "it returned NaN or infinity"
    return _seen_in_the_numbers(x, y)


def _seen_in_the_shape(x: np.ndarray, y: np.ndarray) -> str:
    """How numbers in another shape belong to the expected ones, if they are the same."""
    if x.ndim == y.ndim and sorted(x.shape) == sorted(y.shape):
        for axes in permutations(range(x.ndim)):
            if close(x.transpose(axes), y):
                return f", which x.permute{axes} would make of it"
    if x.size == y.size and close(x.reshape(y.shape), y):
        return ", with the right numbers in it"
    for (more, less), name in ((x, y), "it"), ((y, x), "what is expected"):
        for axis in range(more.ndim if more.ndim == less.ndim + 1 and more.size else 0):
            for done in ("mean", "sum"):
                if close(getattr(more, done)(axis), less):
                    return f", the {done} of {name} over axis {axis}"
    return ""


def _seen_in_the_numbers(x: np.ndarray, y: np.ndarray) -> str:
    """How wrong numbers belong to the expected ones of the same shape, if it can be seen."""
    if y.dtype.kind == "b" and y.size > 1:
        return "True and False have changed places" if np.array_equal(x, ~y) else ""
    x, y = x.astype(float), y.astype(float)
    if not np.isfinite(x).all() or not np.isfinite(y).all():
        return ""
    if close(x, -y):
        return "the sign is turned"
    if x.size < 2 or close(y, np.full_like(y, y.flat[0])):
        return ""
    if y.ndim > 1 and y.shape[-1] == y.shape[-2] and close(np.swapaxes(x, -1, -2), y):
        return "rows and columns have changed places"
    for axis in range(y.ndim):
        if close(np.flip(x, axis), y):
            return f"the numbers are in reverse order{f' along axis {axis}' * (y.ndim > 1)}"
        if close(x, np.broadcast_to(y.mean(axis, keepdims=True), y.shape)):
            return f"each number is the mean of what is expected along axis {axis}"
        if close(np.roll(x, 1, axis), y) or close(np.roll(x, -1, axis), y):
            return f"the numbers are one place off{f' along axis {axis}' * (y.ndim > 1)}"
    if close(np.sort(x, None), np.sort(y, None)):
        return "the numbers are right, but they stand in other places"
    if close(x - y, np.full_like(y, (x - y).flat[0])):
        off = (x - y).flat[0]
        return f"all numbers are too {'large' if off > 0 else 'small'} by {abs(off):.4g}"
    if (y != 0).any() and not close(x, 0 * x):
        factor = (x * y).sum() / (y * y).sum()
        if close(x, factor * y):
            return f"all numbers are {factor:.4g} times what is expected"
    if (y > 0).all() and close(x, np.log(y)):
        return "what it returns are the logarithms of what is expected"
    if close(x, np.exp(np.minimum(y, 50))):
        return "what it returns are the exponentials of what is expected"
    if (y < 0).any() and close(x, abs(y)):
        return "what it returns are the absolute values of what is expected"
    if close(y, np.round(y)):
        return _place_of_the_wrong(x, y)  # small whole numbers are soon alike by chance
    for digits in range(4):
        if close(x, y.round(digits)):
            return f"the numbers are rounded to multiples of {10.0**-digits:g}"
    if close(x, np.trunc(y)):
        return "what is behind the point is cut off"
    for axis, length in enumerate(y.shape):
        if length < 3:
            continue
        along = f" along axis {axis}" * (y.ndim > 1)
        if close(x, y.cumsum(axis)):
            return f"it returned the running sums of what is expected{along}"
        totals = x.sum(axis, keepdims=True), y.sum(axis, keepdims=True)
        if all((abs(total) > 1e-6).all() for total in totals) and close(
            x / totals[0], y / totals[1]
        ):
            return f"the numbers keep their ratios{along}, but not their sum"
        differences = x - y
        if close(differences, np.broadcast_to(differences.mean(axis, keepdims=True), y.shape)):
            return f"the numbers keep their differences{along}, but not their mean"
    return _place_of_the_wrong(x, y)


def _place_of_the_wrong(x: np.ndarray, y: np.ndarray) -> str:
    """Where wrong numbers stand, if it is one end of an axis, or all but one."""
    right = np.isclose(x, y, rtol=1e-4, atol=1e-5)
    for axis, length in enumerate(y.shape):
        along = f" of axis {axis}" * (y.ndim > 1)
        if length < 3:
            continue
        for end, said in (0, "beginning"), (length - 1, "end"):
            here = np.moveaxis(right, axis, 0)[end]
            others = np.delete(right, end, axis)
            if others.all():
                return f"all is right but at the {said}{along}"
            if here.all() and not others.any():
                return f"nothing is right but at the {said}{along}"
    if y.ndim > 1 and y.shape[-1] == y.shape[-2] > 2:
        diagonal = np.broadcast_to(np.eye(y.shape[-1], dtype=bool), y.shape)
        if right[~diagonal].all():
            return "all is right but on the diagonal"
        if right[diagonal].all() and not right[~diagonal].any():
            return "nothing is right but on the diagonal"
    return ""


def _difference(result, expected) -> str:
    """Expected and yours: the first two that differ, and where, if they are large."""
    if isinstance(expected, tuple):
        results = result if isinstance(result, tuple | list) else (result,)
        for i, (x, y) in enumerate(zip(results, expected, strict=False), start=1):
            if not _alike(x, y):
                which = f" as result {i} of {len(expected)}" if len(expected) > 1 else ""
                return f"expected{which}{_difference(x, y).removeprefix('expected')}"
    try:
        x, y = _numbers(_alone(result)), _numbers(expected)
    except (TypeError, ValueError):
        return show({"expected": expected, "yours": result})
    if x.shape == y.shape and (x.size > 16 or _text(x) == _text(y)):
        apart = np.abs(x.astype(float) - y) if np.isfinite(x).all() else ~np.isfinite(x)
        place = tuple(int(i) for i in np.unravel_index(apart.argmax(), x.shape))
        at = f" at {list(place)}" if place else ""
        x, y = (f"{z[place]:.6g}" if z.dtype.kind == "f" else z[place].item() for z in (x, y))
        return f"expected{at} = {y}\nyours = {x}"
    return show({"expected": y, "yours": x})


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
        with undisturbed():
            result = answer(*given.values())
    except Exception as error:
        raise mistake_of(error, shown) from error
    for name, x in given.items():
        _check_unchanged(name, x, before[name], shown)
    if result is None:
        raise Mistake("it returned None; is the `return` missing?", shown)
    return result


def mistake_of(error: Exception, example: str, trying: str = "") -> Exception:
    """What an error in the answer means: not attempted yet, or a mistake with its line."""
    own = _own(error)
    last = [*_steps(error)][-1]
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
    said = f"it raised {type(error).__name__}: {error}"
    if isinstance(error, TypeError) and not own:
        return Mistake(f"{said}: it cannot be called in this way", f"{where(error)}\n{example}")
    if isinstance(error, AttributeError) and not own:
        methods = [name for name in dir(type(error.obj)) if not name.startswith("_")][:12]
        return Mistake(f"{said}; it has {', '.join(methods)}", example)
    return Mistake(said + trying, f"{where(error)}\n{example}")


def where(error: Exception) -> str:
    """The last line in the traceback that is the learner's own."""
    if not (own := _own(error)):
        return "in the call itself: do the arguments fit?"
    [last] = traceback.extract_tb(own[-1], limit=1)
    return f"in {last.name}, line {last.lineno}: {last.line}"


LIBRARIES = tuple(str(Path(module.__file__).parent) for module in (companion, torch, np))
LIBRARIES += (sysconfig.get_path("stdlib"), HERE)


def _own(error: Exception) -> list:
    """The steps of the traceback that are in the learner's code."""
    return [x for x in _steps(error) if not x.tb_frame.f_code.co_filename.startswith(LIBRARIES)]


def _steps(error: Exception):
    step = error.__traceback__
    while step:
        yield step
        step = step.tb_next


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
