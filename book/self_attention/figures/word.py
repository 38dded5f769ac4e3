"""Self-attention for one word, step by step."""

from collections.abc import Sequence

import torch

from book.page.live import LiveFigure, table
from companion.nn import scaled_dot_product_attention

COMPARE = 3  # the step that it opens on


def word_figure(words: Sequence[str], x, W_q, W_k, W_v, *, follow: int = -1) -> LiveFigure:
    """One word asks, compares, and takes its share of every value: self-attention in eight steps.

    Args:
        words: T words, two to four of them.
        x: (T, d) a vector per word.
        W_q, W_k, W_v: (d, d_k), (d, d_k) and (d, d_v).
        follow: number of the word that is followed first.

    Raises:
        ValueError: shapes do not fit together, or there are too few or too many words.
    """
    x, W_q, W_k, W_v = (torch.as_tensor(m).detach().double() for m in (x, W_q, W_k, W_v))
    if not 2 <= len(words) == len(x) <= 4:
        raise ValueError(f"two to four words need as many vectors, got {len(words)} and {len(x)}")
    if not x.shape[1] == len(W_q) == len(W_k) == len(W_v) or W_q.shape != W_k.shape:
        shapes = [tuple(matrix.shape) for matrix in (x, W_q, W_k, W_v)]
        raise ValueError(f"x, W_q, W_k, W_v need (T, d), twice (d, d_k) and (d, d_v), got {shapes}")
    follow = range(len(words))[follow]
    query, key, value = x[follow : follow + 1] @ W_q, x @ W_k, x @ W_v
    scores = query @ key.T
    _, weights = scaled_dot_product_attention(query, key, value)
    quantities = {"q · k": scores, "q · k / √d_k": scores / key.shape[1] ** 0.5, "weight": weights}
    rows = [(name, *numbers[0].tolist()) for name, numbers in quantities.items()]
    return LiveFigure(
        __file__,
        {"words": list(words), "x": x.tolist(), "W_q": W_q.tolist(), "W_k": W_k.tolist()}
        | {"W_v": W_v.tolist()},
        {"step": COMPARE, "word": follow, "guess": None},
        table(f"The query of “{words[follow]}” meets every key", ["", *words], rows),
    )
