"""An urn of balls with names, some drawn far more often than others: what was never drawn?"""

from book.page.live import LiveFigure, table


def urn_figure(
    balls: int = 400, most: int = 2000, *, tail: float = 1.0, draws: int = 100
) -> LiveFigure:
    """Draws with replacement, and Good and Turing's estimate of what was never drawn.

    The k-th ball is drawn with a probability proportional to k ** -tail. The draws are the
    browser's, the same for every reader until another urn is drawn from; so the table without
    JavaScript has what is expected of them.

    Args:
        balls: how many there are, a square number.
        most: the largest number of draws.
        tail: at first.
        draws: at first.

    Raises:
        ValueError: balls is no square, or there are more draws than `most`.
    """
    if round(balls**0.5) ** 2 != balls or not 1 <= draws <= most:
        raise ValueError(
            f"a square number of balls and 1 to {most} draws are needed, got {balls} and {draws}"
        )
    weights = [k**-tail for k in range(1, balls + 1)]
    total = sum(weights)
    chances = [weight / total for weight in weights]
    once = sum(p * (1 - p) ** (draws - 1) for p in chances)
    new = sum(p * (1 - p) ** draws for p in chances)
    rows = [["seen once, of the draws", once], ["the next ball is a new one", new]]
    fallback = table(f"expected after {draws} draws", ["what", "share"], rows)
    data = {"balls": balls, "most": most}
    value = {"tail": tail, "draws": draws, "urn": 1, "distinct": False}
    return LiveFigure(__file__, data, value, fallback)
