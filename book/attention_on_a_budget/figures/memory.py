"""An 8 × 8 matrix in which facts are written by one of three rules, and the cache beside it."""

from collections.abc import Sequence

import torch
from torch.nn.functional import one_hot

from book.attention_on_a_budget.matrix import delta_rule, linear_attention
from book.page.live import LiveFigure, table

KEYS = {
    "cat": "-+---+--", "dog": "-+----+-", "cow": "+++-+-++", "owl": "++++++--",
    "fox": "+++-+---", "hen": "--+++++-", "pig": "++-+-+-+", "bee": "+-------",
}  # fmt: skip
FADE = 0.8
RULES = ("add", "fade", "overwrite")
FACTS = (("cat", 3), ("dog", 5), ("cat", 7))
MOST = 12


def keys_of(animals: Sequence[str]) -> torch.Tensor:
    """The keys (N, 8) of animals: signs, divided by the root of 8, so that they have length 1."""
    signs = [[1.0 if sign == "+" else -1.0 for sign in KEYS[animal]] for animal in animals]
    return torch.tensor(signs, dtype=torch.float64) / 8**0.5


def scores(facts: Sequence[tuple[str, int]], ask: str, rule: str) -> torch.Tensor:
    """The scores (8,) of the digits 1 to 8, if the facts were written in this order."""
    key = keys_of([animal for animal, _ in facts])
    value = one_hot(torch.tensor([digit - 1 for _, digit in facts]), 8).double()
    query = keys_of([ask]).expand_as(key)
    if rule == "overwrite":
        return delta_rule(query, key, value, torch.ones(len(facts), dtype=torch.float64))[-1]
    decay = torch.full((len(facts),), FADE if rule == "fade" else 1.0, dtype=torch.float64)
    return linear_attention(query, key, value, log_decay=decay.log())[-1]


def memory_figure(
    facts: Sequence[tuple[str, int]] = FACTS, *, rule: str = "add", ask: str = "cat"
) -> LiveFigure:
    """A matrix that the reader writes into and asks, by adding, fading or overwriting.

    Args:
        facts: pairs of an animal and a digit from 1 to 8, in the order in which they are written.
        rule: "add", "fade" or "overwrite".
        ask: the animal that is asked about.

    Raises:
        ValueError: an animal, a digit or the rule is not known, or there are too many facts.
    """
    animals = list(KEYS)
    if not 1 <= len(facts) <= MOST:
        raise ValueError(f"there is room for 1 to {MOST} facts, got {len(facts)}")
    for animal, digit in (*facts, (ask, 1)):
        if animal not in KEYS or digit not in range(1, 9):
            raise ValueError(
                f"a fact is one of {', '.join(animals)} and a digit from 1 to 8, "
                f"got {animal} {digit}"
            )
    if rule not in RULES:
        raise ValueError(f"the rule is one of {', '.join(RULES)}, got {rule!r}")
    data = {
        "animals": animals,
        "keys": [[1 if sign == "+" else -1 for sign in signs] for signs in KEYS.values()],
        "fade": FADE,
    }
    first, *_ = [animals.index(animal) for animal, _ in facts]
    value = {
        "rule": rule,
        "facts": [[animals.index(animal), digit] for animal, digit in facts],
        "animal": first,
        "digit": 1,
        "ask": animals.index(ask),
    }
    written = ", ".join(f"{animal} {digit}" for animal, digit in facts)
    found = {name: scores(facts, ask, name).tolist() for name in dict.fromkeys((rule, *RULES))}
    fallback = table(
        f"Written: {written}. The scores of the digits, asked about {ask}",
        ["digit", *found],
        [[str(i + 1), *(row[i] for row in found.values())] for i in range(8)],
    )
    return LiveFigure(__file__, data, value, fallback)
