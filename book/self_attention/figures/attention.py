"""Attention over a few vectors that the reader edits."""

from collections.abc import Sequence

import torch

from book.page.live import LiveFigure, table
from companion.nn import scaled_dot_product_attention


def attention_figure(tokens: Sequence[str], query, key, value) -> LiveFigure:
    """Attention weights of a few vectors that the reader edits, with temperature and √d_k switch.

    Args:
        tokens: T words.
        query, key, value: (T, d_k), (T, d_k) and (T, d_v): the vectors at the start.

    Raises:
        ValueError: shapes do not fit together.
    """
    query, key, value = (torch.as_tensor(x, dtype=torch.float64) for x in (query, key, value))
    if not len(tokens) == len(query) == len(key):
        raise ValueError(
            f"{len(tokens)} tokens need as many queries and keys, got {len(query)} and {len(key)}"
        )
    _, weights = scaled_dot_product_attention(query, key, value)
    start = {"query": query.tolist(), "key": key.tolist(), "value": value.tolist()}
    rows = [(token, *row) for token, row in zip(tokens, weights.tolist(), strict=True)]
    return LiveFigure(
        __file__,
        {"tokens": list(tokens)},
        start | {"temperature": 1.0, "scaled": True},
        table("Attention weights: query (row), key (column)", ["", *tokens], rows),
    )
