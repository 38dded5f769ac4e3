"""Words as points in a plane on their way through a stack of blocks."""

from collections.abc import Sequence

import torch

from book.page.live import LiveFigure, table


def collapse_figure(
    words: Sequence[str], kept: torch.Tensor, others: dict[str, torch.Tensor]
) -> LiveFigure:
    """The words of one sentence before the first block and after each, in two stacks side by side.

    All heights are seen in one plane, in which the entering words differ most. Before that they are
    divided by their root mean square length, as the share of difference between words is.

    Args:
        words: what the points are called, T of them.
        kept: the stream (depth + 1, T, d) of a stack with residual connections.
        others: the same for stacks without, by name; the reader chooses one.

    Raises:
        ValueError: the shapes differ.
    """
    shapes = {tuple(stream.shape) for stream in (kept, *others.values())}
    if len(shapes) != 1 or kept.shape[1] != len(words):
        raise ValueError(f"streams (depth + 1, {len(words)}, d) are needed, got {shapes}")
    entering = kept[0] - kept[0].mean(0)
    plane = torch.linalg.svd(entering.double().cpu(), full_matrices=False).Vh[:2]  # (2, d)
    films = {name: _film(stream, plane) for name, stream in others.items()}
    data = {"words": list(words), "kept": _film(kept, plane), "others": films}
    first, film = next(iter(films.items()))
    rows = zip(range(len(kept)), data["kept"]["shares"], film["shares"], strict=True)
    fallback = table(
        "share of difference between the words",
        ["blocks below", "with residual connections", f"without: {first}"],
        list(rows),
    )
    return LiveFigure(__file__, data, {"other": first, "step": 1}, fallback)


def _film(stream: torch.Tensor, plane: torch.Tensor) -> dict:
    """For every height the words' points in the plane, and how much of them is difference."""
    stream = stream.double().cpu()
    scaled = stream / stream.square().sum(-1).mean(1).sqrt()[:, None, None]
    own = scaled - scaled.mean(1, keepdim=True)
    shares = own.square().sum(-1).mean(1).sqrt()
    return {"points": (scaled @ plane.T).tolist(), "shares": shares.tolist()}
