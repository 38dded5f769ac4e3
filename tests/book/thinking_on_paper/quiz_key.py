"""Right options of the quiz on thinking on paper, computed."""

from collections import Counter

import torch

from book.thinking_on_paper.checks import _by_hand, _checked_vote


def carries_of() -> str:
    found = "".join(str(int(274 % 10**k + 358 % 10**k >= 10**k)) for k in (1, 2, 3))
    return f"`{found}`"


def trusting() -> str:
    return str(_by_hand(456, 789, [0, 1, 1]))


def two_lost() -> str:
    """The wrong answer that gets a vote although the right one has more."""
    wrong = (1235, 1145, 1254)
    (passing,) = (x for x in wrong if _checked_vote([1245, x, x], 456, 789) == x)
    return str(passing)


def inverted() -> str:
    """Whether the true carry can be read off the inverted one, and off none at all."""
    true = torch.randint(2, (1000,), generator=torch.Generator().manual_seed(0))
    pairs = Counter(zip((1 - true).tolist(), true.tolist(), strict=True))
    told = len(pairs) == 2  # each note goes with one carry
    return "An inverted carry says" if told else "It ignores the notes"
