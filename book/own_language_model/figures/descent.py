"""Gradient descent on one next word, in the page."""

from collections.abc import Sequence

import torch

from book.page.live import LiveFigure, table


def descent_figure(text: str, words: Sequence[str], truth: torch.Tensor) -> LiveFigure:
    """Logits learn what comes after a text, from the truth or from words drawn from it.

    Args:
        text: what comes before.
        words: two to twelve, all that can come next.
        truth: (words,) the probability of each, in sum 1.

    Raises:
        ValueError: there are too few or too many words, or these are no probabilities of theirs.
    """
    truth = torch.as_tensor(truth).detach().double()
    if not 2 <= len(words) <= 12:
        raise ValueError(f"the picture has room for two to twelve words, got {len(words)}")
    if truth.shape != (len(words),) or (truth <= 0).any() or abs(truth.sum() - 1) > 1e-6:
        raise ValueError(f"truth must be {len(words)} probabilities above 0, in sum 1; got {truth}")
    even = 1 / len(words)
    rows = [(word, even, p - even) for word, p in zip(words, truth.tolist(), strict=True)]
    data = {"text": text, "words": list(words), "truth": truth.tolist()}
    value = {"rate": 0, "batch": "all", "rates": [], "sizes": []}
    fallback = table(f"What comes after “{text}”", ["", "says", "− gradient"], rows)
    return LiveFigure(__file__, data, value, fallback)
