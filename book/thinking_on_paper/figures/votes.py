"""What is right when one answer is chosen from k samples, over k."""

from collections.abc import Mapping, Sequence

from book.page.live import LiveFigure, table

WAYS = 5  # to choose: one sample, greedy decoding, a vote, a vote after a check, a perfect judge


def votes_figure(shares: Mapping[str, Sequence[float]], *, k: int = 8) -> LiveFigure:
    """Curves over the number of samples, with a slider.

    Args:
        shares: by the name of each of five ways to choose, in the order of `WAYS`, the share of
            right answers with 1, 2, ... samples.
        k: the number of samples that is shown first.

    Raises:
        ValueError: there are not five curves, they differ in length, or k is not on them.
    """
    lengths = {len(curve) for curve in shares.values()}
    if len(shares) != WAYS or len(lengths) != 1:
        raise ValueError(f"{WAYS} curves of one length are needed, got lengths {sorted(lengths)}")
    [most] = lengths
    if not 1 <= k < most:
        raise ValueError(f"k must lie on the curves and before their end, {most}; got {k}")
    data = {name: [float(share) for share in curve] for name, curve in shares.items()}
    rows = [(name, curve[k - 1], curve[-1]) for name, curve in data.items()]
    fallback = table("Share of sums that are right", ["", f"k = {k}", f"k = {most}"], rows)
    return LiveFigure(__file__, {"shares": data, "most": most}, {"k": k}, fallback)
