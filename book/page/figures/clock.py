"""Pairs of a position as hands of a clock, sinusoids' and RoPE's."""

from collections.abc import Mapping, Sequence

from book.page.live import LiveFigure, table
from companion.nn import sinusoidal_encoding

WIDTH = 16  # a head of the chapters' rotary models, eight hands


def clock_figure(weights: Mapping[int, Sequence[float]] | None = None) -> LiveFigure:
    """Two positions as hands of a clock, one hand for each pair, and how far the hands agree.

    Args:
        weights: of trained rotary models, by the base of their frequencies: the attention weight
            at every distance back. With them the clock is held at distance 3, and the reader
            chooses the base; without them two positions of sinusoids are compared.

    Source: Vaswani et al. 2017, section 3.5 (https://arxiv.org/abs/1706.03762); Su et al. 2021,
    section 3.2.2 (https://arxiv.org/abs/2104.09864).
    """
    held, position = (0, 57) if weights is None else (3, 60)  # the hands nearly agree
    value = {"position": position, "held": held, "width": WIDTH, "base": 10_000}
    data = {
        "widths": [WIDTH, 64] if weights is None else [WIDTH],
        "bases": [10_000] if weights is None else sorted(weights),
        "weights": weights and {str(base): list(row) for base, row in weights.items()},
    }
    waves = sinusoidal_encoding(max(position, held) + 1, WIDTH).double()
    cosines = (waves[position] * waves[held]).unflatten(0, (-1, 2)).sum(1).tolist()
    fallback = table(
        f"Agreement of the hands at {position} and {held}",
        ["hand", "cosine"],
        [(f"hand {pair + 1}", cosine) for pair, cosine in enumerate(cosines)],
    )
    return LiveFigure(__file__, data, value, fallback)
