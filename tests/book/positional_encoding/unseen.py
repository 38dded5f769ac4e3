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


@right
def to_halves(encoding):
    sines = encoding[:, 0::2]
    cosines = encoding[:, 1::2]
    return torch.cat([sines, cosines], dim=1)


wrong(
    "every second position",
    "encoding[:, 0::2]",
    "encoding[0::2]",
    "encoding[:, 1::2]",
    "encoding[1::2]",
)


@right
def move(encoding, k):
    d = encoding.shape[1]
    moved = torch.empty_like(encoding)
    for i in range(d // 2):
        angle = k * 10000 ** (-2 * i / d)
        even, odd = 2 * i, 2 * i + 1
        sine, cosine = encoding[:, even], encoding[:, odd]
        moved[:, even] = sine * math.cos(angle) + cosine * math.sin(angle)
        moved[:, odd] = cosine * math.cos(angle) - sine * math.sin(angle)
    return moved


wrong("the exponent without the 2", "-2 * i / d", "-i / d")


@right
def rotate(x, positions):
    d = x.shape[1]
    speeds = 10000 ** (-torch.arange(0, d, 2) / d)
    theta = positions[:, None] * speeds
    a, b = x[:, 0::2], x[:, 1::2]
    first = a * theta.cos() - b * theta.sin()
    second = a * theta.sin() + b * theta.cos()
    return torch.stack([first, second], dim=2).flatten(1)


wrong(
    "taken apart as neighbours, put together as halves",
    "torch.stack([first, second], dim=2).flatten(1)",
    "torch.cat([first, second], dim=1)",
)


wrong(
    "turned back",
    "a * theta.cos() - b",
    "a * theta.cos() + b",
    "a * theta.sin() + b * theta.cos()",
    "b * theta.cos() - a * theta.sin()",
)


@right
def move(encoding, k):
    T, d = encoding.shape
    i = torch.arange(d // 2)
    angle = k * 10000.0 ** (-2 * i / d)
    sin, cos = encoding[:, 0::2], encoding[:, 1::2]
    new = torch.empty_like(encoding)
    new[:, 0::2] = sin * torch.cos(angle) + cos * torch.sin(angle)
    new[:, 1::2] = cos * torch.cos(angle) - sin * torch.sin(angle)
    return new


wrong("the sign of the cosine's sum", "- sin * torch.sin(angle)", "+ sin * torch.sin(angle)")


@right
def rotate(x, positions):
    d = x.shape[1]
    theta = positions[:, None] * 10000 ** (-torch.arange(0, d, 2) / d)
    z = torch.view_as_complex(x.reshape(len(x), d // 2, 2).contiguous())
    z = z * torch.polar(torch.ones_like(theta), theta)
    return torch.view_as_real(z).reshape(len(x), d)


wrong(
    "laid side by side as halves after taking neighbours",
    "torch.view_as_real(z).reshape(len(x), d)",
    "torch.cat([z.real, z.imag], dim=1)",
)


@right
def move(encoding, k):
    d = encoding.shape[-1]
    angle = k * 10_000 ** (-torch.arange(0, d, 2) / d)
    sin, cos = encoding[:, 0::2], encoding[:, 1::2]
    new_sin = sin * angle.cos() + cos * angle.sin()
    new_cos = cos * angle.cos() - sin * angle.sin()
    return torch.stack([new_sin, new_cos], dim=-1).flatten(1)


wrong("the two is there twice", "(0, d, 2) / d", "(0, d, 2) * 2 / d")
wrong(
    "result in halves",
    "stack([new_sin, new_cos], dim=-1).flatten(1)",
    "cat([new_sin, new_cos], dim=1)",
)


@right
def to_halves(encoding):
    length, d = encoding.shape
    return encoding.reshape(length, d // 2, 2).transpose(1, 2).reshape(length, d)


wrong(
    "cosines first",
    "    length, d = encoding.shape\n    return encoding.reshape(length, d // 2, 2).transpose(1, 2).reshape(length, d)",
    "    return torch.cat([encoding[:, 1::2], encoding[:, 0::2]], dim=1)",
)


@right
def move(encoding, k):
    T, d = encoding.shape
    turn = k * 10000.0 ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    s, c = (encoding[:, 0::2].double(), encoding[:, 1::2].double())
    new_s = s * turn.cos() + c * turn.sin()
    new_c = c * turn.cos() - s * turn.sin()
    return torch.stack([new_s, new_c], dim=-1).reshape(T, d).to(encoding.dtype)


wrong(
    "put together as halves, all sines first",
    "stack([new_s, new_c], dim=-1).reshape(T, d",
    "cat([new_s, new_c], dim=-1",
)


@right
def rotate(x, positions):
    T, d = x.shape
    speed = 10000.0 ** (-torch.arange(0, d, 2, dtype=torch.float32) / d)
    theta = torch.outer(positions.float(), speed).to(x.dtype)
    a, b = (x[:, 0::2], x[:, 1::2])
    left = a * theta.cos() - b * theta.sin()
    right = a * theta.sin() + b * theta.cos()
    return torch.stack((left, right), dim=2).reshape(T, d)


wrong(
    "turned the other way",
    "    left = a * theta.cos() - b * theta.sin()\n    right = a * theta.sin() + b * theta.cos()",
    "    left = a * theta.cos() + b * theta.sin()\n    right = -a * theta.sin() + b * theta.cos()",
)
