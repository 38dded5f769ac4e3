"""Intervals for a share of right answers: Wald's, the bootstrap's and Wilson's."""

from collections.abc import Callable, Mapping, Sequence

from book.page.live import LiveFigure, table

WAYS = ("Wald", "bootstrap", "Wilson")


def intervals_figure(
    coverage: Mapping[str, Callable[[int, float], float]],
    counts: Sequence[int] = (20, 60, 160),
    *,
    right: int = 19,
    percent: int = 90,
) -> LiveFigure:
    """Three intervals for one result, and how often each holds a true share that the reader sets.

    Args:
        coverage: by the names in `WAYS`, coverage(n, p) for the table of a page without JavaScript.
        counts: numbers of questions to choose from; the first is shown first.
        right: how many answers are right at first.
        percent: the true share that is shown first, a whole number of per cent.

    Raises:
        ValueError: the names are others, or there are more right answers than questions.
    """
    if tuple(coverage) != WAYS:
        raise ValueError(f"three ways are compared, {WAYS}; got {tuple(coverage)}")
    n = counts[0]
    if not 0 <= right <= n:
        raise ValueError(f"of {n} answers {right} cannot be right")
    shares = [percent / 100, *(p for p in (0.7, 0.9, 0.97) if p != percent / 100)]
    rows = [[name, *(coverage[name](n, p) for p in shares)] for name in WAYS]
    columns = [f"true share {100 * p:.0f} %" for p in shares]
    fallback = table(f"How often each interval holds it, {n} questions", ["", *columns], rows)
    value = {"n": str(n), "right": right, "percent": percent}
    return LiveFigure(__file__, {"counts": list(counts)}, value, fallback)
