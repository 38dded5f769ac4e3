"""A bet on each sentence of a test set: E, the product of the ratios of two probabilities."""

import math
from collections.abc import Mapping, Sequence

from book.page.live import LiveFigure, table


def bet_figure(
    sets: Mapping[int, Sequence[float]],
    honest: Sequence[Sequence[float]],
    *,
    copies: int,
    read: int,
) -> LiveFigure:
    """The stake of somebody who bets that a test set was in the training text.

    Args:
        sets: by the number of copies in the training text, with 0 among them, what each sentence
            of a test set gains: ln p_model - ln p_true.
        honest: the same for test sets that were in no training text, drawn as thin lines.
        copies: the set that is shown first.
        read: how many of its sentences are read at first.

    Raises:
        ValueError: the sets differ in length, or none has 0 copies.
    """
    lengths = {len(gains) for gains in [*sets.values(), *honest]}
    if len(lengths) != 1 or 0 not in sets:
        raise ValueError(
            f"sets of one length are needed, one of them with 0 copies; got lengths "
            f"{sorted(lengths)} and copies {list(sets)}"
        )
    [count] = lengths
    ten = math.log(10)
    data = {
        "sets": {str(k): [round(gain / ten, 4) for gain in gains] for k, gains in sets.items()},
        "honest": [[round(gain / ten, 2) for gain in gains] for gains in honest],
    }
    shown = [copies, *(k for k in sets if k != copies)]
    rows = [[str(k), sum(data["sets"][str(k)][:read]), sum(data["sets"][str(k)])] for k in shown]
    fallback = table(
        "log₁₀ of the stake", ["copies", f"after {read} sentences", f"after {count}"], rows
    )
    return LiveFigure(__file__, data, {"copies": str(copies), "read": read}, fallback)
