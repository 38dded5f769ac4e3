"""Answers to the exercises of book/positional_encoding.ipynb."""

import torch

from book.positional_encoding.checks import move, rotate, to_halves
from tests.book.answers import right, wrong

# Another layout


@right(to_halves)
def by_slices(encoding):
    return torch.cat([encoding[:, 0::2], encoding[:, 1::2]], dim=-1)


@right(to_halves)
def by_reshape(encoding):
    return encoding.unflatten(-1, (-1, 2)).transpose(-2, -1).flatten(-2)


@wrong(to_halves, "there may be a single position")
def squeezed(encoding):
    return torch.cat([encoding[:, 0::2].squeeze(0), encoding[:, 1::2].squeeze(0)], dim=-1)


# Move the address


@right(move)
def by_addition_theorem(encoding, k):
    moved = torch.empty_like(encoding)
    for pair in range(encoding.shape[1] // 2):
        angle = torch.tensor(k * 10000 ** (-2 * pair / encoding.shape[1]))
        sin, cos = encoding[:, 2 * pair], encoding[:, 2 * pair + 1]
        moved[:, 2 * pair] = sin * angle.cos() + cos * angle.sin()
        moved[:, 2 * pair + 1] = cos * angle.cos() - sin * angle.sin()
    return moved


@right(move)
def by_angles(encoding, k):
    speed = 10000 ** (-torch.arange(0, encoding.shape[1], 2) / encoding.shape[1])
    angle = torch.atan2(encoding[:, 0::2], encoding[:, 1::2]) + k * speed
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)


@wrong(move, "one position further")
def untouched(encoding, k):
    return encoding


# Turn it


def angles_of(x, positions):
    width = x.shape[1]
    return positions[:, None] / 10000 ** (torch.arange(0, width, 2) / width)


@right(rotate)
def neighbours(x, positions):
    angle = angles_of(x, positions)
    a, b = x[:, 0::2], x[:, 1::2]
    turned = torch.empty_like(x)
    turned[:, 0::2] = a * angle.cos() - b * angle.sin()
    turned[:, 1::2] = a * angle.sin() + b * angle.cos()
    return turned


@right(rotate)
def halves(x, positions):
    angle = angles_of(x, positions).repeat(1, 2)
    a, b = x.chunk(2, dim=1)
    return x * angle.cos() + torch.cat([-b, a], dim=1) * angle.sin()


@right(rotate)
def complex_numbers(x, positions):
    pairs = torch.view_as_complex(x.unflatten(1, (-1, 2)).contiguous())
    turn = torch.polar(torch.ones(()), angles_of(x, positions))
    return torch.view_as_real(pairs * turn).flatten(1)


@wrong(rotate, "it returned shape")
def one_row_for_all(x, positions):
    return neighbours(x, positions)[0]
