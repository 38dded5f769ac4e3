"""What a cache of fewer numbers costs, by two ways to cut it."""

from collections.abc import Mapping

from book.page.live import LiveFigure, table


def rank_figure(
    lost: Mapping[int, tuple[float, float]], *, full: int, layers: int, at: int = 2
) -> LiveFigure:
    """Two curves over the numbers in a cache, with a slider.

    Args:
        lost: by the numbers c per token and layer, from the most to the least, the nats per token
            that the plain and the weighted cut lose.
        full: the numbers per token and layer of the whole cache.
        layers: how many layers keep a cache.
        at: which c is shown first, counted from 0.

    Raises:
        ValueError: there are fewer than three c, they do not fall, or there is no such place.
    """
    ranks = list(lost)
    if len(ranks) < 3 or ranks != sorted(ranks, reverse=True):
        raise ValueError(f"three or more c are needed, from the most to the least; got {ranks}")
    if not 0 <= at < len(ranks):
        raise ValueError(f"at must be from 0 to {len(ranks) - 1}, got {at}")
    data = {
        "ranks": ranks,
        "lost": [[float(number) for number in pair] for pair in lost.values()],
        "full": full,
        "layers": layers,
    }
    order = [at, *(i for i in range(len(ranks)) if i != at)]
    fallback = table(
        f"Nats per token lost by a cache of c numbers instead of {full}",
        ["c", "plain cut", "weighted cut"],
        [(str(ranks[i]), *data["lost"][i]) for i in order],
    )
    return LiveFigure(__file__, data, {"at": at}, fallback)
