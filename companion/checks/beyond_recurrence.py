"""Checks for the exercises of book/beyond_recurrence.ipynb."""

import torch
import torch.nn.functional as F
from torch import nn

from companion.checks.exercise import Mistake, call, compare, exercise, longest_chain


@exercise
def forget_bias(answer) -> str:
    """Check `forget_bias(distances, kept)`, (m,): for each distance the bias b of a forget gate.

    The gate sigmoid(b) multiplies the memory at every step; after that many steps the share `kept`,
    a number between 0 and 1, is to be left.
    """
    cases = [
        {"distances": torch.tensor(distances), "kept": kept}
        for distances, kept in (
            ([1.0], 0.25),
            ([2.0], 0.25),
            ([1.0, 10.0, 100.0], 0.5),
            ([5.0, 31.0, 127.0], 0.9),
        )
    ]
    compare(answer, cases, _forget_bias, FORGET_BIAS_MISTAKES)
    return "distances of 1 to 127 words, shares of 0.25, 0.5 and 0.9"


def _gate(distances, kept):
    return kept ** (1 / distances)


def _forget_bias(distances, kept):
    return (torch.logit(_gate(distances, kept)),)


FORGET_BIAS_MISTAKES = {
    "this is the gate, not its bias: solve sigmoid(b) = gate for b": (
        lambda distances, kept: (_gate(distances, kept),)
    ),
    "the distance is left out: this bias keeps the share for a single word": (
        lambda distances, kept: (torch.logit(torch.full_like(distances, kept)),)
    ),
    "the share is raised to the power of the distance; the gate is its root": (
        lambda distances, kept: (torch.logit(torch.tensor(kept) ** distances),)
    ),
    "the sign is wrong: such a gate closes": (
        lambda distances, kept: (-_forget_bias(distances, kept)[0],)
    ),
    "the logarithm of the gate is not its bias: the sigmoid has to be undone": (
        lambda distances, kept: (_gate(distances, kept).log(),)
    ),
    "the share is divided by the distance, as if each word took the same amount off": (
        lambda distances, kept: (torch.logit(kept / distances),)
    ),
}


@exercise
def convolve_centred(answer) -> str:
    """Check `convolve_centred(conv, x)`, (B, n, d) -> (B, n, d), for an nn.Conv1d of odd width."""
    by_hand = nn.Conv1d(1, 1, 3, bias=False)
    by_hand.weight.data = torch.tensor([[[1.0, 10.0, 100.0]]])
    cases = [{"conv": by_hand, "x": torch.tensor([[[1.0], [2.0], [3.0], [4.0]]])}]
    for width, n in ((3, 7), (5, 6), (1, 3)):
        cases.append({"conv": nn.Conv1d(2, 2, width), "x": torch.randn(2, n, 2)})
    with torch.no_grad():
        compare(answer, cases, _convolve_centred, CENTRED_MISTAKES)
    return "kernels of 1, 3 and 5, sentences of 3, 4, 6 and 7 words"


def _convolve(conv, x, left, right):
    return (conv(F.pad(x.mT, (left, right))).mT,)


def _convolve_centred(conv, x):
    side = (conv.kernel_size[0] - 1) // 2
    return _convolve(conv, x, side, side)


CENTRED_MISTAKES = {
    "it still looks left only: pad both sides with (k - 1) / 2": (
        lambda conv, x: _convolve(conv, x, conv.kernel_size[0] - 1, 0)
    ),
    "it looks right only: pad both sides with (k - 1) / 2": (
        lambda conv, x: _convolve(conv, x, 0, conv.kernel_size[0] - 1)
    ),
    "nothing is padded, and words are lost at both ends: pad both sides with (k - 1) / 2": (
        lambda conv, x: _convolve(conv, x, 0, 0)
    ),
    "each side is padded with k - 1, and the result is longer than the sentence: "
    "(k - 1) / 2 on each side": (
        lambda conv, x: _convolve(conv, x, conv.kernel_size[0] - 1, conv.kernel_size[0] - 1)
    ),
    "the result is still (B, d, n): turn it back": (
        lambda conv, x: (_convolve_centred(conv, x)[0].mT,)
    ),
    "the ends are filled with their nearest word; fill with zeros, as `convolve` does": (
        lambda conv, x: (
            conv(F.pad(x.mT, ((conv.kernel_size[0] - 1) // 2,) * 2, mode="replicate")).mT,
        )
    ),
    "the sentence is closed to a ring: what falls off one end comes in at the other": (
        lambda conv, x: (
            conv(F.pad(x.mT, ((conv.kernel_size[0] - 1) // 2,) * 2, mode="circular")).mT,
        )
    ),
    "the padding is always 1; it is (k - 1) / 2": lambda conv, x: _convolve(conv, x, 1, 1),
}


@exercise
def scan(answer) -> str:
    """Check `scan(w, x)`, (n,) and (n,) -> (n,): h_t = w_t h_(t-1) + x_t in about log2(n) rounds.

    The state starts at 0.
    """
    cases = [
        {"w": torch.tensor(w), "x": torch.tensor(x)}
        for w, x in (
            ([0.5], [3.0]),
            ([2.0, 0.5], [1.0, 4.0]),
            ([2.0, 0.5, 3.0, 1.0], [1.0, 4.0, -2.0, 1.0]),
            ([2.0, 0.5, 3.0, 1.0, -1.0, 0.25], [1.0, 4.0, -2.0, 1.0, 0.0, 5.0]),
        )
    ]
    compare(answer, cases, _loop, SCAN_MISTAKES)
    for w, x in (
        (torch.tensor([0.5, 0.0, 0.5]), torch.tensor([1.0, 2.0, 4.0])),
        (torch.full((100,), 0.1), torch.ones(100)),
        (2 * torch.rand(100) - 1, torch.randn(100)),
    ):
        compare(answer, [{"w": w, "x": x}], _loop, {DIVIDES: _by_division})
    short, long = (longest_chain(call(answer, **_leaves(n))) for n in (32, 256))
    if long > 2 * short:  # 8 rounds against 5; a loop has 256 against 32
        raise Mistake(
            "the numbers are right, but each waits for the one before: the longest chain of "
            "operations should grow with the logarithm of n",
            f"32 numbers: {short} operations in a row; 256 numbers: {long}",
        )
    return "1 to 100 numbers, weights of 0, and the longest chain for 32 and 256 numbers"


def _leaves(n: int) -> dict[str, torch.Tensor]:
    return {name: torch.rand(n, requires_grad=True) for name in ("w", "x")}


def _loop(w, x, *, step=lambda w, h, x: w * h + x):
    h, states = torch.zeros(()), []
    for factor, word in zip(w, x, strict=True):
        h = step(factor, h, word)
        states.append(h)
    return (torch.stack(states),)


def _rounds(w, x, *, offsets=None, keep_w=False, w_first=False):
    """The doubling rounds, with one of them missing or something in them done in another way."""
    n = len(x)
    for k in [2**i for i in range(n.bit_length())] if offsets is None else offsets(n):
        before_w = torch.cat([torch.ones(k), w])[:n]
        before_x = torch.cat([torch.zeros(k), x])[:n]
        new_w = w if keep_w else w * before_w
        x = x + (new_w if w_first else w) * before_x
        w = new_w
    return (x,)


def _by_division(w, x):
    product = w.cumprod(0)
    return (product * (x / product).cumsum(0),)


DIVIDES = (
    "it divides by the running product of the weights, which is 0 once a weight is 0, "
    "or too small to divide by"
)
SCAN_MISTAKES = {
    "the weights are left out: this is the running sum": lambda w, x: (x.cumsum(0),),
    "the weights are one place late: the state before word t is multiplied by w_t": (
        lambda w, x: _loop(w.roll(1), x)
    ),
    "the weights are one place early: the state before word t is multiplied by w_t": (
        lambda w, x: _loop(w.roll(-1), x)
    ),
    "w multiplies the new word as well as the state": (
        lambda w, x: _loop(w, x, step=lambda w, h, x: w * (h + x))
    ),
    "it runs from the end to the beginning": (
        lambda w, x: (_loop(w.flip(0), x.flip(0))[0].flip(0),)
    ),
    "there is only one round: go on with the one 2, 4, 8, ... places before": (
        lambda w, x: _rounds(w, x, offsets=lambda n: [1])
    ),
    "the rounds stop too early where n is no power of two: go on until the distance reaches n": (
        lambda w, x: _rounds(w, x, offsets=lambda n: [2**i for i in range(n.bit_length() - 1)])
    ),
    "the distance grows by 1 in each round; it should double": (
        lambda w, x: _rounds(w, x, offsets=lambda n: range(1, n))
    ),
    "the weights stay the same in all rounds: two steps in a row have the weight w_2 w_1": (
        lambda w, x: _rounds(w, x, keep_w=True)
    ),
    "w is renewed before x has used the old one": lambda w, x: _rounds(w, x, w_first=True),
}
