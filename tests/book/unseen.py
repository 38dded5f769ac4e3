"""Answers to the exercises by people who had the statements alone, and not the checks.

They came in sets, about 6,000 in all. Each set judged the checks as they were; then these were
mended by it. What stands here keeps that: right answers, and about every fifth of the wrong ones,
most of them chosen by their order alone. A wrong one is a function of its own, or the right one
above it with parts replaced.
"""

import inspect
import linecache
import sys
import textwrap
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import NamedTuple


class Unseen(NamedTuple):
    """An answer to an exercise; `slip` is what its author did wrong, "" if nothing."""

    chapter: str
    exercise: str
    slip: str
    answer: Callable

    def __str__(self) -> str:
        return f"{self.chapter}.{self.exercise}: {self.slip or 'right'}"


UNSEEN: list[Unseen] = []


def answers_to(chapter: str) -> tuple[Callable, Callable]:
    """What collects a chapter's answers: @right, or @right(exercise), and wrong(...)."""
    last = {}

    def right(answer):
        if isinstance(answer, str):
            return lambda function: collect(function, answer)
        return collect(answer, answer.__name__)

    def collect(answer, exercise):
        lines = textwrap.dedent(inspect.getsource(answer)).splitlines(keepends=True)
        while lines[0].startswith("@"):
            del lines[0]
        last.update(exercise=exercise, answer=answer, source="".join(lines))
        UNSEEN.append(Unseen(chapter, exercise, "", answer))
        return answer

    def wrong(slip, *parts):
        """The answer itself, or what is replaced by what: old, new, old, new."""
        answer = parts[0] if callable(parts[0]) else replaced(slip, parts)
        UNSEEN.append(Unseen(chapter, last["exercise"], slip, answer))

    def replaced(slip, parts):
        source = last["source"]
        for old, new in zip(parts[::2], parts[1::2], strict=True):
            assert old in source, f"{chapter}.{last['exercise']}: {old!r} is not in the answer"
            source = source.replace(old, new)
        file = f"<{chapter}.{last['exercise']}: {slip}>"  # a check may read it
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        names = dict(vars(sys.modules[last["answer"].__module__]))
        exec(compile(source, file, "exec"), names)
        return names[last["answer"].__name__]

    return right, wrong


for path in sorted(Path(__file__).parent.glob("*/unseen.py")):
    import_module(f"tests.book.{path.parent.name}.unseen")
