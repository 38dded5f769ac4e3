"""A bet on each sentence of a test set: E, the product of the ratios of two probabilities."""

import math
from collections.abc import Mapping, Sequence
from itertools import chain

from book.page.live import LiveFigure, table


def bet_figure(
    sets: Mapping[int, Sequence[Sequence[float]]],
    honest: Sequence[Sequence[float]],
    *,
    copies: int,
    read: int,
) -> LiveFigure:
    """The stake of somebody who bets that a test set was in the training text.

    Args:
        sets: by the number of copies in the training text, with 0 among them, and for each start
            of the model, what each sentence of a test set gains: ln p_model - ln p_true. The
            first start's set is read, the others' are thin lines.
        honest: the same for test sets that were in no training text, drawn as thin grey lines.
        copies: the set that is shown first.
        read: how many of its sentences are read at first.

    Raises:
        ValueError: the sets differ in length or in their number of starts, or none has 0 copies.
    """
    lengths = {len(gains) for gains in [*chain(*sets.values()), *honest]}
    starts = {len(of_start) for of_start in sets.values()}
    if len(lengths) != 1 or len(starts) != 1 or 0 not in sets:
        raise ValueError(
            f"sets of one length and of as many starts are needed, one of them with 0 copies; got "
            f"lengths {sorted(lengths)}, starts {sorted(starts)} and copies {list(sets)}"
        )
    [count] = lengths
    ten = math.log(10)

    def logs(gains: Sequence[float], digits: int) -> list[float]:
        return [round(gain / ten, digits) for gain in gains]

    data = {
        "sets": {
            str(k): [logs(gains, 2 if i else 4) for i, gains in enumerate(of_start)]
            for k, of_start in sets.items()
        },
        "honest": [logs(gains, 2) for gains in honest],
    }
    shown = [copies, *(k for k in sets if k != copies)]
    first = {k: data["sets"][str(k)][0] for k in shown}
    rows = [[str(k), sum(gains[:read]), sum(gains)] for k, gains in first.items()]
    fallback = table(
        "log₁₀ of the stake, in the first start",
        ["copies", f"after {read} sentences", f"after {count}"],
        rows,
    )
    return LiveFigure(__file__, data, {"copies": str(copies), "read": read}, fallback)
