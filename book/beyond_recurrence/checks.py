"""Checks for the exercises of book/beyond_recurrence.ipynb."""

import torch
import torch.nn.functional as F

from book.checking.exercise import Mistake, call, climb, exercise, longest_chain
from book.checking.rungs import edited, ladder


@exercise
def forget_bias(answer) -> str:
    """Check `forget_bias(distances, kept)`, (m,): for each distance the bias b of a forget gate.

    The gate sigmoid(b) multiplies the memory at every step; after that many steps the share `kept`,
    a number between 0 and 1, is to be left.
    """
    climb(FORGET_BIAS, answer)
    return "distances of 1 to 127 words, shares of 0.25, 0.5 and 0.9"


def _forget_bias(distances, kept):
    gate = kept ** (1 / distances)
    return (gate / (1 - gate)).log()


@ladder(_forget_bias)
def FORGET_BIAS(forget_bias):
    """one word: the gate is the share itself, and the bias is what the sigmoid turns into it;
    there is a bias for each distance, also where there is only one"""
    yield forget_bias(torch.tensor([1.0]), 0.2)

    """three words: the gate is multiplied three times, so it is the third root of the share"""
    yield forget_bias(torch.tensor([3.0]), 0.125)

    """several distances: each has its own bias, in their order and shape"""
    yield forget_bias(torch.tensor([10.0, 100.0, 1.0]), 0.5)

    """another share than a half, and distances up to 127"""
    distances = torch.tensor([5.0, 31.0, 127.0])
    yield forget_bias(distances, 0.9)


FORGET_BIAS.mistakes |= {
    "these are the odds of the gate; the bias is their logarithm": edited(
        _forget_bias, ").log()", ")"
    ),
    "this is the gate, not its bias: solve sigmoid(b) = gate for b": edited(
        _forget_bias, "(gate / (1 - gate)).log()", "gate"
    ),
    "the logarithm of the gate is not its bias: the sigmoid has to be undone": edited(
        _forget_bias, "(gate / (1 - gate)).log()", "gate.log()"
    ),
    "the sign is wrong: such a gate closes, or `kept` was taken for the share that is "
    "forgotten": edited(_forget_bias, "(gate / (1 - gate)).log()", "(1 / gate - 1).log()"),
    "the distance is left out: this bias keeps the share for a single word": edited(
        _forget_bias, "kept ** (1 / distances)", "kept ** (1 / distances.clamp(1, 1))"
    ),
    "the share is raised to the power of the distance; the gate is its root": edited(
        _forget_bias, "(1 / distances)", "distances"
    ),
    "the share is divided by the distance, as if each word took the same amount off": edited(
        _forget_bias, "kept ** (1 / distances)", "kept / distances"
    ),
    "the sigmoid is taken of the gate; it has to be undone": edited(
        _forget_bias, "(gate / (1 - gate)).log()", "gate.sigmoid()"
    ),
    "1 / distance is rounded down to 0, as `//` does; divide with `/`": edited(
        _forget_bias, "1 / distances", "1 // distances"
    ),
    "the share is always a half; `kept` is not used": edited(_forget_bias, "kept ** (", "0.5 ** ("),
    "a tanh is undone here; the gate is a sigmoid": edited(
        _forget_bias, "(gate / (1 - gate)).log()", "gate.atanh()"
    ),
}


@exercise
def convolve_centred(answer) -> str:
    """Check `convolve_centred(conv, x)`, (B, n, d) -> (B, n, d), for an nn.Conv1d of odd width."""
    climb(CONVOLVE_CENTRED, answer)
    return "kernels of 1, 3 and 5, sentences of 2 to 7 words, a bias, and gradients"


def _convolve_centred(conv, x):
    side = (conv.kernel_size[0] - 1) // 2
    sides = (side, side)
    return conv(F.pad(x.mT, sides)).mT


@ladder(_convolve_centred)
def CONVOLVE_CENTRED(convolve_centred):
    """a kernel of one word: `conv` wants (B, d, n), and the result is (B, n, d) again"""
    conv, x = torch.nn.Conv1d(2, 2, 1), torch.randn(1, 3, 2)
    yield convolve_centred(conv, x)

    """a kernel of three words: the word, one to its left and one to its right; beyond the ends
    of the sentence, the last axis of x.mT, there are zeros to read, and every word gets a result,
    the first and the last, too"""
    conv = torch.nn.Conv1d(1, 1, 3, bias=False)
    conv.weight.data = torch.tensor([[[1.0, 10.0, 100.0]]])
    yield convolve_centred(conv, torch.tensor([[[1.0], [2.0], [3.0], [4.0]]]))

    """a layer has a bias"""
    conv = torch.nn.Conv1d(1, 1, 3)
    yield convolve_centred(conv, torch.tensor([[[1.0], [2.0], [3.0], [4.0]]]))

    """a sentence that is shorter than the kernel"""
    conv, x = torch.nn.Conv1d(1, 1, 5), torch.randn(1, 2, 1)
    yield convolve_centred(conv, x)

    """several sentences, and vectors with as many entries as there are words"""
    conv, x = torch.nn.Conv1d(4, 4, 3), torch.randn(2, 4, 4)
    yield convolve_centred(conv, x)

    """the layer stays as it is: its own padding is 0 before and after"""
    conv, x = torch.nn.Conv1d(2, 2, 3), torch.randn(1, 4, 2)
    yield convolve_centred(conv, x).shape, conv.padding, conv(x.mT).shape

    """a layer can be trained: gradients reach its weights and its input"""
    conv, x = torch.nn.Conv1d(2, 2, 3), torch.randn(1, 4, 2, requires_grad=True)
    yield torch.autograd.grad(convolve_centred(conv, x).square().sum(), (conv.weight, conv.bias, x))


CONVOLVE_CENTRED.mistakes |= {
    "the result is still (B, d, n): turn it back": edited(_convolve_centred, ")).mT", "))"),
    "the padding is always 1; it is (k - 1) / 2": edited(
        _convolve_centred, "conv.kernel_size[0]", "3"
    ),
    "it still looks left only: pad both sides with (k - 1) / 2": edited(
        _convolve_centred, "sides = (side, side)", "sides = (2 * side, 0)"
    ),
    "it looks right only: pad both sides with (k - 1) / 2": edited(
        _convolve_centred, "sides = (side, side)", "sides = (0, 2 * side)"
    ),
    "nothing is padded, and words are lost at both ends: pad both sides with (k - 1) / 2": edited(
        _convolve_centred, "sides = (side, side)", "sides = (0, 0)"
    ),
    "each side is padded with k - 1, and the result is longer than the sentence: (k - "
    "1) / 2 on each side": edited(
        _convolve_centred, "sides = (side, side)", "sides = (2 * side, 2 * side)"
    ),
    "the ends are filled with their nearest word; fill with zeros, as `convolve` does": edited(
        _convolve_centred, "F.pad(x.mT, sides)", 'F.pad(x.mT, sides, mode="replicate")'
    ),
    "the sentence is closed to a ring: what falls off one end comes in at the other": edited(
        _convolve_centred, "F.pad(x.mT, sides)", 'F.pad(x.mT, sides, mode="circular")'
    ),
    "`reshape` mixes words and entries; exchange the two axes, as x.mT does": edited(
        _convolve_centred,
        "conv(F.pad(x.mT, sides)).mT",
        "conv(F.pad(x.reshape(x.mT.shape), sides)).reshape(x.shape)",
    ),
    "the layer's bias is left out": edited(
        _convolve_centred, "conv(F.pad(x.mT, sides))", "F.conv1d(F.pad(x.mT, sides), conv.weight)"
    ),
    "the kernel is turned round: its first weights are for the word on the left": edited(
        _convolve_centred,
        "conv(F.pad(x.mT, sides))",
        "F.conv1d(F.pad(x.mT, sides), conv.weight.flip(-1), conv.bias)",
    ),
}


@exercise
def scan(answer) -> str:
    """Check `scan(w, x)`, (n,) and (n,) -> (n,): h_t = w_t h_(t-1) + x_t in about log2(n) rounds.

    The state starts at 0.
    """
    climb(SCAN, answer)
    short, long = (longest_chain(call(answer, **_leaves(n))) for n in (32, 256))
    if long > 2 * short:  # 8 rounds against 5; a loop has 256 against 32
        raise Mistake(
            "the numbers are right, but too many operations wait for each other: the longest chain "
            "of them should grow with the logarithm of n",
            f"32 numbers: {short} operations in a row; 256 numbers: {long}",
        )
    return "1 to 100 numbers, weights of 0, and the longest chain for 32 and 256 numbers"


def _leaves(n: int) -> dict[str, torch.Tensor]:
    return {name: torch.rand(n, requires_grad=True) for name in ("w", "x")}


def _scan(w, x):
    distance, n = 1, len(x)
    while distance < n:
        w_before = F.pad(w, (distance, 0), value=1.0)[:n]
        x_before = F.pad(x, (distance, 0))[:n]
        w, x = w * w_before, w * x_before + x
        distance *= 2
    return x


@ladder(_scan)
def SCAN(scan):
    """one number: the state starts at 0, so the first state is the first number"""
    yield scan(torch.tensor([0.5]), torch.tensor([3.0]))

    """two numbers: the second state is w_2 times the first, plus x_2; the first is x_1, as nothing
    stands before it"""
    yield scan(torch.tensor([3.0, 0.5]), torch.tensor([1.0, 4.0]))

    """four numbers, only the first of which is not 0: it is multiplied by w_2, w_3 and w_4 in
    turn, and reaches every later place, without one between left out"""
    yield scan(torch.tensor([7.0, 2.0, 3.0, 5.0]), torch.tensor([1.0, 0.0, 0.0, 0.0]))

    """four numbers, all with a weight of 1: the running sum"""
    yield scan(torch.ones(4), torch.tensor([1.0, 4.0, -2.0, 3.0]))

    """three numbers, all with a weight of 1: the last state holds all three, so there is a round
    for each distance, 1, 2, 4, ..., that is less than n"""
    yield scan(torch.ones(3), torch.tensor([1.0, 4.0, -2.0]))

    """negative weights have no logarithm"""
    yield scan(torch.tensor([1.0, -2.0, -0.5]), torch.tensor([1.0, 2.0, 3.0]))

    """a weight of 0 forgets all that was before; nothing can be divided by it"""
    yield scan(torch.tensor([0.5, 0.0, 0.5]), torch.tensor([1.0, 2.0, 4.0]))

    """seventeen numbers need five rounds, with distances of 1, 2, 4, 8 and 16: their number
    grows with n"""
    yield scan(torch.ones(17), torch.ones(17))

    """a hundred small weights: their product is too small to be divided by, even if none of
    them is 0"""
    yield scan(torch.full((100,), 0.1), torch.ones(100))

    """a hundred random numbers"""
    w, x = 2 * torch.rand(100) - 1, torch.randn(100)
    yield scan(w, x)


SCAN.mistakes |= {
    "w multiplies the new word as well as the state": edited(
        _scan, "distance, n", "x = w * x; distance, n"
    ),
    "the weights are left out: this is the running sum": edited(
        _scan, "distance, n", "w = torch.ones_like(w); distance, n"
    ),
    "the weights are one place off: the state before word t is multiplied by w_t": edited(
        _scan, "distance, n", "w = w.roll(1); distance, n"
    ),
    "it runs from the end to the beginning": edited(
        _scan,
        "distance, n",
        "w, x = w.flip(0), x.flip(0); distance, n",
        "return x",
        "return x.flip(0)",
    ),
    "there is only one round: go on with the one 2, 4, 8, ... places before": edited(
        _scan, "distance *= 2", "distance = n"
    ),
    "the distance grows by 1 in each round; it should double": edited(
        _scan, "distance *= 2", "distance += 1"
    ),
    "the weights stay the same in all rounds: two steps in a row have the weight w_2 w_1": edited(
        _scan, "w, x = w * w_before, w * x_before + x", "x = w * x_before + x"
    ),
    "w is renewed before x has used the old one": edited(
        _scan, "w, x = w * w_before, w * x_before + x", "w = w * w_before; x = w * x_before + x"
    ),
}
