"""Every head of a language model on one text that repeats."""

from collections.abc import Sequence

import torch

from book.page.live import LiveFigure, table
from book.page.weights import packed_maps


def browser_figure(words: Sequence[str], maps: torch.Tensor, *, period: int) -> LiveFigure:
    """A map of all heads, coloured by a score, to choose one from: its map, a word's row, scores.

    It opens on the head that looks most at what followed the earlier copy of the same word.

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
    keys |= {"on the first word": torch.zeros_like(t)}
    scores = {name: shown[:, :, t, key].mean(-1) for name, key in keys.items()}
    block, head = divmod(int(scores["on what followed the copy"].argmax()), heads)
    data = {"words": list(words), "maps": packed_maps(maps), "blocks": blocks, "heads": heads}
    data |= {"period": period}
    value = {"block": block, "head": head, "query": T - 2, "score": "1"}
    rows = [(name, score[block, head].item()) for name, score in scores.items()]
    title = f"Head {head} of block {block}: mean weight, second copy"
    fallback = table(title, ["", "score"], rows)
    return LiveFigure(__file__, data, value, fallback)
