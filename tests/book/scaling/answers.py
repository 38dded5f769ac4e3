"""Answers to the exercises of book/scaling.ipynb."""

import math

import numpy as np
import torch

from book.scaling.checks import bits_per_character, fit_power_law, primed_bits
from tests.book.answers import right, wrong

# Bits per character


@right(bits_per_character)
def in_torch(log_p, text):
    return -log_p.sum() / math.log(2) / len(text)


@right(bits_per_character)
def with_numpy(log_p, text):
    nats = -np.asarray(log_p, dtype=np.float64).sum()
    return float(nats * np.log2(np.e)) / len(text)


@wrong(bits_per_character, "two bits")
def logarithm_of_a_logarithm(log_p, text):
    return -torch.log2(-log_p).sum() / len(text)


# A compressor that has read before


@right(primed_bits)
def difference_of_lengths(compress, old, new):
    both = len(compress((old + new).encode("utf8")))
    return (both - len(compress(old.encode("utf8")))) * 8 / len(new)


@right(primed_bits)
def with_bytes(compress, old, new):
    first, second = bytes(old, "utf8"), bytes(new, "utf8")
    return np.subtract(len(compress(first + second)), len(compress(first))) / len(new) * 8


@wrong(primed_bits, "is 0.125 times what is expected")
def bytes_for_each(compress, old, new):
    return (len(compress((old + new).encode())) - len(compress(old.encode()))) / len(new)


@wrong(primed_bits, "a real compressor")
def only_the_end_was_read(compress, old, new):
    old = old[-20:]
    return 8 * (len(compress((old + new).encode())) - len(compress(old.encode()))) / len(new)


# A floor and a power law


@right(fit_power_law)
def with_a_loop(sizes, losses, floors):
    best = None
    for floor in floors:
        if min(losses) <= floor:
            continue
        x = [math.log(n) for n in sizes]
        y = [math.log(loss - floor) for loss in losses]
        mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
        across = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
        slope = across / sum((a - mean_x) ** 2 for a in x)
        factor = math.exp(mean_y - slope * mean_x)
        error = sum(
            (floor + factor * n**slope - loss) ** 2 for n, loss in zip(sizes, losses, strict=True)
        )
        if best is None or error < best[0]:
            best = error, (floor, factor, -slope)
    return best[1]


@right(fit_power_law)
def with_torch(sizes, losses, floors):
    n, loss = torch.tensor(sizes).double(), torch.tensor(losses).double()
    lines = torch.stack([torch.ones_like(n), n.log()], dim=1)
    found = {}
    for floor in [floor for floor in floors if floor < loss.min()]:
        height, slope = torch.linalg.lstsq(lines, (loss - floor).log()[:, None]).solution[:, 0]
        error = (floor + height.exp() * n**slope - loss).square().mean()
        found[float(error)] = [torch.tensor(floor), height.exp(), -slope]
    return found[min(found)]


@wrong(fit_power_law, "no floor lies at or above")
def floors_anywhere(sizes, losses, floors):
    n, loss = torch.tensor(sizes).double(), torch.tensor(losses).double()
    found = []
    for floor in floors:
        x, y = n.log(), (loss - floor).log()
        slope = ((x - x.mean()) * (y - y.mean())).sum() / (x - x.mean()).square().sum()
        factor = (y.mean() - slope * x.mean()).exp()
        error = (floor + factor * n**slope - loss).square().sum()
        found.append((error, floor, factor, -slope))
    return found[int(torch.stack([fit[0] for fit in found]).argmin())][1:]
