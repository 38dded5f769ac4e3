"""Answers to the exercises of book/beyond_recurrence.ipynb."""

import math

import torch
import torch.nn.functional as F

from book.beyond_recurrence.checks import convolve_centred, forget_bias, scan
from tests.book.answers import right, wrong

# 1. How far open?


@right(forget_bias)
def by_logit(distances, kept):
    return torch.logit(kept ** (1 / distances))


@right(forget_bias)
def by_logarithms(distances, kept):
    gate = torch.exp(math.log(kept) / distances)
    return torch.log(gate) - torch.log(1 - gate)


@wrong(forget_bias, "this is the gate")
def gate_itself(distances, kept):
    return kept ** (1 / distances)


@wrong(forget_bias, "the distance is left out")
def for_one_word(distances, kept):
    return torch.full_like(distances, math.log(kept / (1 - kept)))


@wrong(forget_bias, "the gate is its root")
def power_of_the_share(distances, kept):
    gate = kept**distances
    return torch.log(gate / (1 - gate))


@wrong(forget_bias, "the sign is wrong")
def closing(distances, kept):
    gate = kept ** (1 / distances)
    return torch.log(1 / gate - 1)


@wrong(forget_bias, "the logarithm of the gate")
def logarithm_only(distances, kept):
    return math.log(kept) / distances


@wrong(forget_bias, "the same amount off")
def divided(distances, kept):
    return torch.logit(kept / distances)


@right(forget_bias)
def list_of_biases(distances, kept):
    return by_logit(distances, kept).tolist()


# 2. The centre of the kernel


@right(convolve_centred)
def padded_by_hand(conv, x):
    side = (conv.kernel_size[0] - 1) // 2
    return conv(F.pad(x.transpose(1, 2), (side, side))).transpose(1, 2)


@right(convolve_centred)
def padding_same(conv, x):
    return F.conv1d(x.mT, conv.weight, conv.bias, padding="same").mT


@wrong(convolve_centred, "still looks left only")
def left_only(conv, x):
    return conv(F.pad(x.mT, (conv.kernel_size[0] - 1, 0))).mT


@wrong(convolve_centred, "looks right only")
def right_only(conv, x):
    return conv(F.pad(x.mT, (0, conv.kernel_size[0] - 1))).mT


@wrong(convolve_centred, "nothing is padded")
def not_padded(conv, x):
    return conv(x.mT).mT


@wrong(convolve_centred, "longer than the sentence")
def padded_twice(conv, x):
    side = conv.kernel_size[0] - 1
    return conv(F.pad(x.mT, (side, side))).mT


@wrong(convolve_centred, "still (B, d, n)")
def not_turned_back(conv, x):
    return conv(F.pad(x.mT, ((conv.kernel_size[0] - 1) // 2,) * 2))


@wrong(convolve_centred, "always 1")
def three_only(conv, x):
    return conv(F.pad(x.mT, (1, 1))).mT


@wrong(convolve_centred, "it raised RuntimeError")
def features_padded(conv, x):
    side = (conv.kernel_size[0] - 1) // 2
    return conv(F.pad(x, (side, side)).mT).mT


@wrong(convolve_centred, "to a ring")
def ring(conv, x):
    return conv(F.pad(x.mT, ((conv.kernel_size[0] - 1) // 2,) * 2, mode="circular")).mT


@wrong(convolve_centred, "their nearest word")
def nearest(conv, x):
    return conv(F.pad(x.mT, ((conv.kernel_size[0] - 1) // 2,) * 2, mode="replicate")).mT


# 3. A recurrence that does not wait


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


@right(scan)
def pairs_in_float64(w, x):
    def recur(w, x):
        if len(x) == 1:
            return x
        odd = len(x) // 2 * 2
        pairs = recur(w[1:odd:2] * w[0:odd:2], w[1:odd:2] * x[0:odd:2] + x[1:odd:2])
        before = torch.cat([pairs.new_zeros(1), pairs])[: len(x[0::2])]
        even = w[0::2] * before + x[0::2]
        result = torch.empty_like(x)
        result[1:odd:2], result[0::2] = pairs, even
        return result

    return recur(w.double(), x.double())


@wrong(scan, "each waits for the one before")
def loop(w, x):
    h, states = torch.zeros(()), []
    for factor, word in zip(w, x, strict=True):
        h = factor * h + word
        states.append(h)
    return torch.stack(states)


@wrong(scan, "running sum")
def sums(w, x):
    return torch.cumsum(x, dim=0)


@wrong(scan, "it divides by products of weights")
def divides(w, x):
    product = torch.cumprod(w, 0)
    return product * torch.cumsum(x / product, 0)


@wrong(scan, "one place off")
def weights_late(w, x):
    return loop(torch.cat([w[-1:], w[:-1]]), x)


@wrong(scan, "one place off")
def weights_early(w, x):
    return loop(torch.cat([w[1:], w[:1]]), x)


@wrong(scan, "w multiplies the new word")
def weights_on_words(w, x):
    return doubling(w, w * x)


@wrong(scan, "from the end to the beginning")
def backwards(w, x):
    return doubling(w.flip(0), x.flip(0)).flip(0)


@wrong(scan, "only one round")
def one_round(w, x):
    return torch.cat([x[:1], x[1:] + w[1:] * x[:-1]])


@wrong(scan, "no power of two")
def powers_of_two_only(w, x):
    for i in range(int(math.log2(len(x)))):
        k = 2**i
        x = torch.cat([x[:k], x[k:] + w[k:] * x[:-k]])
        w = torch.cat([w[:k], w[k:] * w[:-k]])
    return x


@wrong(scan, "it should double")
def distance_by_one(w, x):
    for k in range(1, len(x)):
        x = torch.cat([x[:k], x[k:] + w[k:] * x[:-k]])
        w = torch.cat([w[:k], w[k:] * w[:-k]])
    return x


@wrong(scan, "stay the same in all rounds")
def weights_not_combined(w, x):
    k = 1
    while k < len(x):
        x = torch.cat([x[:k], x[k:] + w[k:] * x[:-k]])
        k *= 2
    return x


@wrong(scan, "before x has used the old one")
def weights_first(w, x):
    k = 1
    while k < len(x):
        w = torch.cat([w[:k], w[k:] * w[:-k]])
        x = torch.cat([x[:k], x[k:] + w[k:] * x[:-k]])
        k *= 2
    return x


@wrong(scan, "it changes its input x")
def in_place_rounds(w, x):
    k, w = 1, w.clone()
    while k < len(x):
        x[k:] += w[k:] * x[:-k].clone()
        w[k:] *= w[:-k].clone()
        k *= 2
    return x


@wrong(scan, "no gradient reaches")
def detached(w, x):
    return doubling(w.detach(), x.detach())
