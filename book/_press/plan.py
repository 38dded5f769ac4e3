"""The times of a plan for teaching, summed from the chapters and from the cards of exercises.

`<!-- times: self_attention multi_head_attention -->` on a page is replaced by the minutes that
these chapters take to be read and their exercises of importance 3, and all of them, to be done.
"""

import re
from pathlib import Path

import nbformat

from book._press.path import reading_minutes

TIMES = re.compile(r"<!-- times: ([\w ]+) -->")
CARD = re.compile(r"importance (\d) of 3 · (\d+) minutes")


def with_times(page: str, root: Path) -> str:
    """The Markdown of a page with the times of the chapters that it names."""
    return TIMES.sub(lambda found: _times(root, found[1].split()), page)


def _times(root: Path, chapters: list[str]) -> str:
    reading = core = every = 0
    for name in chapters:
        folder = root / "book" / name
        reading += reading_minutes(nbformat.read(folder / f"{name}.ipynb", as_version=4))
        exercises = (folder / f"{name}_exercises.ipynb").read_text("utf8")
        for importance, minutes in CARD.findall(exercises):
            every += int(minutes)
            core += int(minutes) if importance == "3" else 0
    return f"{_hours(reading)} · {_hours(core)} · {_hours(every)}"


def _hours(minutes: int) -> str:
    """ "25 min", "1:05 h"."""
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02} h"
