"""A DiT that is trained on thirty digits, three of each, and a Gaussian of them: ten starts.

    python -m book.from_noise.thirty {5301..5310} > thirty.json

made the table, which lies beside this file. A seed draws the split of the digits, of whose training
part the first three of each digit are the thirty, the start, the order and all noise: 20 seconds.
"""

import torch
from torch import Tensor

from book import runs
from book.from_noise.painters import (
    PAINTED,
    DiT,
    Examiners,
    Guess,
    error,
    grey,
    learned,
    nearest,
    paint,
)
from companion.data import digits


def thirty(seed: int) -> tuple[Tensor, Tensor]:
    """Three pictures of each digit (30, 1, 8, 8), from 0 to 1, and their labels."""
    images, labels = digits(seed)
    first = torch.cat([(labels == digit).nonzero()[:3, 0] for digit in range(10)])
    return images[first], labels[first]


def blended(images: Tensor, seed: int) -> Tensor:
    """600 pictures from a Gaussian with the mean and covariance of each digit's three."""
    draw = torch.Generator().manual_seed(seed + 2)
    found = []
    for three in (2 * images - 1).flatten(1).split(3):
        weights = torch.randn(PAINTED // 10, 3, generator=draw)
        found.append(three.mean(0) + weights @ (three - three.mean(0)) / 2**0.5)
    return grey(torch.stack(found, dim=1).view(PAINTED, 1, 8, 8))


def examine(guess: Guess, images: Tensor, labels: Tensor, seed: int) -> dict:
    """How often it paints near to these pictures, and its error on them and on others.

    "painted" are its first ten pictures, a character for each pixel: 0 to 16 sixteenths in the
    digits of base 17.
    """
    examiners, pictures = Examiners(seed), paint(guess, seed)
    others = 2 * examiners.held - 1, examiners.labels
    return {
        "copies": round(examiners.copies(pictures, images), 5),
        "known": round(error(guess, 2 * images - 1, labels, seed, rounds=60), 5),
        "new": round(error(guess, *others, seed), 5),
        "painted": [
            "".join("0123456789abcdefg"[level] for level in (16 * picture).int().flatten())
            for picture in pictures[:10]
        ],
    }


def measure(seed: int) -> dict:
    """{"seed", "blends": the Gaussian's share of copies, and what `examine` says of the DiT}."""
    images, labels = thirty(seed)
    blends = Examiners(seed).copies(blended(images, seed), images)
    model = learned(DiT, 2 * images - 1, labels, seed)
    return {"seed": seed, "blends": round(blends, 5), **examine(model, images, labels, seed)}


def stored() -> list[dict]:
    """The committed table, a row for each seed."""
    return runs.read(__file__, "thirty.json")


def pairs(row: dict) -> tuple[Tensor, Tensor]:
    """A start's ten pictures, and the nearest of its thirty images to each."""
    pixels = [[int(pixel, 17) / 16 for pixel in picture] for picture in row["painted"]]
    painted, images = torch.tensor(pixels).view(10, 1, 8, 8), thirty(row["seed"])[0]
    return painted, images[nearest(painted, images)[1]]


if __name__ == "__main__":
    runs.write(measure)
