"""Answers to the exercises, right and wrong, as learners give them.

They are written apart from the checks, in the words a learner would use. Each module of answers
fills the two lists when it is imported.
"""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import NamedTuple


class Answer(NamedTuple):
    check: Callable
    answer: Callable
    mistake: str = ""  # a part of what a wrong answer must be told

    def __str__(self) -> str:
        return (
            f"{self.check.__module__.split('.')[-1]}.{self.check.__name__}-{self.answer.__name__}"
        )


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


# Checks of core exercises, which come with six wrong answers or more.
CORE = {
    "attention",
    "masked_attention",
    "broken_layers",
    "my_multi_head",
    "look_up_gradient",
    "negative_sampling_loss",
    "add_and_norm",
    "diagnose",
    "shifted",
    "greedy",
    "smoothed_loss",
    "prefix_mask",
    "cut",
}


def chapters() -> list[ModuleType]:
    """All modules of answers, in alphabetical order."""
    files = sorted(Path(__file__).parent.glob("answers_*.py"))
    return [import_module(f"tests.checks.{path.stem}") for path in files]
