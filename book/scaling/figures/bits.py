"""What each token of a line of code cost a language model."""

import math
from collections.abc import Sequence

from book.page.live import LiveFigure, table


def bits_figure(
    lines: Sequence[Sequence[tuple[str, float, Sequence[tuple[str, float]]]]],
) -> LiveFigure:
    """Lines as tokens, a bar over each as high as the bits that it cost.

    Args:
        lines: one or more, each a list of tokens: (text, ln of the probability that the model gave
            it, what the model expected there as pairs (text, probability), the likeliest first).

    Raises:
        ValueError: there is no line, or one without tokens.
    """
    if not lines or not all(lines):
        raise ValueError("expected at least one line, and at least one token in each")
    data = [
        [
            {"text": text, "log_p": float(log_p)}
            | {"expected": [[other, float(p)] for other, p in expected]}
            for text, log_p, expected in line
        ]
        for line in lines
    ]
    rows = [(token["text"], -token["log_p"] / math.log(2)) for token in data[0]]
    return LiveFigure(
        __file__,
        {"lines": data},
        {"line": 0, "at": 0},
        table("What each token of the first line cost", ["token", "bits"], rows),
    )
