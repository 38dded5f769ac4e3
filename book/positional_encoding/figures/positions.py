"""Positions: sinusoids, how alike two of them are, and rotation."""

import torch

from book.page.live import LiveFigure, table
from companion.nn import sinusoidal_encoding


def positions_figure() -> LiveFigure:
    """Positions in three views: sinusoids, how alike two positions are, and rotation.

    Source: Vaswani et al. 2017, section 3.5 (https://arxiv.org/abs/1706.03762); Su et al. 2021,
    section 3.2.2 (https://arxiv.org/abs/2104.09864).
    """
    d_model, position = 16, 3
    value = {"view": "waves", "d_model": d_model, "position": position, "i": 5, "j": 2, "pair": 0}
    waves = sinusoidal_encoding(64, d_model, dtype=torch.float64)
    rows = [(f"column {column}", number) for column, number in enumerate(waves[position].tolist())]
    for distance in (1, 8, 32):
        product = waves[position] @ waves[position + distance]
        rows.append((f"dot product with position {position + distance}", product.item()))
    fallback = table(f"Sinusoids at position {position}", ["what", "number"], rows)
    data = {"query": [1.0, 0.25], "key": [0.75, 0.75], "d_k": 8}
    return LiveFigure(__file__, data, value, fallback)
