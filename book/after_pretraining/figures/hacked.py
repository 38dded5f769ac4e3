"""A model that is paid for the wrong thing, while it learns."""

from collections.abc import Sequence

from book.page.live import LiveFigure, table


def hacked_figure(film: Sequence[dict]) -> LiveFigure:
    """What is paid for, what was wanted, and the distance from the start, step by step.

    Args:
        film: for some steps of training, in order: "step", "proxy" (mean points), "truth" (share
            that passes), "kl" (nats) and "answers", each with "request", "words", "points" and
            "passes".

    Raises:
        ValueError: fewer than two steps.
    """
    if len(film) < 2:
        raise ValueError(f"a film needs at least two steps, got {len(film)}")
    rows = [
        (shot["step"], *(float(shot[key]) for key in ("proxy", "truth", "kl"))) for shot in film
    ]
    return LiveFigure(
        __file__,
        {"film": list(film)},
        {"step": 0},
        table("While it learns", ["step", "points", "passes", "KL"], rows),
    )
