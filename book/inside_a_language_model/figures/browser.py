"""Every head of a language model on one text that repeats."""

from collections.abc import Sequence

import torch

from book.page.live import LiveFigure, table
from book.page.weights import packed_maps


def browser_figure(words: Sequence[str], maps: torch.Tensor, *, period: int) -> LiveFigure:
    """Choose a block, a head and a word: the head's map, the word's row, three scores.

    Before that, four heads are shown as pictures, and the reader says which of them copies: the
    strongest on what followed the earlier copy, on the word before, on the first word, on itself.

    Args:
        words: what the tokens are called, T of them that repeat with the period.
        maps: attention weights (blocks, heads, T, T) on this text.
        period: after how many words the text repeats.

    Raises:
        ValueError: the shapes do not fit, or the weights are not causal.
    """
    T = len(words)
    blocks, heads = maps.shape[:2]
    if maps.shape != (blocks, heads, T, T) or not 1 < period < T:
        raise ValueError(
            f"maps (blocks, heads, {T}, {T}) and a period below {T} are needed, "
            f"got {tuple(maps.shape)} and {period}"
        )
    t, shown = torch.arange(period, T), (255 * maps.cpu()).round() / 255  # as they travel
    keys = {"on the word before": t - 1, "on what followed the copy": t - period + 1}
    keys |= {"on the first word": torch.zeros_like(t), "on itself": t}
    scores = {name: shown[:, :, t, key].mean(-1) for name, key in keys.items()}
    best = {divmod(int(score.argmax()), heads) for score in scores.values()}
    data = {"words": list(words), "maps": packed_maps(maps), "blocks": blocks, "heads": heads}
    data |= {"period": period, "candidates": sorted(best)}
    value = {"block": 0, "head": 0, "query": T - 2, "copier": {"guess": None, "shown": False}}
    names = list(scores)[:3]
    rows = [(name, scores[name][0, 0].item()) for name in names]
    fallback = table("Head 0 of block 0: mean weight, second copy", ["", "score"], rows)
    return LiveFigure(__file__, data, value, fallback)
