"""How a check is written: a ladder of inputs, each of which isolates one idea.

A check is a function marked `@exercise`. It takes the learner's object, tries it on the rungs of
one or more ladders, and returns what they are; the first rung that fails is the mistake. What no
ladder can say a check finds out by itself: it calls the answer through `call` and raises `Mistake`.
"""

import functools
import re
import traceback
from collections.abc import Callable

import torch

from book.checking.calls import (
    Mistake,
    NotAttempted,
    call,
    check_computed,
    is_own,
    mistake_of,
    ours,
    own_steps,
    said_by,
    steps_of,
    theirs,
    where,
)
from book.checking.ending import Watch, calling
from book.checking.failed import AGAIN, Failed, as_shown
from book.checking.results import alike
from book.checking.rungs import Ladder, Rung
from book.checking.undisturbed import repeatable, undisturbed
from book.checking.verdict import Verdict

__all__ = ["Mistake", "call", "climb", "exercise", "longest_chain"]


def exercise(check: Callable[..., str]) -> Callable[..., Verdict]:
    """Make a check give a `Verdict`: what it returns was tried, what it raises is the mistake."""

    @functools.wraps(check)
    def judged(answer) -> Verdict:
        watch = Watch(is_own)
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
    if own_steps(error):
        found = mistake_of(error, shown, trying)
        if isinstance(found, NotAttempted):
            return Verdict("not attempted")
        return Verdict("mistake", found.mistake, found.example)
    [last] = traceback.extract_tb([*steps_of(error)][-1], limit=1)
    told = f"{COULD_NOT_JUDGE} ({said_by(error)}){trying}; return plain numbers, lists or tensors"
    return Verdict("mistake", told, f"{shown}\nin {last.name}, line {last.lineno}: {last.line}")


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
        expected, _ = ours(rung.code, ladder.name, ladder.right)
        if not alike(result, expected, ladder.optional):
            failed = Failed(ladder, answer, rung, result, expected)
            raise failed.mistake() if named else Mistake(failed.case, failed.example())


def _tried(ladder: Ladder, answer: Callable, rung: Rung):
    """What the learner's answer gives.

    Raises:
        Mistake, NotAttempted: it gives nothing.
    """
    shown, trying = as_shown(rung.code), f", when this was tried: {rung.idea}"
    try:
        result = theirs(ladder, rung.code, answer, calling(shown, trying))
    except Mistake as mistake:
        raise Mistake(mistake.mistake, f"{shown}\n{mistake.example}") from mistake
    except Exception as error:
        raise mistake_of(error, shown, trying) from error
    check_computed(result, shown)
    return result


MOVES = re.compile("CopySlices|^(Cat|Stack|Copy|Clone|Select|Slice|Unsqueeze|View)Backward")


def longest_chain(result: torch.Tensor) -> int:
    """The number of operations in a row that autograd has recorded on the way to the result.

    Those that only put numbers in another place are not counted: rows may be written one by one.

    Raises:
        Mistake: it has recorded none.
    """
    if getattr(result, "grad_fn", None) is None:
        raise Mistake(
            "no gradient reaches the inputs, so that what waits for what cannot be counted: "
            "compute it with torch's operations, without plain numbers, numpy, detach or no_grad",
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
