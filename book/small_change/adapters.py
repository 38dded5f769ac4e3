"""Facts that change: a model that knows 384 of them learns 192 anew, with all weights or adapters.

    python -m book.small_change.adapters 21 22 23 > book/small_change/adapters.json

made the table beside this file: for every seed, which draws the facts and all weights, each method
at up to six learning rates. It takes three minutes for a seed. The chapter runs a few again.
"""

import copy
import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from companion.models import GPT, GPTConfig

SUBJECTS, RELATIONS, OBJECTS = 32, 12, 32
FIRST_OBJECT = SUBJECTS + RELATIONS  # the number of the first token that is an object
SURE = 0.9  # the probability of a fact's object; the rest is even
WIDTH, STEPS, BATCH = 64, 200, 128
RATES = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2)
PARTS = {
    "attention": ("q_proj", "k_proj", "v_proj", "out_proj"),
    "feed-forward": ("up_proj", "down_proj"),
}


@dataclass(frozen=True)
class Facts:
    """What is true before and after: an object for each pair of a subject and a relation.

    Args:
        old, new: objects (facts,), before and after.
        changed, kept: numbers of the facts whose object changes, and of the others.
    """

    old: Tensor
    new: Tensor
    changed: Tensor
    kept: Tensor


def facts(seed: int) -> Facts:
    """Facts at random, half of which get another object."""
    rng = torch.Generator().manual_seed(seed)
    count = SUBJECTS * RELATIONS
    old = torch.randint(OBJECTS, (count,), generator=rng)
    changed, kept = torch.randperm(count, generator=rng).chunk(2)
    new = old.clone()
    new[changed] += torch.randint(1, OBJECTS, (len(changed),), generator=rng)
    return Facts(old, new % OBJECTS, changed, kept)


def true_probabilities(objects: Tensor) -> Tensor:
    """The probabilities (..., OBJECTS) of every object, where these are the facts'."""
    return SURE * F.one_hot(objects, OBJECTS) + (1 - SURE) / OBJECTS


def logits_of(model: nn.Module, which: Tensor) -> Tensor:
    """What a model says of these facts: the logits (facts, tokens) after subject and relation."""
    question = torch.stack([which // RELATIONS, SUBJECTS + which % RELATIONS], dim=1)
    return model(question)[:, -1]


def loss(model: nn.Module, which: Tensor, objects: Tensor) -> Tensor:
    """The cross-entropy to the true probabilities of these facts."""
    target = true_probabilities(objects[which])
    return F.cross_entropy(logits_of(model, which), F.pad(target, (FIRST_OBJECT, 0)))


@torch.no_grad()
def divergence(model: nn.Module, which: Tensor, objects: Tensor) -> float:
    """KL from the truth to the model in nats, the mean over these facts."""
    entropy = torch.special.entr(true_probabilities(objects[:1])).sum()
    return (loss(model, which, objects) - entropy).item()


@torch.no_grad()
def right(model: nn.Module, which: Tensor, objects: Tensor) -> float:
    """The share of these facts whose object is the most probable one."""
    said = logits_of(model, which)[:, FIRST_OBJECT:].argmax(-1)
    return (said == objects[which]).float().mean().item()


class Adapter(nn.Module):
    """A linear layer that stays as it is, and a product of two thin matrices beside it.

    Source: Hu et al. 2021 (https://arxiv.org/abs/2106.09685), section 4.1.
    """

    def __init__(self, linear: nn.Linear, rank: int, alpha: float = 32.0):
        super().__init__()
        self.linear, self.scale = linear, alpha / rank
        size = linear.in_features
        self.down = nn.Parameter(torch.randn(rank, size) / size**0.5)
        self.up = nn.Parameter(torch.zeros(linear.out_features, rank))  # starts as no change

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(x) + self.scale * (x @ self.down.T) @ self.up.T

    @torch.no_grad()
    def merged(self) -> nn.Linear:
        """One layer that does the same."""
        layer = copy.deepcopy(self.linear)
        layer.weight += self.scale * self.up @ self.down
        return layer


def _places(model: nn.Module, where: Sequence[str] = tuple(PARTS)) -> Iterator[tuple]:
    for block in model.blocks:
        for part in where:
            owner = block.self_attention if part == "attention" else block.feed_forward
            yield from ((owner, name) for name in PARTS[part])


def adapted(
    base: nn.Module, rank: int, alpha: float = 32.0, where: Sequence[str] = tuple(PARTS)
) -> nn.Module:
    """A copy of a model of which only adapters can learn, one beside each matrix of these parts."""
    model = copy.deepcopy(base).requires_grad_(False)
    for owner, name in _places(model, where):
        setattr(owner, name, Adapter(getattr(owner, name), rank, alpha))
    return model


def merged(model: nn.Module) -> nn.Module:
    """A copy of an adapted model in which every adapter is added to its matrix."""
    model = copy.deepcopy(model)
    for owner, name in _places(model):
        setattr(owner, name, getattr(owner, name).merged())
    return model


def train(
    model: nn.Module,
    which: Tensor,
    objects: Tensor,
    rate: float,
    steps: int = STEPS,
    batch: int = BATCH,
    watch: Callable[[int], None] = lambda step: None,
) -> torch.optim.Optimizer:
    """Train what can learn on these facts alone; watch(step) is called after each step, from 1."""
    optimizer = torch.optim.AdamW(
        [p for p in model.parameters() if p.requires_grad],
        betas=(0.9, 0.99),
        weight_decay=0.0,
        fused=True,
    )
    for step in range(steps):
        falling = (1 + math.cos(math.pi * step / steps)) / 2
        optimizer.param_groups[0]["lr"] = rate * min((step + 1) / 20, falling)
        rows = which[torch.randperm(len(which))[:batch]]
        optimizer.zero_grad()
        loss(model, rows, objects).backward()
        optimizer.step()
        watch(step + 1)
    return optimizer


def base_model(known: Facts, seed: int) -> GPT:
    """A model of two blocks that knows all facts as they were."""
    torch.manual_seed(seed)
    model = GPT(
        GPTConfig(
            vocab_size=FIRST_OBJECT + OBJECTS,
            d_model=WIDTH,
            num_layers=2,
            num_heads=4,
            d_ff=4 * WIDTH,
            max_len=2,
            dropout=0.0,
        )
    )
    train(model, torch.arange(len(known.old)), known.old, 5e-3, steps=400)
    return model


def change(
    model: nn.Module, known: Facts, rate: float, seed: int, steps: int = STEPS
) -> list[list[float]]:
    """Train a model on the changed facts alone.

    Returns:
        At the start and after every ten steps: how far it is from the new truth on these facts,
        and from the old one on all others, both in nats.
    """

    def look(step: int) -> None:
        if step % 10 == 0:
            path.append(
                [
                    divergence(model, known.changed, known.new),
                    divergence(model, known.kept, known.old),
                ]
            )

    path: list[list[float]] = []
    look(0)
    torch.manual_seed(seed)
    train(model, known.changed, known.new, rate, steps, watch=look)
    return path


# name: (how a model is made of the base, rates, steps); alpha is 32 where nothing is said
METHODS = {
    "all weights": (copy.deepcopy, RATES, STEPS),
    "rank 16": (lambda base: adapted(base, 16), RATES[1:], STEPS),
    "rank 4": (lambda base: adapted(base, 4), RATES[1:], STEPS),
    "rank 1": (lambda base: adapted(base, 1), RATES[1:], STEPS),
    "rank 16, alpha 6.4": (lambda base: adapted(base, 16, 6.4), RATES[2:], STEPS),
    "attention only": (lambda base: adapted(base, 16, where=["attention"]), RATES[3:5], STEPS),
    "feed-forward only": (
        lambda base: adapted(base, 12, where=["feed-forward"]),
        RATES[3:5],
        STEPS,
    ),
    "rank 1, eight times the steps": (lambda base: adapted(base, 1), RATES[:4], 8 * STEPS),
}


def measured() -> list[dict]:
    """The committed table: {"seed", "method", "rate", "right", "kept", "path"} of every run.

    `right` is the share of changed facts that are right in the end, `kept` that of the others, and
    `path` what `change` returns.
    """
    return json.loads(files("book.small_change").joinpath("adapters.json").read_text("utf8"))


def main(seeds: Sequence[int]) -> None:
    """Print the table of these seeds."""
    rows = []
    for seed in seeds:
        known = facts(seed)
        base = base_model(known, seed)
        print(seed, right(base, torch.arange(len(known.old)), known.old), file=sys.stderr)
        for method, (make, rates, steps) in METHODS.items():
            for rate in rates:
                torch.manual_seed(seed)
                model = make(base)
                path = change(model, known, rate, seed, steps)
                path = path if steps == STEPS else path[:: steps // STEPS]
                row = {
                    "seed": seed,
                    "method": method,
                    "rate": rate,
                    "right": round(right(model, known.changed, known.new), 4),
                    "kept": round(right(model, known.kept, known.old), 4),
                    "path": [[round(x, 3) for x in point] for point in path],
                }
                rows.append(json.dumps(row))
                print(seed, method, rate, path[-1], file=sys.stderr, flush=True)
    print("[\n" + ",\n".join(rows) + "\n]")


if __name__ == "__main__":
    torch.set_num_threads(1)
    main([int(seed) for seed in sys.argv[1:]])
