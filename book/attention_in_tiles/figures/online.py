"""One row of an online softmax, key by key."""

import torch

from book.page.live import LiveFigure, table


def online_figure(scores, values) -> LiveFigure:
    """The online softmax of one query: one key at a time, three numbers kept, in any order of keys.

    Args:
        scores: (S,), at most six, so that they stand side by side.
        values: (S,), one number per key.

    Raises:
        ValueError: the two differ in shape, are no vectors, or are too long.

    Source: Milakov and Gimelshein 2018, algorithm 3 (https://arxiv.org/abs/1805.02867).
    """
    scores, values = (torch.as_tensor(x, dtype=torch.float64) for x in (scores, values))
    if scores.dim() != 1 or scores.shape != values.shape:
        raise ValueError(
            f"scores and values must have one shape (S,), got {tuple(scores.shape)} and "
            f"{tuple(values.shape)}"
        )
    if not 2 <= len(scores) <= 6:
        raise ValueError(f"two to six keys fit, got {len(scores)}")
    rows = [("output", (scores.softmax(0) @ values).item())]
    return LiveFigure(
        __file__,
        {"scores": scores.tolist(), "values": values.tolist()},
        {"step": 0, "order": list(range(len(scores)))},
        table("The softmax of the row, times the values", ["", "of all keys"], rows),
    )
