"""Runs with at most one wrong line each, to be told from what they show beside the sound run."""

from collections.abc import Sequence
from types import ModuleType

import torch
from matplotlib.ticker import MaxNLocator

from book.checking.verdict import Verdict
from book.debugging import checks
from book.debugging.compare import mark
from book.debugging.fault import SOUND, Case
from book.page.claims import short, typeset
from book.page.live import LiveFigure, table


def shown(page: ModuleType, runs: Sequence[Case], sound: Case) -> dict:
    """What `diagnose_figure` shows of runs: their instruments, and what every name is told.

    Args:
        page: the module of `book.debugging` whose runs these are.
        runs: as its `train` makes them. What each shows is what its `instruments` say, of which the
            first is a curve.
        sound: the run of the same number without a fault.
    """
    names = [*(fault.name for fault in page.FAULTS), SOUND]
    check = getattr(checks, page.__name__.rpartition(".")[2])
    of_runs, theirs = [], sound.instruments()
    for run in runs:
        ours = run.instruments()
        of_runs.append(
            {
                "looks": [_look(name, ours[name], theirs[name]) for name in ours],
                "told": [_told(check(run, name)) for name in names],
                "truth": run.reveal()[0],
            }
        )
    return {"names": names, "runs": of_runs}


def diagnose_figure(data: dict) -> LiveFigure:
    """Runs one after the other: the reader picks what to look at, names the fault, and is told.

    Args:
        data: as `shown` makes it.
    """
    curve = data["runs"][0]["looks"][0]
    ends = curve["yours"][-1], curve["sound"][-1]
    fallback = table(
        f"Run A, {curve['name']}, at the end",
        ["", curve["unit"]],
        [["run A", ends[0]], ["the sound run", ends[1]], ["the difference", ends[0] - ends[1]]],
    )
    letters = len(data["runs"])
    value = {"run": "A", "look": 0, "picked": ["choose"] * letters, "named": [[]] * letters}
    return LiveFigure(__file__, data, value, fallback)


def _look(name: str, ours, theirs) -> dict:
    """What one instrument shows of a run and of the sound one."""
    if isinstance(ours, str):
        return {"name": name, "rows": [["in words", ours, theirs, ""]]}
    if isinstance(ours, dict):
        rows = [
            [part, typeset(short(number)), typeset(short(theirs[part])), mark(number, theirs[part])]
            for part, number in ours.items()
        ]
        return {"name": name, "rows": rows}
    x, yours = (torch.as_tensor(part).tolist() for part in ours[:2])
    sound = torch.as_tensor(theirs[1]).tolist()
    least, largest = min(yours + sound), max(yours + sound)
    apart = [one - other for one, other in zip(yours, sound, strict=True)]
    low = 0 if 0 < least < 0.7 * largest else least
    return {
        "name": name,
        **dict(zip(("along", "unit"), ours[2:], strict=True)),
        **{"x": x, "yours": yours, "sound": sound},
        "ticks": {"x": _ticks(x[0], x[-1], 4, inside=True), "y": _ticks(low, largest, 4)},
        "apart": _ticks(min(0, *apart), max(0, *apart), 2),
    }


def _ticks(low: float, high: float, count: int, *, inside: bool = False) -> list[float]:
    """Round numbers that reach around an axis, or lie inside it."""
    if high - low < 1e-6:  # what differs by rounding is drawn as the same
        low, high = low - 1, high + 1
    ticks = MaxNLocator(count, steps=[1, 2, 5, 10]).tick_values(low, high).tolist()
    ticks = [round(tick, 10) for tick in ticks]
    return [tick for tick in ticks if low <= tick <= high] if inside else ticks


def _told(verdict: Verdict) -> str:
    """What the page's check says to a name, in one paragraph."""
    shown = verdict.example.replace("\nWith this fault", ". With this fault").replace("\n", " ")
    shown = shown.replace("In your run", "In this run")
    return f"Yes. {shown}" if verdict.status == "passed" else f"No: {verdict.mistake}. {shown}."
