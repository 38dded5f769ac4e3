"""Right options of the quiz on why a model makes things up, computed."""

import random

from book.making_things_up.checks import _best_score, _singleton_rate
from book.making_things_up.world import World

TEXTS = 5 * ["Alia"] + 3 * ["Belen"] + ["Corix", "Danon"]


def once() -> str:
    return f"{_singleton_rate(TEXTS):.0%}".replace("%", " %")


def dedup() -> str:
    rate = _singleton_rate(sorted(set(TEXTS)))
    return (
        "1, whatever" if rate == 1 else "Smaller" if rate < _singleton_rate(TEXTS) else "The same"
    )


def alike() -> str:
    world = World(0)
    unread = ((world.p > 0) & (world.count == 0)).sum() / (world.p > 0).sum()
    return f"{unread:.0%}".replace("%", " %")


def cost() -> str:
    ninths = [9 - cost * 1 for cost in (0.9, 9, 10)]  # right nine times, wrong once: nothing gained
    return f"{(0.9, 9, 10)[ninths.index(0)]} points"


def expected() -> str:
    return f"{0.8 - 0.2 * 0.75 / (1 - 0.75):.1f} points"


def root() -> str:
    draw = random.Random(0)
    sure = [draw.random() for _ in range(200)]
    right = [draw.random() < c for c in sure]
    before, after = (_best_score(x, right, 0.75) for x in (sure, [c**0.5 for c in sure]))
    return "It stays" if before == after else "It falls" if after < before else "It rises"
