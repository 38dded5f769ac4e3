"""Seeded draws, and the split of pairs into those trained on and those held out."""

import random
from collections.abc import Sequence
from typing import TypeVar

from companion.validation import require_choice

SPLITS = ("train", "validation", "test")

Item = TypeVar("Item")


def seeded(purpose: str, seed: int) -> random.Random:
    """A generator for one purpose: equal for equal (purpose, seed), independent otherwise.

    Raises:
        TypeError: the seed is not a whole number.
    """
    if not isinstance(seed, int):
        raise TypeError(f"seed is {seed!r}; expected a whole number, such as seed=0")
    return random.Random(f"{purpose} {seed}")


def part(items: Sequence[Item], split: str, rng: random.Random) -> list[Item]:
    """The items of one split: an eighth for validation, an eighth to test, the rest to train.

    The three parts are disjoint and together they are all of `items`.

    Raises:
        ValueError: the split is not one of `SPLITS`.
    """
    require_choice("split", split, SPLITS)
    shuffled = rng.sample(items, len(items))
    eighth = len(items) // 8
    if split == "validation":
        return shuffled[:eighth]
    if split == "test":
        return shuffled[eighth : 2 * eighth]
    return shuffled[2 * eighth :]
