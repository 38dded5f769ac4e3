"""How a check is written: a ladder of inputs, each of which isolates one idea.

A check is a function marked `@exercise`. It takes the learner's object, tries it on the rungs of
one or more ladders, and returns what they are; the first rung that fails is the mistake. What no
ladder can say a check finds out by itself: it calls the answer through `call` and raises `Mistake`.
"""

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
from pathlib import Path
from types import CodeType

import numpy as np
import torch

import book
import companion
from book.checking.altered import altered
from book.checking.ending import Watch, calling
from book.checking.results import (
    alike,
    as_array,
    difference,
    relation,
    show,
    visible_fact,
)
from book.checking.rungs import Ladder
from book.checking.undisturbed import repeatable, undisturbed
from book.checking.verdict import Verdict


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
        watch = Watch(_is_own)
        with undisturbed(), repeatable():
            try:
                if not callable(answer):
                    raise Mistake(
                        f"expected a function or a class, got {type(answer).__name__}; "
                        "give its name, without parentheses"
                    )
                verdict = Verdict("passed", tried=watch.run(check, answer))
            except NotAttempted:
                verdict = Verdict("not attempted")
            except Mistake as found:
                verdict = Verdict("mistake", found.mistake, found.example)
            except BaseException as error:
                if watch.interrupted and isinstance(error, KeyboardInterrupt):
                    raise
                verdict = _unforeseen(error, watch.shown, watch.trying)
        if watch.reason:  # whatever the answer has made of it
            return Verdict("mistake", watch.reason, watch.shown)
        return verdict

    judged.__annotations__ = check.__annotations__ | {"return": Verdict}
    return judged


COULD_NOT_JUDGE = "this check could not judge what it gives"


def _unforeseen(error: BaseException, shown: str, trying: str) -> Verdict:
    """What is said of an error that no check has foreseen: the answer's own, or the check's.

    The tests hold that no answer that is known is told the second.
    """
    if isinstance(error, SystemExit):
        shown = f"{where(error)}\n{shown}"
        return Verdict("mistake", f"it calls sys.exit{trying}; end it with `return`", shown)
    if _own(error):
        found = mistake_of(error, shown, trying)
        if isinstance(found, NotAttempted):
            return Verdict("not attempted")
        return Verdict("mistake", found.mistake, found.example)
    [last] = traceback.extract_tb([*_steps(error)][-1], limit=1)
    told = f"{COULD_NOT_JUDGE} ({_said(error)}){trying}; return plain numbers, lists or tensors"
    return Verdict("mistake", told, f"{shown}\nin {last.name}, line {last.lineno}: {last.line}")


AGAIN = "called again as at first, it returns the same as at first: nothing stays from call to call"


def climb(ladder: Ladder, answer: Callable, *, named: bool = True) -> None:
    """Hold an answer against the right one, rung by rung; the first that fails is its mistake.

    Numbers are compared as numbers: lists, arrays and tensors of any dtype are alike.

    Args:
        ladder: what the answer is tried on.
        answer: the learner's.
        named: whether it is looked up which mistake it is, which takes most of the time.

    Raises:
        Mistake: a rung fails: the one of the known mistakes that gives the same, or its idea.
        NotAttempted: the answer is still the exercise's.
    """
    for idea, code in [*ladder.rungs, (AGAIN, ladder.rungs[0].code)]:
        random = "torch.rand" in code or "torch.nn." in code
        shown = f"torch.manual_seed(0)\n{code}" if random else code
        result = _tried(answer, ladder.name, code, shown, idea)
        expected = _ours(code, ladder.name, ladder.right)
        if not alike(result, expected, ladder.optional):
            failed = _Failed(ladder, answer, code, result, expected)
            told = failed.told(idea) if named else idea
            raise Mistake(told, f"{shown}\n{difference(result, expected)}")


def _tried(answer: Callable, name: str, code: str, shown: str, idea: str):
    """What the learner's answer gives.

    Raises:
        Mistake, NotAttempted: it gives nothing.
    """
    trying = f", when this was tried: {idea}"
    try:
        result = _value(code, name, answer, calling(shown, trying))
    except Mistake as mistake:
        raise Mistake(mistake.mistake, f"{shown}\n{mistake.example}") from mistake
    except Exception as error:
        raise mistake_of(error, shown, trying) from error
    _check_given(result, shown)
    return result


class _Failed:
    """A rung on which an answer gives another result than expected, and what is told about it."""

    def __init__(self, ladder: Ladder, answer: Callable, code: str, result, expected) -> None:
        self.ladder, self.answer, self.code = ladder, answer, code
        self.result, self.expected = result, expected

    def told(self, idea: str) -> str:
        """What is wrong, from the most certain to what holds of every wrong answer, the idea."""
        known = self.known_mistake()
        if known and self.agreement(self.ladder.mistakes[known]) == len(self.everywhere):
            return known
        fact = self.relation() or self.other_argument()
        if known and not fact and self.is_made_beside_another(self.ladder.mistakes[known]):
            return known
        if known:
            idea += f". One mistake that gives the same result here: {known}"
        fact = fact or visible_fact(self.result, self.expected, self.ladder.optional)
        return f"{fact}: {idea}" if fact else idea

    def known_mistake(self) -> str:
        """The known mistake that gives this result, and most of the others; or nothing."""
        here = [text for text, wrong in self.ladder.mistakes.items() if self.is_given_by(wrong)]
        return max(here, key=lambda text: self.agreement(self.ladder.mistakes[text]), default="")

    def is_made_beside_another(self, wrong: Callable) -> bool:
        """Whether the answer makes this mistake, though not alone.

        It gives the same on most rungs on which the mistake shows, two at least, and what is
        expected on none of them.
        """
        shows = {
            code: (there, expected)
            for code, (there, expected) in self.everywhere.items()
            if not _would_be(expected, code, self.ladder, wrong)
        }
        same = sum(_would_be(there, code, self.ladder, wrong) for code, (there, _) in shows.items())
        spared = any(alike(there, x, self.ladder.optional) for there, x in shows.values())
        return same >= 2 and 2 * same > len(shows) and not spared

    def relation(self) -> str:
        """How all results follow from what is expected; or nothing.

        On one input a number is soon twice another. Five numbers on three inputs are not.
        """
        results = self.everywhere.values()
        return relation(results, least=5) if len(results) >= 3 else ""

    def other_argument(self) -> str:
        """The one change of an argument with which the right answer gives all these results.

        There is none for a class: its objects come of other calls.
        """
        if not inspect.isfunction(self.ladder.right) or len(self.everywhere) < 3:
            return ""
        calls = []

        def recorded(*values, **named):
            calls.append((values, named))
            return self.ladder.right(*values, **named)

        _value(self.code, self.ladder.name, recorded)
        values, named = calls[0]
        for case, wrong in altered(self.ladder.right, *values, **named).items():
            if self.is_given_by(wrong) and self.agreement(wrong) == len(self.everywhere):
                return f"what it returns, on every input of this check, would be right if {case}"
        return ""

    def is_given_by(self, wrong: Callable) -> bool:
        """Whether a wrong answer gives this result, too."""
        return _would_be(self.result, self.code, self.ladder, wrong)

    def agreement(self, wrong: Callable) -> int:
        """On how many rungs a wrong answer gives what the learner's does."""
        results = self.everywhere.items()
        return sum(_would_be(there, code, self.ladder, wrong) for code, (there, _) in results)

    @functools.cached_property
    def everywhere(self) -> dict:
        """The code of each rung on which the answer gives anything -> what it gives, the right."""
        results = {}
        for idea, code in self.ladder.rungs:
            try:
                watched = calling(code, f", when this was tried: {idea}")
                there = _value(code, self.ladder.name, self.answer, watched)
            except Exception:  # where it raises, nobody can say which mistake it makes
                continue
            results[code] = there, _ours(code, self.ladder.name, self.ladder.right)
        return results


HERE = "<the code of a rung>"


def _value(code: str, name: str, answer: Callable, learners: AbstractContextManager | None = None):
    """The value of the last line, where `name` is this answer: the learner's, or one of ours.

    The learner's comes with a context in which its lines are run; those that make the inputs, which
    may take longer, are not.

    Raises:
        Mistake: an input has changed.
    """
    make_inputs, call_it, give = _compiled(code, name)
    names = {"torch": torch, "np": np, name: answer}
    given = {*names, "__builtins__"}
    with undisturbed() if learners else nullcontext():
        # The CPU's alone: to seed a GPU that nobody has used yet takes longer than most answers.
        torch.default_generator.manual_seed(0)
        exec(make_inputs, names)
        inputs = {key: (x, _arrays_in(x)) for key, x in names.items() if key not in given}
        with learners or nullcontext():
            exec(call_it, names)
            value = eval(give, names)
    for key, (x, before) in inputs.items():
        _check_unchanged(key, x, before)
    return value


@functools.lru_cache(maxsize=1024)
def _compiled(code: str, name: str) -> tuple[CodeType, CodeType, CodeType]:
    """What comes before the first line that uses `name`; the rest but the last line; this one."""
    *lines, last = ast.parse(code).body
    uses = [any(getattr(x, "id", "") == name for x in ast.walk(line)) for line in lines]
    first = [*uses, True].index(True)
    parts = [ast.Module(part, []) for part in (lines[:first], lines[first:])]
    give = compile(ast.Expression(last.value), HERE, "eval")
    return *(compile(part, HERE, "exec") for part in parts), give


@functools.lru_cache(maxsize=4096)
def _ours(code: str, name: str, answer: Callable):
    """The value with an answer of ours, the right one or a known mistake: it is always the same."""
    return _value(code, name, answer)


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
        return [as_array(x).copy()]
    return []


def _would_be(result, code: str, ladder: Ladder, wrong: Callable) -> bool:
    """Whether a wrong answer gives this result.

    It need not take all that the right one takes. Of what it raises, only what comes of its mistake
    is let pass: a name that is not there would be an error of the check.
    """
    try:
        given = _ours(code, ladder.name, wrong)
    except (Mistake, LookupError, RuntimeError, TypeError, ValueError):
        return False
    if ladder.optional and isinstance(result, tuple) and not isinstance(given, tuple):
        result = result[0]  # of a mistake that only says what comes out first
    return alike(result, given, ladder.optional)


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
        _check_unchanged(name, x, before[name], shown)
    _check_given(result, shown)
    return result


def _check_given(result, shown: str) -> None:
    """Raise a `Mistake` if it is nothing, or nothing yet."""
    if result is None:
        raise Mistake("it returned None; is the `return` missing?", shown)
    if isinstance(result, Iterator | Awaitable | AsyncIterator):
        kind = type(result).__name__
        raise Mistake(
            f"it returned a {kind}, which has computed nothing yet; return a list or a tensor",
            shown,
        )


def mistake_of(error: BaseException, example: str, trying: str = "") -> Exception:
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
    said = f"it raised {_said(error)}"
    call = re.search(r"\(\) (takes|missing|got|received) ", said)
    if isinstance(error, TypeError) and not own and call:
        return Mistake(f"{said}: it cannot be called in this way", f"{where(error)}\n{example}")
    if isinstance(error, AttributeError) and not own:
        methods = [name for name in dir(type(error.obj)) if not name.startswith("_")][:12]
        return Mistake(f"{said}; it has {', '.join(methods)}", example)
    if not own and any(step.tb_frame.f_code.co_filename == HERE for step in _steps(error)):
        return Mistake(f"what it returned cannot be used ({_said(error)}){trying}", example)
    return Mistake(said + trying, f"{where(error)}\n{example}")


def _said(error: BaseException) -> str:
    """The error in words, also one whose own text cannot be had."""
    try:
        return f"{type(error).__name__}: {error}".removesuffix(": ")
    except Exception:
        return type(error).__name__


def where(error: BaseException) -> str:
    """The last line in the traceback that is the learner's own."""
    if not (own := _own(error)):
        return "in the call itself: do the arguments fit?"
    [last] = traceback.extract_tb(own[-1], limit=1)
    return f"in {last.name}, line {last.lineno}: {last.line}"


LIBRARIES = tuple(str(Path(module.__file__).parent) for module in (book, companion, torch, np))
LIBRARIES += (sysconfig.get_path("stdlib"), HERE)


def _own(error: BaseException) -> list:
    """The steps of the traceback that are in the learner's code."""
    return [x for x in _steps(error) if _is_own(x.tb_frame.f_code.co_filename)]


def _is_own(file: str) -> bool:
    return not file.startswith(LIBRARIES)


def _steps(error: BaseException):
    step = error.__traceback__
    while step:
        yield step
        step = step.tb_next


def longest_chain(result: torch.Tensor) -> int:
    """The number of operations in a row that autograd has recorded on the way to the result.

    Raises:
        Mistake: it has recorded none.
    """
    if getattr(result, "grad_fn", None) is None:
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
    x, y = as_array(x), as_array(y)
    return x.shape == y.shape and np.array_equal(x, y, equal_nan=x.dtype.kind == "f")
