"""Which angles training showed to every hand, and which ones it never did."""

import math
from collections.abc import Mapping, Sequence

from book.page.live import LiveFigure, table

WIDTH = 16  # a head of the chapter's rotary model, eight hands
TRAINED = 32  # positions in training
POSITION = 57  # where the figure opens: six of the eight hands are where they never were


def seen_figure(cures: Mapping[str, Sequence[float]] | None = None) -> LiveFigure:
    """Eight hands of a position, each with the arc that the first 32 positions showed of it.

    Args:
        cures: by name, how many radians each hand turns per position once the model is trained;
            without them the hands keep the speeds of training, and there is nothing to choose.

    Source: Vaswani et al. 2017, section 3.5 (https://arxiv.org/abs/1706.03762); Chen et al. 2023,
    section 2.3 (https://arxiv.org/abs/2306.15595).
    """
    trained = [10_000 ** (-2 * i / WIDTH) for i in range(WIDTH // 2)]
    speeds = {"as trained": trained, **{name: [*row] for name, row in (cures or {}).items()}}
    data = {"trained": TRAINED, "speeds": speeds}
    value = {"position": POSITION, "cure": "as trained" if not cures else next(iter(cures))}
    rows = [
        (f"hand {hand + 1}", POSITION * speed / (2 * math.pi))
        for hand, speed in enumerate(speeds[value["cure"]])
    ]
    fallback = table(f"Turns of the hands at {POSITION}", ["hand", "turns"], rows)
    return LiveFigure(__file__, data, value, fallback)
