"""Byte-pair encoding, one merge at a time."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from book.page.live import LiveFigure, table

WORDS, LETTERS, STEPS = 6, 9, 10


def pairs_figure(words: Sequence[str]) -> LiveFigure:
    """Six words as letters; every step joins the pair that `learn_bpe` would.

    Args:
        words: six, of at most nine letters from a to z; a reader may write others.

    Raises:
        ValueError: there are not six, or one is something else.
    """
    words = list(words)
    fits = all(re.fullmatch(f"[a-z]{{1,{LETTERS}}}", word) for word in words)
    if len(words) != WORDS or not fits:
        raise ValueError(f"give {WORDS} words of 1 to {LETTERS} letters from a to z, got {words}")
    counts = Counter(pair for word in words for pair in pairwise(word))
    found = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:5]
    rows = [(f"{left} + {right}", count) for (left, right), count in found]
    fallback = table("The most frequent pairs", ["pair", "how often"], rows)
    data = {"steps": STEPS, "words": WORDS, "letters": LETTERS}
    return LiveFigure(__file__, data, {"text": " ".join(words), "step": 0}, fallback)
