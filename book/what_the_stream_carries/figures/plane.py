"""Five features in two dimensions, for several chances of being present."""

from collections.abc import Sequence

import torch

from book.page.live import LiveFigure, table


def plane_figure(
    chances: Sequence[float],
    arrows: torch.Tensor,
    lost: Sequence[float],
    lost_linear: Sequence[float],
) -> LiveFigure:
    """Make features rarer, and see where their arrows go.

    Args:
        chances: the probabilities that a feature is present, from the largest to the smallest.
        arrows: what was learned for each of them, (chances, 2, features).
        lost: what share of the features' square is lost, for each.
        lost_linear: the same without a ReLU.

    Raises:
        ValueError: the numbers do not belong together.
    """
    count = len(chances)
    if arrows.shape[:2] != (count, 2) or {len(lost), len(lost_linear)} != {count}:
        raise ValueError(
            f"for {count} chances arrows ({count}, 2, features) and as many losses are needed, "
            f"got {tuple(arrows.shape)}, {len(lost)} and {len(lost_linear)}"
        )
    chances = [round(float(p), 4) for p in chances]
    data = {"chances": chances, "arrows": arrows.tolist()}
    data |= {"lost": [float(x) for x in lost], "linear": [float(x) for x in lost_linear]}
    rows = [(f"{p:g}", x, y) for p, x, y in zip(chances, lost, lost_linear, strict=True)]
    shown = next(i for i, p in enumerate(chances) if p <= 0.35)
    rows.insert(0, rows.pop(shown))
    head = ["present with probability", "share lost", "without ReLU"]
    return LiveFigure(__file__, data, {"level": shown}, table("Five features", head, rows))
