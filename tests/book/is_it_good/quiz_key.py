"""Right options of the quiz on how to know that it is good, computed."""

import math
from collections import Counter

from book.is_it_good.checks import _both_orders, _mcnemar


def always_a() -> str:
    key = Counter("A" * 40 + "B" * 20 + "C" * 20 + "D" * 20)
    return f"{100 * key['A'] / key.total():.0f} %"


def interval() -> str:
    share = 20 / 20
    half = 1.96 * math.sqrt(share * (1 - share) / 20)
    return f"{100 * (share - half):.0f} % to {100 * (share + half):.0f} %"


def split() -> str:
    return f"{_mcnemar([True] * 6, [False] * 6):.3f}"


def swapped() -> str:
    flips, right = _both_orders([(3.0, 1.0)])
    if not flips:
        return "It keeps its verdict"
    return "It flips, and both orders added" if right else "It flips, and both orders together"


def stake() -> str:
    return f"About {round(math.exp(60 * 0.1), -2):.0f}"
