"""The exercises as their notebooks of solutions hold them, for the tests and the page of checks."""

import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import nbformat

from book._grading.student import sources

ROOT = Path(__file__).parents[2]

CARD = re.compile(
    r"\*\*(?P<kind>Coding|Reasoning|Open problem)\*\* · difficulty (?P<difficulty>[123]) of 3"
    r" · importance (?P<importance>[123]) of 3 · (?P<minutes>\d+) minutes · trains (?P<trains>.+)"
)
CHECK = re.compile(r"^from book\.(\w+) import checks\n\nverdict = checks\.(\w+)\((\w+)\)\n")


class Exercise(NamedTuple):
    chapter: str  # or a page of its own: reproduce_the_model
    title: str  # with its number: 1. The four steps
    text: str
    cells: list

    def __str__(self) -> str:
        return f"{self.chapter}-{self.title}"

    @property
    def card(self) -> dict:
        found = CARD.fullmatch(self.text.split("\n\n")[1])
        assert found, f"no card below the heading: {self.text}"
        return found.groupdict()


@cache
def exercises_of(page: str) -> list[Exercise]:
    """The exercises of a notebook of solutions: its sections in which there is something to do."""
    cells = nbformat.read(sources(ROOT)[page], as_version=4).cells
    starts = [i for i, cell in enumerate(cells) if cell.source.startswith("## ")]
    return [
        Exercise(page, cells[i].source.splitlines()[0][3:], cells[i].source, cells[i:end])
        for i, end in pairwise([*starts, len(cells)])
        if any("nbgrader" in cell.metadata for cell in cells[i:end])
    ]


EXERCISES = [exercise for page in sources(ROOT) for exercise in exercises_of(page)]
