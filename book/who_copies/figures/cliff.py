"""A small model learns to copy: its loss and its attention, step by step."""

from collections.abc import Sequence

import torch

from book.page.live import LiveFigure, table
from book.page.weights import packed_maps


def cliff_figure(
    letters: Sequence[str],
    steps: Sequence[int],
    losses: Sequence[float],
    film: torch.Tensor,
    *,
    period: int,
    layers: int = 2,
) -> LiveFigure:
    """The film of a training: a slider over its steps moves along the loss and through the maps.

    Args:
        letters: the text that the maps are of, T tokens that repeat with the period.
        steps: when something was recorded.
        losses: what the loss was then.
        film: attention weights (steps, heads, T, T), the heads of the first layer first.
        period: after how many tokens the text repeats.
        layers: how many layers the heads are of.

    Raises:
        ValueError: the shapes do not fit, or the weights are not causal.
    """
    T = len(letters)
    frames, heads = film.shape[:2]
    fits = film.shape == (len(steps), heads, T, T) and len(losses) == frames > 1
    if not fits or heads % layers or not 1 < period < T:
        raise ValueError(
            f"a film ({len(steps)} steps, heads of {layers} layers, {T}, {T}) with as many losses "
            f"and a period below {T} is needed; got {tuple(film.shape)}, {len(losses)} losses and "
            f"a period of {period}"
        )
    data = {"letters": list(letters), "steps": list(steps), "losses": [float(x) for x in losses]}
    data |= {"maps": packed_maps(film), "heads": heads, "layers": layers, "period": period}
    rows = list(zip(data["steps"], data["losses"], strict=True))
    shown = frames - 2  # the lines are there, and there is a step to go
    rows.insert(0, rows.pop(shown))
    fallback = table("The loss while it learns to copy", ["step", "loss, nats"], rows)
    return LiveFigure(__file__, data, {"frame": shown}, fallback)
