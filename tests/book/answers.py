"""Answers to the exercises, right and wrong, as learners give them.

They are written apart from the checks, in the words a learner would use. Each module of answers
fills the two lists when it is imported.
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from book.checking.rungs import Ladder
from tests.book.exercises import CHECK, EXERCISES


class Answer(NamedTuple):
    check: Callable
    answer: Callable
    mistake: str = ""  # a part of what a wrong answer must be told

    def __str__(self) -> str:
        return f"{self.check.__module__.split('.')[1]}.{self.check.__name__}-{self.answer.__name__}"


RIGHT: list[Answer] = []
WRONG: list[Answer] = []


def right(check: Callable) -> Callable:
    """Mark a right answer to the check's exercise."""

    def marked(answer):
        RIGHT.append(Answer(check, answer))
        return answer

    return marked


def wrong(check: Callable, mistake: str) -> Callable:
    """Mark a wrong answer, with a part of the mistake that it must be told."""

    def marked(answer):
        WRONG.append(Answer(check, answer, mistake))
        return answer

    return marked


def chapters() -> list[ModuleType]:
    """All modules of answers, in alphabetical order."""
    files = sorted(Path(__file__).parent.glob("*/answers.py"))
    return [import_module(f"tests.book.{path.parent.name}.answers") for path in files]


@cache
def ladders() -> dict[Callable, Ladder]:
    """Each check with a ladder -> its ladder, called like it, in capitals.

    The mistakes that a ladder knows are wrong answers, too.
    """
    found = {}
    for chapter in dict.fromkeys(answer.check.__module__ for answer in RIGHT):
        module = import_module(chapter)
        for name, x in vars(module).items():
            if isinstance(x, Ladder):
                found[getattr(module, name.lower())] = x
    return found


@cache
def core_checks() -> set[Callable]:
    """The checks of core exercises: those whose card says importance 3 of 3."""
    core = [exercise for exercise in EXERCISES if exercise.card["importance"] == "3"]
    calls = [CHECK.match(cell.source) for exercise in core for cell in exercise.cells]
    return {getattr(import_module(f"book.{call[1]}.checks"), call[2]) for call in calls if call}
