"""Answers by somebody who had not read the checks."""

import math

import torch
import torch.nn.functional as F

from tests.book.unseen import answers_to

right, wrong = answers_to("beyond_recurrence")


@right
def forget_bias(distances, kept):
    return torch.tensor(
        [(lambda g: math.log(g) - math.log1p(-g))(kept ** (1 / float(n))) for n in distances]
    )


wrong("returns the gate", "math.log(g) - math.log1p(-g)", "g")
wrong("divides by n", "kept ** (1 / float(n))", "kept / float(n)")
wrong("forgotten share", "kept ** (1 / float(n))", "(1 - kept) ** (1 / float(n))")


@right
def convolve_centred(conv, x):
    r = conv.kernel_size[0] // 2
    zeros = x.new_zeros(x.shape[0], r, x.shape[2])
    return conv(torch.cat([zeros, x, zeros], 1).transpose(1, 2)).transpose(1, 2)


wrong("pads left only", "[zeros, x, zeros]", "[zeros, zeros, x]")
wrong(
    "repeats the ends",
    "[zeros, x, zeros]",
    "[x[:, :1].expand(-1, r, -1), x, x[:, -1:].expand(-1, r, -1)]",
)
wrong("pads right only", "[zeros, x, zeros]", "[x, zeros, zeros]")


@right
def scan(w, x):
    n, d = len(x), 1
    while d < n:
        pw = torch.cat([w.new_ones(d), w[:-d]])
        px = torch.cat([x.new_zeros(d), x[:-d]])
        x, w = x + w * px, w * pw
        d *= 2
    return x


wrong("loop", lambda w, x: _loop(w, x))
wrong("divides by cumulated weights", lambda w, x: w.cumprod(0) * (x / w.cumprod(0)).cumsum(0))


def _loop(w, x):
    h, out = 0, []
    for a, b in zip(w, x):
        h = a * h + b
        out.append(h)
    return torch.stack(out)


@right
def forget_bias(distances, kept):
    gate = kept ** (1 / distances)
    return torch.log(gate / (1 - gate))


wrong("the sigmoid, not its inverse", "torch.log(gate / (1 - gate))", "torch.sigmoid(gate)")
wrong("an exponent that is rounded down", "1 / distances", "1 // distances")


@right
def convolve_centred(conv, x):
    side = (conv.kernel_size[0] - 1) // 2
    padded = F.pad(x.mT, (side, side))
    return conv(padded).mT


wrong("the ends are repeated", "(side, side))", '(side, side), mode="replicate")')
wrong(
    "reshape, not a change of axes",
    "F.pad(x.mT,",
    "F.pad(x.reshape(x.mT.shape),",
    "conv(padded).mT",
    "conv(padded).reshape(x.shape)",
)


@right
def scan(w, x):
    n, distance = len(x), 1
    while distance < n:
        before_w = torch.cat([torch.ones(distance, dtype=w.dtype), w[:-distance]])
        before_x = torch.cat([torch.zeros(distance, dtype=x.dtype), x[:-distance]])
        x = w * before_x + x
        w = w * before_w
        distance *= 2
    return x


wrong(
    "w is renewed first",
    "        x = w * before_x + x\n        w = w * before_w\n",
    "        w = w * before_w\n        x = w * before_x + x\n",
)

wrong(
    "what stands at the end comes in at the beginning",
    "torch.cat([torch.zeros(distance, dtype=x.dtype), x[:-distance]])",
    "x.roll(distance)",
)


@right
def convolve_centred(conv, x):
    k = conv.kernel_size[0]
    side = k // 2
    padded = F.pad(x.transpose(1, 2), (side, side))
    return conv(padded).transpose(1, 2)


wrong("one word to each side, whatever the kernel", "side = k // 2", "side = 1")


@right
def scan(w, x):
    n = len(x)
    reach = 1
    while reach < n:
        w_before = torch.cat([torch.ones(reach, dtype=w.dtype), w[:-reach]])
        x_before = torch.cat([torch.zeros(reach, dtype=x.dtype), x[:-reach]])
        x = x + w * x_before
        w = w * w_before
        reach = 2 * reach
    return x


wrong("the distance grows by one", "2 * reach", "reach + 1")


@right
def convolve_centred(conv, x):
    half = (conv.weight.shape[-1] - 1) // 2
    out = F.conv1d(x.transpose(-1, -2), conv.weight, conv.bias, padding=half)
    return out.transpose(-1, -2)


wrong(
    "pads on the left only, as in the chapter",
    "    half = (conv.weight.shape[-1] - 1) // 2\n    out = F.conv1d(x.transpose(-1, -2), conv.weight, conv.bias, padding=half)\n    return out.transpose(-1, -2)",
    "    k = conv.kernel_size[0]\n    return conv(F.pad(x.mT, (k - 1, 0))).mT",
)
