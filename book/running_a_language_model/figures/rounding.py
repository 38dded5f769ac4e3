"""Weights of a model, rounded to a few bits with one scale for each group."""

import torch

from book.page.live import LiveFigure, table


def rounding_figure(weights, largest) -> LiveFigure:
    """64 weights and what they are rounded to; the reader sets the bits and how many share a scale.

    Args:
        weights: (64,), neighbours in a row of a matrix; not all of a group of four are zero.
        largest: the largest absolute weight of the whole matrix.

    Raises:
        ValueError: there are not 64 weights, a group of four is all zero, or `largest` is not the
            largest.
    """
    weights = torch.as_tensor(weights).detach().double()
    largest = float(largest)
    if weights.shape != (64,):
        raise ValueError(f"the figure shows 64 weights, got shape {tuple(weights.shape)}")
    if not weights.view(16, 4).abs().amax(1).all():
        raise ValueError("four neighbouring weights are zero: their scale would be, too")
    if weights.abs().max() > largest:
        raise ValueError(f"a weight is larger than largest={largest}, that of the whole matrix")
    rows = [(str(i), weight) for i, weight in enumerate(weights.tolist(), 1)]
    return LiveFigure(
        __file__,
        {"weights": weights.tolist(), "largest": largest},
        {"bits": 4, "block": "matrix"},
        table("The weights", ["number", "weight"], rows),
    )
