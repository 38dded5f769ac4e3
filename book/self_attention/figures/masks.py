"""Masks: who may attend to whom."""

from collections.abc import Sequence

import torch

from book.page.live import LiveFigure, table
from companion.nn import causal_mask, padding_mask, scaled_dot_product_attention

PAD = "[PAD]"


def masks_figure(tokens: Sequence[str], query, key, *, window: int = 1) -> LiveFigure:
    """Four masks over a sentence, as grid, arrows and tensor; the reader clicks a mask of her own.

    Args:
        tokens: T words; "[PAD]" is padding.
        query, key: (T, d_k).
        window: how far the sliding window reaches to either side.

    Raises:
        ValueError: shapes do not fit together.
    """
    query, key = (torch.as_tensor(x, dtype=torch.float64) for x in (query, key))
    T = len(tokens)
    if not T == len(query) == len(key):
        raise ValueError(
            f"{T} tokens need as many queries and keys, got {len(query)} and {len(key)}"
        )
    pad = [token == PAD for token in tokens]
    place = torch.arange(T)
    masks = {
        "none": ("mask = None", None),
        "padding": ("padding_mask(ids, pad_id)", padding_mask(torch.tensor([pad]).long(), 1)),
        "causal": (f"causal_mask({T})", causal_mask(T)),
        "window": (
            f"(place[:, None] - place).abs() <= {window}",
            (place[:, None] - place).abs() <= window,
        ),
    }
    everything = torch.ones(T, T, dtype=torch.bool)
    data = {
        "tokens": list(tokens),
        "scores": (query @ key.T / query.shape[1] ** 0.5).tolist(),
        "pad": pad,
        "masks": [
            {
                "name": name,
                "code": code,
                "tensor": None if mask is None else mask.tolist(),
                "allowed": (everything if mask is None else everything & mask)
                .reshape(T, T)
                .tolist(),
            }
            for name, (code, mask) in masks.items()
        ],
    }
    _, weights = scaled_dot_product_attention(query, key, key, causal_mask(T))
    rows = [(token, *row) for token, row in zip(tokens, weights.tolist(), strict=True)]
    return LiveFigure(
        __file__,
        data,
        {"mask": "causal", "asks": T - 2, "own": everything.tolist()},
        table("Attention weights under the causal mask: query (row), key", ["", *tokens], rows),
    )
