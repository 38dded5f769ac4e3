"""The times of a plan for teaching, summed from the chapters and from the cards of exercises.

`<!-- times: one two -->` on a page is replaced by the minutes that these chapters take to be read
and their exercises of importance 3, and all of them, to be done; `<!-- times: one two; hand out:
two -->` counts the exercises of the second list alone, and `<!-- times: one; hand out: -->` none.
"""

import re
from pathlib import Path

import nbformat

from book._press.path import reading_minutes

TIMES = re.compile(r"<!-- times: (?P<read>[\w ]+)(?P<given>; hand out:(?P<out>[\w ]*))? -->")
CARD = re.compile(r"importance (\d) of 3 · (\d+) minutes")


def with_times(page: str, root: Path) -> str:
    """The Markdown of a page with the times of the chapters that it names."""

    def times(found: re.Match) -> str:
        chapters = found["read"].split()
        return _times(root, chapters, found["out"].split() if found["given"] else chapters)

    return TIMES.sub(times, page)


def _times(root: Path, read: list[str], handed_out: list[str]) -> str:
    chapters = (root / "book" / name / f"{name}.ipynb" for name in read)
    reading = _hours(sum(reading_minutes(nbformat.read(path, as_version=4)) for path in chapters))
    core = every = 0
    for name in handed_out:
        exercises = (root / "book" / name / f"{name}_exercises.ipynb").read_text("utf8")
        for importance, minutes in CARD.findall(exercises):
            every += int(minutes)
            core += int(minutes) if importance == "3" else 0
    return f"{reading} · {_hours(core)} · {_hours(every)}" if handed_out else reading


def _hours(minutes: int) -> str:
    """ "25 min", "1:05 h"."""
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02} h"
