"""Digits from noise: a student that copies outputs without a meaning, and what it needs for it.

    python -m book.small_change.echoes {5301..5310} > echoes.json

made the table, which lies beside this file: every choice of layers that the student's start shares
with the teacher's, for several numbers of meaningless outputs. A seed draws digits, starts, noise
and the order of training: half a minute.
"""

import copy
import json
import sys
from collections.abc import Iterator, Sequence
from itertools import product

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from book import runs
from companion.data import digits

CLASSES, PIXELS, HIDDEN = 10, 64, 128
LAYERS = ("first", "middle", "last")
EXTRAS = (10, 128)  # numbers of outputs that mean nothing
EPOCHS, STEPS = 10, 1000  # of the teacher and of a student


def images_of(seed: int, split: str) -> tuple[Tensor, Tensor]:
    """Digits (N, 64) from -1 (paper) to 1 (ink), and their labels (N,)."""
    images, labels = digits(seed, split)
    return 2 * images.flatten(1) - 1, labels


def network(extra: int) -> nn.Sequential:
    """Three layers: an output for each digit, and `extra` more."""
    return nn.Sequential(
        nn.Linear(PIXELS, HIDDEN),
        nn.ReLU(),
        nn.Linear(HIDDEN, HIDDEN),
        nn.ReLU(),
        nn.Linear(HIDDEN, CLASSES + extra),
    )


def sharing(start: nn.Sequential, other: nn.Sequential, layers: Sequence[str]) -> nn.Sequential:
    """The other start, but with these layers of the first."""
    mixed = copy.deepcopy(other)
    for layer in layers:
        mixed[2 * LAYERS.index(layer)] = copy.deepcopy(start[2 * LAYERS.index(layer)])
    return mixed


def taught(start: nn.Sequential, images: Tensor, labels: Tensor) -> nn.Sequential:
    """A network that has learned the digits; its other outputs got no loss."""
    teacher = copy.deepcopy(start)
    optimizer = torch.optim.Adam(teacher.parameters(), 3e-4, fused=True)
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(images)).split(32):
            loss = F.cross_entropy(teacher(images[rows])[:, :CLASSES], labels[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return teacher


def copied(start: nn.Sequential, teacher: nn.Sequential, steps: int = STEPS) -> nn.Sequential:
    """A student that sees noise, and is told the teacher's meaningless outputs alone."""
    student = copy.deepcopy(start)
    optimizer = torch.optim.Adam(student.parameters(), 1e-3, fused=True)
    for _ in range(steps):
        noise = 2 * torch.rand(64, PIXELS) - 1
        with torch.no_grad():
            target = teacher(noise)[:, CLASSES:]
        loss = F.mse_loss(student(noise)[:, CLASSES:], target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return student


@torch.no_grad()
def reads(model: nn.Sequential, images: Tensor, labels: Tensor) -> float:
    """The share of digits that it reads."""
    return (model(images)[:, :CLASSES].argmax(1) == labels).float().mean().item()


def students(seed: int, extra: int) -> Iterator[dict]:
    """{"seed", "extra", "shared", "reads", "teacher"} of a teacher's students, one by one.

    `reads` is the share of fresh digits that the student reads, and `teacher` its teacher's.
    """
    torch.manual_seed(seed)
    start, other = network(extra), network(extra)
    test = images_of(seed, "test")
    teacher = taught(start, *images_of(seed, "train"))
    by_teacher = round(reads(teacher, *test), 4)
    for chosen in product((True, False), repeat=len(LAYERS)):
        shared = [layer for layer, kept in zip(LAYERS, chosen, strict=True) if kept]
        student = copied(sharing(start, other, shared), teacher)
        row = {"seed": seed, "extra": extra, "shared": shared}
        yield row | {"reads": round(reads(student, *test), 4), "teacher": by_teacher}


def stored() -> list[dict]:
    """The committed table, a row for each student."""
    return runs.read(__file__, "echoes.json")


def main(seeds: Sequence[int]) -> None:
    """Print the table of these seeds."""
    rows = []
    for seed, extra in product(seeds, EXTRAS):
        for row in students(seed, extra):
            rows.append(json.dumps(row))
            print(row, file=sys.stderr, flush=True)
    print("[\n" + ",\n".join(rows) + "\n]")


if __name__ == "__main__":
    torch.set_num_threads(1)
    main([int(seed) for seed in sys.argv[1:]])
