"""A query that the reader drags among keys in the plane."""

from collections.abc import Sequence

import torch

from book.page.live import LiveFigure, table
from companion.nn import scaled_dot_product_attention


def geometry_figure(tokens: Sequence[str], query, key, value) -> LiveFigure:
    """Attention in the plane: the query moves among the keys, the output inside the values' hull.

    Args:
        tokens: S words. The goals are about the first two.
        query: (2,), the query at the start.
        key, value: (S, 2).

    Raises:
        ValueError: shapes do not fit together, or the vectors are not two wide.
    """
    query, key, value = (torch.as_tensor(x, dtype=torch.float64) for x in (query, key, value))
    if query.shape != (2,) or not key.shape == value.shape == (len(tokens), 2):
        raise ValueError(
            f"{len(tokens)} tokens in the plane need a query (2,), keys and values "
            f"({len(tokens)}, 2), got {tuple(query.shape)}, {tuple(key.shape)} and "
            f"{tuple(value.shape)}"
        )
    output, weights = scaled_dot_product_attention(query[None], key, value)
    x, y = query.tolist()
    rows = list(zip(tokens, weights[0].tolist(), strict=True))
    caption = (
        f"Attention weights of the query ({x:g}, {y:g}); the output is "
        f"({output[0, 0]:.2f}, {output[0, 1]:.2f})"
    )
    return LiveFigure(
        __file__,
        {"tokens": list(tokens), "key": key.tolist(), "value": value.tolist()},
        {"x": x, "y": y, "temperature": 1.0},
        table(caption, ["key", "weight"], rows),
    )
