"""Answers to the exercises of book/beyond_recurrence.ipynb."""

import math

import torch
import torch.nn.functional as F

from book.beyond_recurrence.checks import convolve_centred, forget_bias, scan
from tests.book.answers import right, wrong

# How far open?


@right(forget_bias)
def by_logit(distances, kept):
    return torch.logit(kept ** (1 / distances))


@right(forget_bias)
def by_logarithms(distances, kept):
    gate = torch.exp(math.log(kept) / distances)
    return torch.log(gate) - torch.log(1 - gate)


# The centre of the kernel


@right(convolve_centred)
def padded_by_hand(conv, x):
    side = (conv.kernel_size[0] - 1) // 2
    return conv(F.pad(x.transpose(1, 2), (side, side))).transpose(1, 2)


@right(convolve_centred)
def padding_same(conv, x):
    return F.conv1d(x.mT, conv.weight, conv.bias, padding="same").mT


@wrong(convolve_centred, "it raised RuntimeError")
def features_padded(conv, x):
    side = (conv.kernel_size[0] - 1) // 2
    return conv(F.pad(x, (side, side)).mT).mT


# A recurrence that does not wait


@right(scan)
def doubling(w, x):
    k = 1
    while k < len(x):
        x = torch.cat([x[:k], x[k:] + w[k:] * x[:-k]])
        w = torch.cat([w[:k], w[k:] * w[:-k]])
        k *= 2
    return x


@right(scan)
def divide_and_conquer(w, x):
    if len(x) == 1:
        return x
    half = len(x) // 2
    left, right = divide_and_conquer(w[:half], x[:half]), divide_and_conquer(w[half:], x[half:])
    return torch.cat([left, right + w[half:].cumprod(0) * left[-1]])


@wrong(scan, "no gradient reaches")
def detached(w, x):
    return doubling(w.detach(), x.detach())


@wrong(scan, "on this case: two numbers: the second state")
def a_round_too_few(w, x):
    return x if len(x) == 2 else doubling(w, x)


@wrong(scan, "without plain numbers, numpy, detach or no_grad")
def by_plain_numbers(w, x):
    states = [0.0]
    for factor, number in zip(w.tolist(), x.tolist(), strict=True):
        states.append(factor * states[-1] + number)
    return torch.tensor(states[1:])
