"""Seeded draws, checked arguments, and pairs divided into those trained on and those kept back."""

import random
from collections.abc import Iterable, Sequence
from typing import TypeVar

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


def check_count(num_sentences: int) -> None:
    """Raises TypeError or ValueError unless `num_sentences` is a whole number, 0 or more."""
    if not isinstance(num_sentences, int):
        raise TypeError(f"num_sentences is {num_sentences!r}; expected a whole number")
    if num_sentences < 0:
        raise ValueError(f"num_sentences is {num_sentences}; ask for 0 or more")


def check_choice(name: str, value: str, choices: Iterable[str]) -> None:
    """Raises ValueError, with the choices, unless `value` is one of them."""
    if value not in choices:
        raise ValueError(f"{name} is {value!r}; choose one of {', '.join(choices)}")


def part(items: Sequence[Item], split: str, rng: random.Random) -> list[Item]:
    """The items of one split: an eighth for validation, an eighth to test, the rest to train.

    The three parts are disjoint and together they are all of `items`.

    Raises:
        ValueError: the split is not one of `SPLITS`.
    """
    check_choice("split", split, SPLITS)
    shuffled = rng.sample(items, len(items))
    eighth = len(items) // 8
    if split == "validation":
        return shuffled[:eighth]
    if split == "test":
        return shuffled[eighth : 2 * eighth]
    return shuffled[2 * eighth :]
