"""Attention tile by tile, between a large memory and a small one."""

import torch

from book.page.live import LiveFigure, table
from companion.kernels import tiled_attention


def tiles_figure(query, key, value, *, capacity: int = 48) -> LiveFigure:
    """The loops of `companion.kernels.tiled_attention`, a tile at a time, under the reader's hand.

    Blocks travel between the two memories of a GPU, and the bytes that cross are counted.

    Args:
        query, key: (T, d_k) and (S, d_k), at most eight of each, so that they fit on a page.
        value: (S,), one number per key.
        capacity: how many numbers the small memory holds.

    Raises:
        ValueError: shapes do not fit together, or are too long to be shown.
    """
    query, key, value = (torch.as_tensor(x, dtype=torch.float64) for x in (query, key, value))
    if value.dim() != 1:
        raise ValueError(
            f"value must have shape (S,), one number per key, got {tuple(value.shape)}"
        )
    output = tiled_attention(query, key, value[:, None], block_size=2)[:, 0]
    if max(len(query), len(key)) > 8:
        raise ValueError(f"at most 8 queries and keys fit, got {len(query)} and {len(key)}")
    rows = [(f"q{i}", number) for i, number in enumerate(output.tolist(), 1)]
    given = {"query": query.tolist(), "key": key.tolist(), "value": value.tolist()}
    return LiveFigure(
        __file__,
        given | {"capacity": capacity},
        {"step": 1, "block": 2, "causal": False},
        table("Output of attention for each query", ["", "output"], rows),
    )
