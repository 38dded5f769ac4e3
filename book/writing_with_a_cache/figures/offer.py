"""What a draft offers, what the large model keeps of it, and what comes out."""

from collections.abc import Sequence

import torch

from book.page.live import LiveFigure, table


def offer_figure(words: Sequence[str], model, draft) -> LiveFigure:
    """The rule of speculative decoding for one word: kept, refused and replaced, as bars.

    The reader moves the draft, from one that always proposes what the model likes least to the
    model itself, and may draw the replacement from the model's distribution, a classic mistake.

    Args:
        words: three to eight of them.
        model: (V,), the large model's distribution over these words.
        draft: (V,), the draft's.

    Raises:
        ValueError: these are no two distributions over the words.

    Source: Leviathan et al. 2023, algorithm 1 (https://arxiv.org/abs/2211.17192).
    """
    p, q = (torch.as_tensor(x, dtype=torch.float64) for x in (model, draft))
    if not 3 <= len(words) <= 8 or p.shape != (len(words),) or q.shape != p.shape:
        raise ValueError(
            f"three to eight words with two probabilities each are needed, got {len(words)}, "
            f"{tuple(p.shape)} and {tuple(q.shape)}"
        )
    if min(p.min(), q.min()) < 0 or max((p.sum() - 1).abs(), (q.sum() - 1).abs()) > 1e-6:
        raise ValueError(f"probabilities must sum to 1, got {p.sum():.3f} and {q.sum():.3f}")
    data = {"words": list(words), "model": p.tolist(), "draft": q.tolist()}
    rows = [("kept", torch.minimum(p, q).sum().item()), ("off (total variation)", 0.0)]
    return LiveFigure(
        __file__,
        data,
        {"near": 0, "mistake": False},
        table("What the model keeps of this draft", ["", "share"], rows),
    )
