"""Where does the label go in? By the norms or as a token: two painters at three learning rates.

    python -m book.from_noise.label {5301..5310} > label.json

made the table, which lies beside this file. A seed draws the split of the digits, the start, the
order of the pictures and all noise: a minute and a half.
"""

from statistics import mean

from torch import Tensor

from book import runs
from book.from_noise.painters import (
    RATE,
    DiT,
    Examiners,
    Guess,
    InContext,
    error,
    learned,
    paint,
)
from companion.data import digits

RATES = (RATE / 3, RATE, 3 * RATE)
KINDS = {"norms": DiT, "token": InContext}


def examine(guess: Guess, images: Tensor, examiners: Examiners, seed: int) -> list[float]:
    """Held-out error, and of 600 pictures: share right, share told apart, share of copies."""
    pictures = paint(guess, seed)
    return [
        round(error(guess, 2 * examiners.held - 1, examiners.labels, seed), 5),
        round(examiners.right(pictures), 5),
        round(examiners.told_apart(pictures), 5),
        round(examiners.copies(pictures, images), 5),
    ]


def measure(seed: int) -> dict:
    """{"seed", "norms": [what `examine` says at each rate], "token": the same}."""
    images, labels = digits(seed)
    examiners = Examiners(seed)
    row = {"seed": seed}
    for name, kind in KINDS.items():
        models = [learned(kind, 2 * images - 1, labels, seed, rate) for rate in RATES]
        row[name] = [examine(model, images, examiners, seed) for model in models]
    return row


def stored() -> list[dict]:
    """The committed table, a row for each seed."""
    return runs.read(__file__, "label.json")


def best_rate(name: str) -> float:
    """The learning rate at which a painter's mean held-out error is the least."""
    rows = stored()
    return RATES[min(range(len(RATES)), key=lambda i: mean(row[name][i][0] for row in rows))]


def at(rate: float, name: str) -> list[list[float]]:
    """What `examine` says of a painter at this rate, a row for each seed."""
    return [row[name][RATES.index(rate)] for row in stored()]


if __name__ == "__main__":
    runs.write(measure)
