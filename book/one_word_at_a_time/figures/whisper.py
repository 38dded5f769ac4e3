"""A line of whispering children, and an average."""

from book.page.live import LiveFigure, table

MOST = 20


def whisper_figure(w: float = 0.5, children: int = 8) -> LiveFigure:
    """How much of every word reaches the last child of a line, and its share in an average.

    Each child passes on `w` times what it heard and adds a word of its own.

    Args:
        w: from 0 to 1.2.
        children: 2 to 20.

    Raises:
        ValueError: there is no such line.
    """
    if not (0 <= w <= 1.2 and 2 <= children <= MOST):
        raise ValueError(
            f"w must lie between 0 and 1.2, got {w}; children between 2 and {MOST}, got {children}"
        )
    rows = [
        ("passed on", *(w ** (children - 1 - i) for i in range(children))),
        ("average", *[1 / children] * children),
    ]
    columns = ["word", *map(str, range(1, children + 1))]
    fallback = table("What the last child knows of every word", columns, rows)
    return LiveFigure(__file__, {"most": MOST}, {"w": w, "children": children}, fallback)
