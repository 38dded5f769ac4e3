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
from itertools import pairwise
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
    can_refute,
    count,
    difference,
    exchanged,
    is_of_numbers,
    not_finite,
    relation,
    show,
    visible_fact,
)
from book.checking.rungs import Ladder, Rung
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
        Mistake: a rung fails: the one known mistake that fits all inputs, or what the rung is.
        NotAttempted: the answer is still the exercise's.
    """
    for rung in [*ladder.rungs, Rung(AGAIN, ladder.rungs[0].code)]:
        result = _tried(ladder, answer, rung)
        expected, _ = _ours(rung.code, ladder.name, ladder.right)
        if not alike(result, expected, ladder.optional):
            failed = _Failed(ladder, answer, rung, result, expected)
            raise failed.mistake() if named else Mistake(failed.case, failed.example())


def _shown(code: str) -> str:
    """The code of a rung, as a learner can run it again with the same random numbers."""
    return f"torch.manual_seed(0)\n{code}" if RANDOM.search(code) else code


RANDOM = re.compile(r"\btorch\.(rand|bernoulli|multinomial)|\bnn\.")


def _tried(ladder: Ladder, answer: Callable, rung: Rung):
    """What the learner's answer gives.

    Raises:
        Mistake, NotAttempted: it gives nothing.
    """
    shown, trying = _shown(rung.code), f", when this was tried: {rung.idea}"
    try:
        result = _theirs(ladder, rung.code, answer, calling(shown, trying))
    except Mistake as mistake:
        raise Mistake(mistake.mistake, f"{shown}\n{mistake.example}") from mistake
    except Exception as error:
        raise mistake_of(error, shown, trying) from error
    _check_computed(result, shown)
    return result


class _Failed:
    """A rung on which an answer gives another result than expected, and what is told about it."""

    def __init__(self, ladder: Ladder, answer: Callable, rung: Rung, result, expected) -> None:
        self.ladder, self.answer, self.code = ladder, answer, rung.code
        self.result, self.expected = result, expected
        self.case = rung.idea if rung.idea == AGAIN else f"on this case: {rung.idea}"

    def mistake(self) -> Mistake:
        """What is wrong, from the most certain to what holds of every wrong answer, the case."""
        if known := self.known_mistake():
            return Mistake(known, self.example(self.telling(known)))
        fact = self.nothing() or not_finite(self.result, self.expected) or self.idle()
        fact = fact or self.relation() or exchanged([*self.everywhere.values()])
        fact = fact or self.other_argument()
        fact = fact or self.seen()
        return Mistake(f"{fact}; {self.case}" if fact else self.case, self.example())

    def example(self, code: str = "") -> str:
        """The input of a rung, of the one that fails if none is given, and the two results."""
        results = difference(*(self.everywhere[code] if code else (self.result, self.expected)))
        shown = _shown(code or self.code)
        return f"{results}\n\n{shown}" if shown.count("\n") > 20 else f"{shown}\n{results}"

    def known_mistake(self) -> str:
        """The one known mistake that gives what the answer gives, on every input; or nothing."""
        fitting = [text for text, wrong in self.ladder.mistakes.items() if self.fits(wrong)]
        return fitting[0] if len(fitting) == 1 else ""

    def telling(self, known: str) -> str:
        """The code of the first rung on which fewest other known mistakes give the same."""
        others = [wrong for text, wrong in self.ladder.mistakes.items() if text != known]
        same = {
            code: sum(_would_be(result, code, self.ladder, wrong) for wrong in others)
            for code, (result, expected) in self.everywhere.items()
            if not alike(result, expected, self.ladder.optional)
        }
        return min(same, key=same.get, default="")

    def nothing(self) -> str:
        """That it returned None, and whether it always does."""
        if not _is_nothing(self.result):
            return ""
        always = all(_is_nothing(there) for there, _ in self.everywhere.values())
        return _none_of(self.answer) if always else "it returned None, not always"

    def seen(self) -> str:
        """What can be seen of the result; of its numbers, if no other input refutes it."""
        optional = self.ladder.optional
        fact = visible_fact(self.result, self.expected, optional)
        if not is_of_numbers(fact):
            return fact
        wrong = [(x, y) for x, y in self.everywhere.values() if not alike(x, y, optional)]
        if count([x for x, _ in wrong]) < 2:
            return ""
        least = min(count([self.result]), 4)
        facts = [visible_fact(*x, optional) for x in wrong if can_refute(x[1], least)]
        kinds = {KIND.sub("", x) for x in facts if not x or is_of_numbers(x)}
        return fact if kinds <= {KIND.sub("", fact)} else ""

    def idle(self) -> str:
        """That it returns the same whatever the input, or its arguments as they are; or nothing."""
        results = [there for there, _ in self.everywhere.values()]
        if len(results) < 3 or not inspect.isfunction(self.ladder.right):
            return ""
        one = isinstance(results[0], torch.Tensor | int | float) and count(results[:1]) == 1
        if one and all(alike(x, results[0]) for x in results):
            return "it returns the same on every input of this check"
        if all(self._is_given(there, code) for code, (there, _) in self.everywhere.items()):
            return "it returns what it was given, as it was"
        return ""

    def _is_given(self, result, code: str) -> bool:
        values, named = self._call(code)
        given = [*values, *named.values()]
        several = result if isinstance(result, tuple) else (result,)
        same = [torch.is_tensor(x) and any(alike(x, y) for y in given) for x in several]
        return bool(same) and all(same)

    def _call(self, code: str) -> tuple[tuple, dict]:
        """What the answer is called with first in this rung."""
        calls = []

        def recorded(*values, **named):
            calls.append((values, named))
            return self.ladder.right(*values, **named)

        _result(code, self.ladder.name, recorded)
        return calls[0]

    def relation(self) -> str:
        """How all results follow from what is expected; or nothing.

        On one input a number is soon twice another. Five numbers on three inputs are not.
        """
        results = self.everywhere.values()
        return relation(results, least=5) if len(results) >= 3 else ""

    def other_argument(self) -> str:
        """The changes of an argument with which the right answer gives all these results.

        Nothing if more than two would do, or if fewer than three numbers on two inputs speak for
        it. There is none for a class: its objects come of other calls.
        """
        wrong = [x for x, y in self.everywhere.values() if not alike(x, y, self.ladder.optional)]
        few = len(wrong) < 2 and count(wrong) < 3
        if few or not inspect.isfunction(self.ladder.right) or len(self.everywhere) < 3:
            return ""
        values, named = self._call(self.code)
        cases = altered(self.ladder.right, *values, **named).items()
        cases = [case for case, wrong in cases if self.fits(wrong)]
        if not 1 <= len(cases) <= 2:
            return ""
        cases = ", or if ".join(cases)
        return f"what it returns, on every input of this check, would be right if {cases}"

    def fits(self, wrong: Callable) -> bool:
        """Whether a wrong answer gives what the learner's does wherever this gives anything."""
        results = [(self.code, (self.result, self.expected)), *self.everywhere.items()]
        return all(_would_be(there, code, self.ladder, wrong) for code, (there, _) in results)

    @functools.cached_property
    def everywhere(self) -> dict:
        """The code of each rung on which the answer gives anything -> what it gives, the right."""
        results = {}
        for idea, code in self.ladder.rungs:
            try:
                watched = calling(code, f", when this was tried: {idea}")
                there = _theirs(self.ladder, code, self.answer, watched)
            except Exception:  # where it raises, nobody can say which mistake it makes
                continue
            results[code] = there, _ours(code, self.ladder.name, self.ladder.right)[0]
        return results


KIND = re.compile(r" (along|of) axis \d|-?\d[\d.e+-]*")  # what differs from input to input


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
        self.answer, self.changed = answer, {}

    def __call__(self, function: Callable, /, *values, **named):
        owner = getattr(function, "__self__", function)
        of_it = isinstance(self.answer, type) and isinstance(owner, self.answer)
        if not of_it and function is not self.answer:
            return function(*values, **named)
        method = getattr(function, "__name__", "") if of_it else ""
        given = {(method, place): x for place, x in [*enumerate(values), *named.items()]}
        before = {place: _arrays_in(x) for place, x in given.items()}
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


def _result(code: str, name: str, answer: Callable, learners: AbstractContextManager | None = None):
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
        torch.default_generator.manual_seed(0)
        exec(make_inputs, names)
        made = {key: (x, _arrays_in(x)) for key, x in names.items() if key not in given}
        with learners or nullcontext():
            exec(call_it, names)
            value = eval(give, names)
    changed = {key: (key, x) for key, (x, before) in made.items() if _has_changed(x, before)}
    return value, inputs.changed | changed


def _theirs(ladder: Ladder, code: str, answer: Callable, learners: AbstractContextManager):
    """What the learner's answer gives on a rung.

    Raises:
        Mistake: it changes an input that the right answer leaves as it is.
    """
    value, changed = _result(code, ladder.name, answer, learners)
    for place, (name, x) in changed.items():
        if place not in _ours(code, ladder.name, ladder.right)[1]:
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
def _ours(code: str, name: str, answer: Callable):
    """`_result` with an answer of ours, the right one or a known mistake: it is always the same."""
    return _result(code, name, answer)


def _has_changed(x, before: list[np.ndarray]) -> bool:
    after = _arrays_in(x)
    return len(before) != len(after) or not all(map(_equal, before, after))


def _changes_input(name: str, x, example: str = "") -> Mistake:
    return Mistake(
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
        given, _ = _ours(code, ladder.name, wrong)
    except (Mistake, LookupError, RuntimeError, TypeError, ValueError):
        return False
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
        if _has_changed(x, before[name]):
            raise _changes_input(name, x, shown)
    if result is None:
        raise Mistake(_none_of(answer), shown)
    _check_computed(result, shown)
    return result


def _is_nothing(result) -> bool:
    """Whether it is None, or several of them; in a list of what several calls gave, one will do."""
    several = result if isinstance(result, list | tuple) else [result]
    needed = any if isinstance(result, list) else all
    return len(several) > 0 and needed(one is None for one in several)


def _none_of(answer: Callable) -> str:
    """That it returned None, and whether a `return` with a value is in it at all."""
    code = getattr(getattr(answer, "forward", answer), "__code__", None)
    steps = [*dis.get_instructions(code)] if code else []
    given = [x for x, then in pairwise(steps) if then.opname == "RETURN_VALUE"]
    given += [x for x in steps if x.opname == "RETURN_CONST"]
    if all("CONST" in x.opname and x.argval is None for x in given):
        return "it returned None; is the `return` missing?"
    return "it returned None; there is a `return`, but what stands behind it gives None"


def _check_computed(result, shown: str) -> None:
    """Raise a `Mistake` if it is nothing yet."""
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


MOVES = re.compile("CopySlices|^(Cat|Stack|Copy|Clone|Select|Slice|Unsqueeze|View)Backward")


def longest_chain(result: torch.Tensor) -> int:
    """The number of operations in a row that autograd has recorded on the way to the result.

    Those that only put numbers in another place are not counted: rows may be written one by one.

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
            moves = MOVES.search(todo[-1].name())
            before = max((length[before] for before in needed), default=0)
            length[todo.pop()] = before + (not moves)
    return length[result.grad_fn]


def _copy(x):
    """A copy with the gradient's way back to the original."""
    return x.clone() if isinstance(x, torch.Tensor) else deepcopy(x)


def _equal(x, y) -> bool:
    x, y = as_array(x), as_array(y)
    return x.shape == y.shape and np.array_equal(x, y, equal_nan=x.dtype.kind == "f")
