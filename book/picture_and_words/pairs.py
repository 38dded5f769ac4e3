"""Rows of coloured digits, captions of as many words, and two encoders that find each other.

    nice python -m book.picture_and_words.pairs 31 32 33 34 35 > book/picture_and_words/pairs.json

made the table beside this file. A seed draws starts, batches, who writes the digits, and the rows
of the test; it takes two minutes. The chapter trains three of these pairs again.
"""

import json
import math
import sys
from collections.abc import Sequence
from functools import partial
from importlib.resources import files

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from companion.data import digits
from companion.nn import EncoderBlock
from companion.training import cosine_schedule, fit

INKS = {
    "red": (1, 0, 0), "green": (0, 1, 0), "blue": (0, 0, 1),
    "yellow": (1, 1, 0), "purple": (1, 0, 1), "cyan": (0, 1, 1),
}  # fmt: skip
KINDS = 10 * len(INKS)  # a digit in an ink; each kind has a word of its own
PLACES, BATCH, WIDTH, STEPS = 3, 64, 64, 600
CLIP = 1 / 0.07  # the scale at which CLIP's training starts


def words(caption: Sequence[int]) -> list[str]:
    """A caption as it is read."""
    return [f"{[*INKS][kind // 10]}-{kind % 10}" for kind in caption]


def hands(seed: int, split: str) -> list[Tensor]:
    """The handwritten images (N, 64) of each of the ten digits."""
    images, labels = digits(seed, split)
    return [images[labels == digit].flatten(1) for digit in range(10)]


def captions(count: int, random: torch.Generator, kinds: int = KINDS) -> Tensor:
    """Captions (count, 3): three of the first `kinds` kinds, none of them twice."""
    return torch.rand(count, kinds, generator=random).argsort(1)[:, :PLACES]


def written(rows: Tensor, images: Sequence[Tensor], random: torch.Generator) -> Tensor:
    """A handwritten image (..., 64) of each digit in `rows` (...), by anybody."""
    found = torch.empty(*rows.shape, 64)
    for digit, by in enumerate(images):
        here = rows == digit
        found[here] = by[torch.randint(len(by), (int(here.sum()),), generator=random)]
    return found


def pictures(rows: Tensor, images: Sequence[Tensor], random: torch.Generator) -> Tensor:
    """Pictures (n, 3, 192) of captions: each digit written by anybody, in its ink."""
    inks = torch.tensor([*INKS.values()], dtype=torch.float32)[rows // 10]
    grey = written(rows % 10, images, random)
    return (inks[..., None] * grey[..., None, :]).flatten(2)


def shuffled(rows: Tensor, random: torch.Generator) -> Tensor:
    """The words of each caption in any order."""
    return rows.gather(1, torch.rand(rows.shape, generator=random).argsort(1))


def swapped(rows: Tensor, random: torch.Generator) -> Tensor:
    """Each caption with two neighbouring words exchanged."""
    left = torch.randint(PLACES - 1, (len(rows), 1), generator=random)
    order = torch.arange(PLACES).expand(len(rows), -1)
    order = torch.where(order == left, left + 1, torch.where(order == left + 1, left, order))
    return rows.gather(1, order)


def naming(rows: Tensor, told: int, random: torch.Generator) -> Tensor:
    """Captions that name `told` of the three things; the word of the others is "something"."""
    rank = torch.rand(rows.shape, generator=random).argsort(1).argsort(1)
    return rows.masked_fill(rank >= told, KINDS)


class Encoder(nn.Module):
    """Vectors of three tokens, their places, one block, and the mean as a vector of length 1."""

    def __init__(self, embed: nn.Module) -> None:
        super().__init__()
        self.embed, self.places = embed, nn.Parameter(torch.randn(PLACES, WIDTH) * 0.3)
        self.block = EncoderBlock(WIDTH, 4, 2 * WIDTH, norm_first=True)
        self.norm, self.out = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 32)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.block(self.embed(tokens) + self.places)
        return F.normalize(self.out(self.norm(x).mean(1)), dim=-1)


class Pair(nn.Module):
    """An encoder that sees pictures, one that reads captions, and the scale of their scores."""

    def __init__(self, scale: float = CLIP) -> None:
        super().__init__()
        self.see, self.read = Encoder(nn.Linear(192, WIDTH)), Encoder(nn.Embedding(KINDS + 1, 64))
        self.log_scale = nn.Parameter(torch.tensor(math.log(scale)))

    def forward(self, images: Tensor, rows: Tensor) -> Tensor:
        """Scores (n, m) of n pictures with m captions."""
        return self.log_scale.exp() * self.see(images) @ self.read(rows).T


def contrastive(model: nn.Module, batch: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    """For `fit`: InfoNCE of pictures (n, 3, 192) and captions (n, k, 3), the first of k its own."""
    images, rows = batch
    scores = model(images, rows.transpose(0, 1).flatten(0, 1))  # all of the first captions first
    n = len(images)
    own = torch.arange(n)
    both = F.cross_entropy(scores, own) + F.cross_entropy(scores[:, :n].T, own)
    return n * both / 2, torch.tensor(float(n))


def trained(
    seed: int,
    images: Sequence[Tensor],
    batch: str = "random",
    *,
    kinds: int = KINDS,
    told: int = PLACES,
    scale: float = CLIP,
    steps: int = STEPS,
    rate: float = 2e-3,
    max_grad_norm: float = math.inf,
    **options,
) -> Pair:
    """A pair after its training.

    Args:
        batch: which captions stand in one: "random"; "twins", sixteen triples of words in four
            orders each; "hard negatives", random ones, and each with two words exchanged besides.
        kinds: how many of the 60 occur.
        told: how many of the three things a caption names.
        scale: of the scores, at the start; it is learned.
        max_grad_norm, options: of `fit`.
    """
    torch.manual_seed(seed)

    def batches(step: int) -> tuple[Tensor, Tensor]:
        random = torch.Generator().manual_seed(100_000 * seed + step)
        rows = captions(BATCH, random, kinds)
        if batch == "twins":
            rows = shuffled(rows[: BATCH // 4].repeat_interleave(4, 0), random)
        read = [naming(rows, told, random) if told < PLACES else rows]
        if batch == "hard negatives":
            read.append(swapped(rows, random))
        return pictures(rows, images, random), torch.stack(read, 1)

    learning_rate = partial(
        cosine_schedule, max_lr=rate, min_lr=rate / 20, warmup_steps=50, total_steps=steps
    )
    options |= {"loss": contrastive, "learning_rate": learning_rate, "progress": False}
    options |= {"weight_decay": 0.01, "max_grad_norm": max_grad_norm}
    fit(pair := Pair(scale), batches, steps=steps, **options)
    return pair


@torch.no_grad()
def looks(pair: Pair, seed: int, images: Sequence[Tensor], kinds: int = KINDS) -> dict[str, float]:
    """What a pair does with 256 fresh pictures: the shares of

    found: pictures whose own caption (or an equal one) scores highest of all 256;
    jumbled: the same, when the words of every caption are shuffled before they are read;
    order: pictures that score their caption above the same with two neighbours exchanged.
    """
    random = torch.Generator().manual_seed(10_000 + seed)
    rows = captions(256, random, kinds)
    seen = pair.see(pictures(rows, images, random))
    scores = seen @ pair.read(rows).T
    mixed = (seen @ pair.read(shuffled(rows, random)).T).argmax(1)
    exchanged = [
        scores.diagonal() > (seen * pair.read(swapped(rows, random))).sum(1) for _ in range(4)
    ]
    return {
        "found": (rows[scores.argmax(1)] == rows).all(1).float().mean().item(),
        "jumbled": (rows[mixed].sort(1).values == rows.sort(1).values).all(1).float().mean().item(),
        "order": torch.stack(exchanged).float().mean().item(),
    }


@torch.no_grad()
def clouds(
    pair: Pair, seed: int, images: Sequence[Tensor], kinds: int = KINDS, told: int = PLACES
) -> tuple[Tensor, Tensor]:
    """Vectors (512, 32) of fresh pictures and of their captions."""
    random = torch.Generator().manual_seed(20_000 + seed)
    rows = captions(512, random, kinds)
    seen = pair.see(pictures(rows, images, random))
    return seen, pair.read(naming(rows, told, random))


def gap(seen: Tensor, read: Tensor) -> float:
    """The distance of the two centres."""
    return (seen.mean(0) - read.mean(0)).norm().item()


def told_apart(seen: Tensor, read: Tensor) -> float:
    """How often a plane, fitted to one half of the vectors, knows pictures in the other half."""
    x = F.pad(torch.cat([seen, read]), (0, 1), value=1.0)
    y = torch.cat([torch.ones(len(seen)), -torch.ones(len(read))])
    plane = torch.linalg.lstsq(x[::2], y[::2, None]).solution[:, 0]
    return ((x[1::2] @ plane).sign() == y[1::2]).float().mean().item()


def measured() -> list[dict]:
    """The committed table: what was asked of each pair, and its shares and gap."""
    return json.loads(files("book.picture_and_words").joinpath("pairs.json").read_text("utf8"))


ASKED = [
    *({"kinds": kinds} for kinds in (6, 10, 20, 60)),
    *({"batch": batch} for batch in ("twins", "hard negatives")),
    *({"rate": rate} for rate in (1e-3, 4e-3)),
    *({"told": told} for told in (1, 2)),
    *({"scale": 100.0} | more for more in ({}, {"max_grad_norm": 1.0}, {"steps": 1800})),
    *({"steps": 1800} | more for more in ({}, {"told": 1})),
]


def main(seeds: Sequence[int]) -> None:
    """Print the table of these seeds."""
    table = []
    for seed in seeds:
        seen, fresh = hands(seed, "train"), hands(seed, "test")
        for asked in ASKED:
            pair, kinds = trained(seed, seen, **asked), asked.get("kinds", KINDS)
            both = clouds(pair, seed, fresh, kinds, asked.get("told", PLACES))
            row = {"gap": gap(*both), "told apart": told_apart(*both)}
            row |= {"scale": pair.log_scale.exp().item()}
            if "told" not in asked:
                row |= looks(pair, seed, fresh, kinds)
            kept = {name: round(number, 4) for name, number in row.items()}
            table.append(json.dumps({"seed": seed, "asked": asked} | kept))
            print(table[-1], file=sys.stderr, flush=True)
    print("[\n" + ",\n".join(table) + "\n]")


if __name__ == "__main__":
    torch.set_num_threads(1)
    main([int(seed) for seed in sys.argv[1:]])
