"""The four terms of a score between words with positions."""

import torch

from book.page.live import LiveFigure, table
from companion.nn import sinusoidal_encoding

VECTORS = {"Alice": [2.0, 0.0], "loves": [0.0, 1.0], "Bob": [1.0, 1.0]}  # the chapter's


def terms_figure() -> LiveFigure:
    """The score of two sums, word + position, multiplied out: four matrices and their sum.

    Source: Dai et al. 2019, section 3.3 (https://arxiv.org/abs/1901.02860).
    """
    value = {"step": 4, "first": "Alice", "last": "Bob"}
    x = torch.tensor(list(VECTORS.values()), dtype=torch.float64)
    p = sinusoidal_encoding(3, 2, dtype=torch.float64)
    terms = {"word, word": x @ x.T, "word, position": x @ p.T, "position, word": p @ x.T}
    terms["position, position"] = p @ p.T
    rows = [
        (f"{name}: {word} asks", *row)
        for name, scores in terms.items()
        for word, row in zip(VECTORS, scores.tolist(), strict=True)
    ]
    fallback = table("Four terms of every score", ["term", *VECTORS], rows)
    return LiveFigure(__file__, {"vectors": VECTORS}, value, fallback)
