"""Teacher forcing, as a film."""

from collections.abc import Sequence

from book.page.live import LiveFigure, table
from companion.nn import causal_mask


def teacher_figure(target: Sequence[str]) -> LiveFigure:
    """The decoder's shifted input, the causal mask and the answers, place by place.

    Args:
        target: the words of a translation, at least five.

    Raises:
        ValueError: the target is too short for the figure's puzzles.
    """
    target = list(target)
    if len(target) < 5:
        raise ValueError(f"the target needs at least five words, got {target}")
    mask = causal_mask(len(target) + 1).int().tolist()
    rows = [(word, *row) for word, row in zip([*target, "[EOS]"], mask, strict=True)]
    fallback = table("What each answer may look at (1)", ["answer", "[BOS]", *target], rows)
    return LiveFigure(__file__, {"target": target}, {"step": 2, "place": 3}, fallback)
