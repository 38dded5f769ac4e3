"""Rotation: a query and a key, each turned by its position."""

import torch

from book.page.live import LiveFigure, table
from companion.nn import RotaryEmbedding


def rotation_figure() -> LiveFigure:
    """A query and a key as arrows, turned by their positions as RoPE does it, and their product.

    Source: Su et al. 2021, section 3.2.2 (https://arxiv.org/abs/2104.09864).
    """
    value = {"i": 5, "j": 2, "pair": 0}
    data = {"query": [1.0, 0.25], "key": [0.75, 0.75], "d_k": 8}
    query, key = (torch.tensor(data[name], dtype=torch.float64) for name in ("query", "key"))
    rope = RotaryEmbedding(2)  # one pair, which turns as the first of a wider head does
    turned = [
        rope(row.view(1, 1, 1, 2), torch.tensor([place]))
        for row, place in ((query, value["i"]), (key, value["j"]))
    ]
    rows = [
        ("turned", (turned[0] * turned[1]).sum().item()),
        ("not turned", (query @ key).item()),
    ]
    fallback = table("A query at 5 and a key at 2", ["vectors", "dot product"], rows)
    return LiveFigure(__file__, data, value, fallback)
