"""A rung on which an answer gives another result than expected: what can be said about it."""

import ast
import functools
import inspect
import re
import time
from collections.abc import Callable
from contextlib import suppress

import torch

from book.checking.altered import altered, changes_of, with_others
from book.checking.calls import Mistake, none_of, ours, run, theirs
from book.checking.ending import calling
from book.checking.results import (
    alike,
    can_refute,
    count,
    difference,
    exchanged,
    not_finite,
    relation,
    visible_fact,
)
from book.checking.rungs import Ladder, Rung

AGAIN = "called again as at first, it returns the same as at first: nothing stays from call to call"


def as_shown(code: str) -> str:
    """The code of a rung, as a learner can run it again with the same random numbers."""
    return f"torch.manual_seed(0)\n{code}" if RANDOM.search(code) else code


RANDOM = re.compile(r"\btorch\.(rand|bernoulli|multinomial)|\bnn\.")


class Failed:
    """A rung on which an answer gives another result than expected, and what is told about it."""

    def __init__(self, ladder: Ladder, answer: Callable, rung: Rung, result, expected) -> None:
        self.ladder, self.answer, self.code = ladder, answer, rung.code
        self.result, self.expected = result, expected
        self.case = rung.idea if rung.idea == AGAIN else f"on this case: {rung.idea}"

    def mistake(self) -> Mistake:
        """What is wrong, from the most certain to what holds of every wrong answer, the case."""
        if known := self.known_mistake():
            return Mistake(known, self.example(self.telling(known)))
        fact = self.nothing() or self.infinite() or self.idle()
        fact = fact or self.relation() or exchanged([*self.everywhere.values()])
        fact = fact or self.unused() or self.other_argument()
        fact = fact or self.seen()
        return Mistake(f"{fact}; {self.case}" if fact else self.case, self.example())

    def example(self, code: str = "") -> str:
        """The input of a rung, of the one that fails if none is given, and the two results."""
        results = difference(*(self.everywhere[code] if code else (self.result, self.expected)))
        shown = as_shown(code or self.code)
        return f"{results}\n\n{shown}" if shown.count("\n") > 20 else f"{shown}\n{results}"

    def known_mistake(self) -> str:
        """The one known mistake that gives what the answer gives, on every input; or nothing."""
        fitting = [text for text, wrong in self.ladder.mistakes.items() if self.fits(wrong)]
        return fitting[0] if len(fitting) == 1 else ""

    def telling(self, known: str) -> str:
        """The code of the first rung on which fewest other known mistakes give the same."""
        others = [wrong for text, wrong in self.ladder.mistakes.items() if text != known]
        same = {
            code: sum(would_be(result, code, self.ladder, wrong) for wrong in others)
            for code, (result, expected) in self.everywhere.items()
            if not alike(result, expected, self.ladder.optional)
        }
        return min(same, key=same.get, default="")

    def nothing(self) -> str:
        """That it returned None, and whether it always does."""
        if not self._is_nothing(self.result, self.code):
            listed = self.result if isinstance(self.result, list | tuple) else []
            return "there is None in what it returned" * any(x is None for x in listed)
        if not _is_a_call(self.code, self.ladder.name):
            return "the last line gives None"
        always = all(self._is_nothing(x, code) for code, (x, _) in self.everywhere.items())
        return none_of(self.answer) if always else "it returned None, not always"

    def _is_nothing(self, result, code: str) -> bool:
        """Whether a call gave None; where the last line lists what several gave, whether one did.

        None in a list that the answer has made is another thing.
        """
        last = ast.parse(code).body[-1].value
        its_own = _is_a_call(code, self.ladder.name) and isinstance(last, ast.Call)
        return result is None if its_own else _is_nothing(result)

    def infinite(self) -> str:
        return self.said(not_finite(self.result, self.expected))

    def said(self, fact: str) -> str:
        """A fact, of the last line where this does more than call the answer."""
        is_a_call = _is_a_call(self.code, self.ladder.name)
        return fact if is_a_call else fact.replace("it returned", "the last line gives")

    def seen(self) -> str:
        """What can be seen of the result; of its numbers, if no other input refutes it."""
        optional = self.ladder.optional
        fact = visible_fact(self.result, self.expected, optional)
        if not fact.of_numbers:
            return self.said(fact.text)
        wrong = [(x, y) for x, y in self.everywhere.values() if not alike(x, y, optional)]
        if count([x for x, _ in wrong]) < 2:
            return ""
        least = min(count([self.result]), 4)
        facts = [visible_fact(*x, optional) for x in wrong if can_refute(x[1], least)]
        kinds = {KIND.sub("", x.text) for x in facts if not x.text or x.of_numbers}
        return fact.text if kinds <= {KIND.sub("", fact.text)} else ""

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

        run(code, self.ladder.name, recorded)
        return calls[0]

    def relation(self) -> str:
        """How all results follow from what is expected; or nothing.

        On one input a number is soon twice another. Five numbers on three inputs are not.
        """
        results = self.everywhere.values()
        return relation(results, least=5) if len(results) >= 3 else ""

    def unused(self) -> str:
        """The arguments that have no effect where they have one on the right answer; or nothing."""
        if not inspect.isfunction(self.ladder.right) or len(self.everywhere) < 3:
            return ""
        fact = visible_fact(self.result, self.expected, self.ladder.optional)
        if fact.text and not fact.of_numbers:  # it has another form, which is seen first
            return ""
        values, named = self._call(self.code)
        until = time.monotonic() + 5
        unused = [
            f"`{name}`"
            for name, changes in changes_of(self.ladder.right, *values, **named).items()
            if self._has_no_effect(name, changes, until)
        ]
        if not 1 <= len(unused) <= 2:
            return ""
        if len(unused) == 1:
            return f"{unused[0]} has no effect: with another one it returns the same"
        return f"{' and '.join(unused)} have no effect: with others it returns the same"

    def _has_no_effect(self, name: str, changes: dict[str, Callable], until: float) -> bool:
        """Whether no change of it makes a difference, of two or more that should make one."""
        there_should_be = 0
        for change in changes.values():
            right = with_others(self.ladder.right, (name,), change)
            answer = with_others(self.answer, (name,), change, like=self.ladder.right)
            for code, (result, expected) in self.everywhere.items():
                if would_be(expected, code, self.ladder, right, failing=True):
                    continue
                try:
                    there = theirs(self.ladder, code, answer, calling(code))
                except Exception:  # so it is looked at
                    return False
                if not alike(there, result) or time.monotonic() > until:
                    return False
                there_should_be += 1
        return there_should_be > 1

    def other_argument(self) -> str:
        """The change of an argument with which the right answer gives all these results.

        Of two the simpler; nothing if more would do, or if fewer than three numbers on two inputs
        speak for it. There is none for a class: its objects come of other calls.
        """
        wrong = [x for x, y in self.everywhere.values() if not alike(x, y, self.ladder.optional)]
        few = len(wrong) < 2 and count(wrong) < 3
        if few or not inspect.isfunction(self.ladder.right) or len(self.everywhere) < 3:
            return ""
        values, named = self._call(self.code)
        cases = altered(self.ladder.right, *values, **named).items()
        cases = [
            case for case, wrong in cases if self.fits(wrong) and self.fits_other_numbers(wrong)
        ]
        if not 1 <= len(cases) <= 2:
            return ""
        simpler = min(cases, key=lambda case: len(NAMED.sub("", case)))
        return f"what it returns, on every input of this check, would be right if {simpler}"

    def fits(self, wrong: Callable) -> bool:
        """Whether a wrong answer gives what the learner's does wherever this gives anything."""
        results = [(self.code, (self.result, self.expected)), *self.everywhere.items()]
        return all(would_be(there, code, self.ladder, wrong) for code, (there, _) in results)

    def fits_other_numbers(self, wrong: Callable) -> bool:
        """Whether it does so, too, where the rungs that draw numbers draw others.

        A known mistake is not asked: it rounds as it likes, which large numbers make visible.
        """
        return all(
            would_be(there, code, self.ladder, wrong, seed)
            for (code, seed), there in self.with_other_numbers.items()
        )

    @functools.cached_property
    def everywhere(self) -> dict:
        """The code of each rung on which the answer gives anything -> what it gives, the right."""
        results = {}
        for idea, code in self.ladder.rungs:
            try:
                watched = calling(code, f", when this was tried: {idea}")
                there = theirs(self.ladder, code, self.answer, watched)
            except Exception:  # where it raises, nobody can say which mistake it makes
                continue
            results[code] = there, ours(code, self.ladder.name, self.ladder.right)[0]
        return results

    @functools.cached_property
    def with_other_numbers(self) -> dict:
        """The code of each rung that draws numbers, and another seed -> what the answer gives."""
        results = {}
        for code in filter(RANDOM.search, self.everywhere):
            for seed in (1, 2):
                with suppress(Exception):
                    watched = calling(code, ", when it was tried with other numbers")
                    results[code, seed] = theirs(self.ladder, code, self.answer, watched, seed)
        return results


NAMED = re.compile("`.*?`")


def _is_a_call(code: str, answer: str) -> bool:
    """Whether the last line is what the answer returns, once or in a list, or what it made does."""
    *lines, last = ast.parse(code).body
    made = {x.id for line in lines for x in ast.walk(line) if isinstance(x, ast.Name)}
    several = getattr(last.value, "elts", None) or [getattr(last.value, "elt", last.value)]
    for x in several:
        if not isinstance(x, ast.Call):
            return False
        while isinstance(x, ast.Call | ast.Attribute):
            x = x.func if isinstance(x, ast.Call) else x.value
        if not isinstance(x, ast.Name) or x.id not in {answer, *made} - {"torch", "np"}:
            return False
    return True


KIND = re.compile(r" (along|of) axis \d|-?\d[\d.e+-]*")  # what differs from input to input


def would_be(
    result, code: str, ladder: Ladder, wrong: Callable, seed: int = 0, failing: bool = False
) -> bool:
    """Whether a wrong answer gives this result; `failing` if it gives none.

    It need not take all that the right one takes. Of what it raises, only what comes of its mistake
    is let pass: a name that is not there would be an error of the check.
    """
    try:
        given, _ = ours(code, ladder.name, wrong, seed)
    except (Mistake, LookupError, RuntimeError, TypeError, ValueError):
        return failing
    return alike(result, given, ladder.optional)


def _is_nothing(result) -> bool:
    """Whether it is None, or several of them; in a list of what several calls gave, one will do."""
    several = result if isinstance(result, list | tuple) else [result]
    needed = any if isinstance(result, list) else all
    return len(several) > 0 and needed(one is None for one in several)
