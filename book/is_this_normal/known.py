"""Which of the known runs a loss curve resembles: the rule, and the curves that it knows.

    python -m book.is_this_normal.known 1 2 3 4 5 6 > book/is_this_normal/known.json

trains every kind of run of `curves` under these seeds and prints their portraits. The rule stands
here and, the same, in the figure `resembles`.
"""

import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from book.is_this_normal import curves

BINS, CEILING = 32, 2.0
REACH = 0.1  # in ln V: the rule names no kind that is farther away
FILE = Path(__file__).with_name("known.json")


def portrait(
    loss: Sequence[float], vocab_size: int, validation: float | None = None
) -> list[float]:
    """A curve in 2 * BINS + 2 numbers, in units of ln V, so that runs of any length compare.

    The run is divided into BINS equal parts. For each there is its mean loss; then for each its
    highest; then the last validation loss less the last part's mean, NaN if it is not known; and
    1 if some loss was NaN or infinite, else 0. Losses above CEILING count as CEILING.

    Raises:
        ValueError: no loss is finite.
    """
    unit = math.log(vocab_size)
    kept = [min(value / unit, CEILING) for value in loss if math.isfinite(value)]
    if not kept:
        raise ValueError(f"none of the {len(loss)} losses is a finite number")
    count = len(kept)
    parts = []
    for i in range(BINS):
        start = i * count // BINS
        parts.append(kept[start : max(start + 1, (i + 1) * count // BINS)])
    means = [sum(part) / len(part) for part in parts]
    gap = math.nan
    if validation is not None:
        gap = max(-1.0, min(validation / unit - means[-1], 1.0))
    return [*means, *map(max, parts), gap, float(count < len(loss))]


def of_run(run: curves.Run) -> list[float]:
    """The portrait of one of our own runs, with its validation loss."""
    return portrait(run.loss, curves.CONFIG.vocab_size, run.judged[-1] if run.judged else None)


def distance(a: Tensor, b: Tensor) -> float:
    """How far two portraits are from each other, in units of ln V.

    The root mean square over the parts, plus the difference of the gaps where both are known, plus
    1 if one of the runs ended in NaN and the other did not.
    """
    off = (a - b).abs()
    gap = off[-2].nan_to_num(0.0)
    return (off[:-2].square().mean().sqrt() + gap + off[-1]).item()


def nearest(curve: Tensor, known: dict[str, Tensor]) -> tuple[str, float]:
    """The kind whose average is nearest to a portrait, and its distance."""
    distances = {name: distance(curve, average) for name, average in known.items()}
    name = min(distances, key=distances.get)
    return name, distances[name]


def averages(portraits: dict[str, Tensor]) -> dict[str, Tensor]:
    """The average portrait of every kind: what a new curve is held to."""
    return {name: rows.nanmean(0) for name, rows in portraits.items()}


class Named(NamedTuple):
    """A run that the averages had not seen: its kind, the nearest one, and how far that is."""

    truth: str
    said: str
    far: float


def seed_by_seed(portraits: dict[str, Tensor]) -> list[Named]:
    """Every run, held to the averages of the runs with other seeds."""
    found = []
    for left_out in range(len(next(iter(portraits.values())))):
        others = {
            name: torch.cat([rows[:left_out], rows[left_out + 1 :]])
            for name, rows in portraits.items()
        }
        found += named({name: rows[[left_out]] for name, rows in portraits.items()}, others)
    return found


def named(portraits: dict[str, Tensor], seen: dict[str, Tensor]) -> list[Named]:
    """Every run, held to the averages of others that were seen."""
    known = averages(seen)
    return [Named(name, *nearest(row, known)) for name, rows in portraits.items() for row in rows]


def read() -> dict[str, Tensor]:
    """The portraits that the file has: for every kind (seeds, 2 * BINS + 2)."""

    def tensor(rows):
        numbers = [[math.nan if x is None else x for x in row] for row in rows]
        return torch.tensor(numbers, dtype=torch.float64)

    return {name: tensor(rows) for name, rows in json.loads(FILE.read_text("utf8")).items()}


def blind(portraits: dict[str, Tensor]) -> dict[str, Tensor]:
    """The same runs, if nobody had measured a validation loss."""
    gap = torch.arange(2 * BINS + 2) == 2 * BINS
    return {name: rows.masked_fill(gap, math.nan) for name, rows in portraits.items()}


def strangers(portraits: dict[str, Tensor]) -> list[Named]:
    """Every run, held to the averages of all kinds but its own."""
    found = []
    for name, rows in portraits.items():
        others = {other: seen for other, seen in portraits.items() if other != name}
        found += named({name: rows}, others)
    return found


class Sureness(NamedTuple):
    """How often the rule was right, each as how many, and of how many.

    Attributes:
        right: named right, of the runs with a seed that the averages had not seen.
        refused: given no name, of the runs of a kind that the averages had not seen.
        when_named: for every kind, right of those with an unseen seed that got its name.
    """

    right: tuple[int, int]
    refused: tuple[int, int]
    when_named: dict[str, tuple[int, int]]


def sureness(portraits: dict[str, Tensor]) -> Sureness:
    """How sure a name is that the rule gives."""

    def right(found: Sequence[Named]) -> tuple[int, int]:
        return sum(run.truth == run.said for run in found), len(found)

    tried, strange = seed_by_seed(portraits), strangers(portraits)
    refused = sum(run.far > REACH for run in strange), len(strange)
    when_named = {name: right([run for run in tried if run.said == name]) for name in portraits}
    return Sureness(right(tried), refused, when_named)


def main(seeds: Sequence[int]) -> None:
    """Train every kind of run under these seeds, and print their portraits."""
    runs = {name: [] for name in curves.KINDS}
    for seed in seeds:
        for name, make in curves.KINDS.items():
            row = of_run(make(seed))
            runs[name].append([None if math.isnan(x) else round(x, 3) for x in row])
    print(json.dumps(runs))


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]])
