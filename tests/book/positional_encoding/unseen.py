"""Answers by somebody who had not read the checks."""

import math

import torch

from tests.book.unseen import answers_to

right, wrong = answers_to("positional_encoding")


@right
def to_halves(encoding):
    d = encoding.shape[1]
    return encoding[:, sorted(range(d), key=lambda i: i % 2)]


wrong("cosines first", "i % 2)", "-(i % 2))")
wrong("positions sorted", lambda encoding: torch.cat([encoding[::2], encoding[1::2]], 0))


@right
def move(encoding, k):
    out = torch.empty_like(encoding)
    d = encoding.shape[1]
    for i in range(d // 2):
        a = k * 10000 ** (-2 * i / d)
        s, co = encoding[:, 2 * i], encoding[:, 2 * i + 1]
        out[:, 2 * i] = s * math.cos(a) + co * math.sin(a)
        out[:, 2 * i + 1] = co * math.cos(a) - s * math.sin(a)
    return out


wrong("turns backwards", "a = k", "a = -k")
wrong("takes row t+k of the table", lambda encoding, k: torch.roll(encoding, -k, 0))


@right
def rotate(x, positions):
    h = x.shape[1] // 2
    z = torch.complex(x[:, :h], x[:, h:])
    angle = torch.outer(positions.to(x.dtype), 10000.0 ** (-torch.arange(h) / h))
    z = z * torch.polar(torch.ones_like(angle), angle)
    return torch.cat([z.real, z.imag], 1)


wrong(
    "turned the other way",
    "torch.polar(torch.ones_like(angle), angle)",
    "torch.polar(torch.ones_like(angle), -angle)",
)
wrong(
    "puts pairs together differently",
    "torch.cat([z.real, z.imag], 1)",
    "torch.stack([z.real, z.imag], -1).flatten(1)",
)
