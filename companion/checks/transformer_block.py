"""Checks for the exercises of book/transformer_block.ipynb."""

from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from companion.checks.exercise import Rung, exercise, ladder
from companion.checks.faults import check_name
from companion.nn import EncoderBlock


@exercise
def rms_norm(answer) -> str:
    """Check `rms_norm(x, eps)`: (..., d) -> (..., d), each vector over the root of its mean square.

    eps is added under the root.
    """
    ladder(RMS, _rms_norm, rms_norm=answer)
    return "two numbers, eps of 0 and 16, two vectors, a batch, a single vector"


def _rms_norm(x, eps, *, dim=-1, root=lambda mean, eps: (mean + eps).sqrt(), mean=torch.mean):
    return x / root(mean(x.square(), dim=dim, keepdim=True), eps)


RMS = [
    Rung(
        "each vector is divided by the root of its mean square, and nothing is subtracted: of 1 "
        "and 7 it is the root of (1 + 49) / 2, which is 5",
        "x = torch.tensor([[1.0, 7.0]])\nrms_norm(x, 0.0)",
        {
            "the mean is subtracted: this is layer norm": lambda x, eps: F.layer_norm(x, (2,)),
            "the spread about the mean is divided by; RMS norm divides by the root of the mean "
            "square of x itself": lambda x, eps: x / 3,
            "the sum of the squares was taken, so each vector has length 1; take their mean": (
                partial(_rms_norm, mean=torch.sum)
            ),
            "there is no root: x is divided by the mean square itself": lambda x, eps: x / 25,
            "the mean runs over the words, or over the batch; it should run over each vector's own "
            "numbers: dim=-1": partial(_rms_norm, dim=0),
        },
    ),
    Rung(
        "eps is added under the root, to the mean of the squares and not to their sum: 3 and 3 are "
        "divided by the root of 9 + 16",
        "x = torch.tensor([[3.0, 3.0]])\nrms_norm(x, 16.0)",
        {
            "eps is added to the root; it belongs under it": partial(
                _rms_norm, root=lambda mean, eps: mean.sqrt() + eps
            ),
            "eps is left out": partial(_rms_norm, root=lambda mean, eps: mean.sqrt()),
        },
    ),
    Rung(
        "each vector has its own mean square, over its own numbers: keep the last axis, so that "
        "rows are divided, not columns",
        "x = torch.tensor([[1.0, 7.0], [2.0, 2.0]])\nrms_norm(x, 0.0)",
        {
            "one mean for all vectors was taken; each vector has its own: dim=-1": (
                lambda x, eps: x / x.square().mean().sqrt()
            ),
            "the means of the rows lose an axis and divide the columns: keepdim=True": (
                lambda x, eps: x / x.square().mean(-1).sqrt()
            ),
        },
    ),
    Rung(
        "a batch of sentences is normed vector by vector: the axis is the last one",
        "x = torch.randn(2, 3, 5)\nrms_norm(x, 0.1)",
    ),
    Rung("a single vector is normed as well", "x = torch.tensor([1.0, 7.0])\nrms_norm(x, 0.0)"),
]


@exercise
def add_and_norm(answer) -> str:
    """Check `add_and_norm(x, sub_layer, norm, norm_first)`, one half of a block.

    x (B, T, d_model); sub_layer and norm are functions from (B, T, d_model) to the same shape;
    norm_first says which of the two orders is asked for.
    """
    ladder(ADD, _orders(), add_and_norm=answer)
    return "both orders, on numbers to follow by hand and on two sentences of width 5"


def _pre(x, sub_layer, norm):
    return x + sub_layer(norm(x))


def _post(x, sub_layer, norm):
    return norm(x + sub_layer(x))


def _orders(pre=_pre, post=_post) -> Callable:
    return lambda x, sub_layer, norm, norm_first: (pre if norm_first else post)(x, sub_layer, norm)


BY_HAND = "x, sub_layer, norm = torch.ones(1, 1, 1), (lambda x: x + 100), (lambda x: 3 * x)\n"
NOT_ADDED = "nothing is added: the residual connection is missing"
NO_NORM = "there is no norm"
ADD = [
    Rung(
        "post-norm: x goes into the sub-layer, what comes out is added to x, and the norm comes "
        "last: 3 (1 + 101)",
        f"{BY_HAND}add_and_norm(x, sub_layer, norm, False)",
        {
            "the two orders are exchanged, or this is always pre-norm: with norm_first being False "
            "the norm comes last": _orders(post=_pre),
            NOT_ADDED: _orders(post=lambda x, sub_layer, norm: norm(sub_layer(x))),
            "post-norm normalises only what the sub-layer has found; it should normalise the sum": (
                _orders(post=lambda x, sub_layer, norm: x + norm(sub_layer(x)))
            ),
            NO_NORM: _orders(post=lambda x, sub_layer, norm: x + sub_layer(x)),
        },
    ),
    Rung(
        "pre-norm: the sub-layer reads the norm of x, and what it finds is added to x itself: "
        "1 + 103",
        f"{BY_HAND}add_and_norm(x, sub_layer, norm, True)",
        {
            "norm_first makes no difference: this is always post-norm": _orders(_post),
            NOT_ADDED: _orders(lambda x, sub_layer, norm: sub_layer(norm(x))),
            "pre-norm adds the result to the normalised x; it should be added to x itself": _orders(
                lambda x, sub_layer, norm: norm(x) + sub_layer(norm(x))
            ),
            "pre-norm normalises what the sub-layer returns; it should normalise what it reads": (
                _orders(lambda x, sub_layer, norm: x + norm(sub_layer(x)))
            ),
            "pre-norm normalises twice: before the sub-layer and after the addition": _orders(
                lambda x, sub_layer, norm: norm(_pre(x, sub_layer, norm))
            ),
            NO_NORM: _orders(lambda x, sub_layer, norm: x + sub_layer(x)),
        },
    ),
    Rung(
        "sentences and layers of any size",
        "x = torch.randn(2, 3, 5)\nsub_layer, norm = torch.nn.Linear(5, 5), torch.nn.LayerNorm(5)\n"
        "add_and_norm(x, sub_layer, norm, False), add_and_norm(x, sub_layer, norm, True)",
    ),
]


@exercise
def tap(answer) -> str:
    """Check the module `Tap(sub_layer)`, whose forward is x + tap * sub_layer(x).

    The tap is one learned number for the sub-layer, and starts at 0.
    """
    ladder(TAP, _Tap, Tap=answer)
    return "its parameters, a fresh tap, a tap of 0.5, and the gradients of tap and sub-layer"


class _Tap(nn.Module):
    def __init__(self, sub_layer, start=0.0, forward=None):
        super().__init__()
        self.sub_layer, self.tap = sub_layer, nn.Parameter(torch.tensor(start))
        self.other = forward or (lambda x, tap, sub_layer: x + tap * sub_layer(x))

    def forward(self, x):
        return self.other(x, self.tap, self.sub_layer)


SUB_LAYER = "sub_layer, x = torch.nn.Linear(3, 3), torch.randn(2, 3)\n"
OPEN = f"""\
{SUB_LAYER}module = Tap(sub_layer)
for p in module.parameters():
    if p.numel() == 1:
        torch.nn.init.constant_(p, 0.5)
"""
TAP = [
    Rung(
        "Tap is a class derived from nn.Module",
        f"{SUB_LAYER}isinstance(Tap(sub_layer), torch.nn.Module)",
    ),
    Rung(
        "the parameters of the module are the sub-layer's, here 9 and 3 numbers, and one number "
        "for the tap",
        f"{SUB_LAYER}sorted(p.numel() for p in Tap(sub_layer).parameters())",
        {
            "the tap is not learned: make it an nn.Parameter": lambda sub_layer: sub_layer,
            "the sub-layer is not a part of the module, so that no optimizer would find its "
            "parameters: self.sub_layer = sub_layer": (
                lambda sub_layer: nn.ParameterList([torch.zeros(())])
            ),
        },
    ),
    Rung(
        "the module keeps the sub-layer that it is given, not one of its own",
        f"{SUB_LAYER}any(p is sub_layer.weight for p in Tap(sub_layer).parameters())",
    ),
    Rung(
        "the tap multiplies what the sub-layer has found, and starts at 0; x itself goes past the "
        "tap, so that a fresh module hands on x as it is",
        f"{SUB_LAYER}Tap(sub_layer)(x)",
        {
            "the tap starts at 1; it should start at 0": partial(_Tap, start=1.0),
            "nothing is left of x while the tap is closed: what the tap multiplies is added to x": (
                partial(_Tap, forward=lambda x, tap, sub_layer: tap * sub_layer(x))
            ),
            "the tap multiplies what the sub-layer reads; it should multiply what it has found": (
                partial(_Tap, forward=lambda x, tap, sub_layer: x + sub_layer(tap * x))
            ),
        },
    ),
    Rung(
        "with a tap of 0.5 half of what the sub-layer finds is added to the whole of x",
        f"{OPEN}module(x)",
        {
            "what was there is turned down as the tap opens; it should be kept whole": partial(
                _Tap, forward=lambda x, tap, sub_layer: (1 - tap) * x + tap * sub_layer(x)
            ),
            "the tap is squashed or exponentiated; it multiplies as it is": partial(
                _Tap, forward=lambda x, tap, sub_layer: x + tap.tanh() * sub_layer(x)
            ),
            "the tap has no effect": partial(_Tap, forward=lambda x, tap, sub_layer: x),
        },
    ),
    Rung(
        "a gradient reaches the tap, so that it can open",
        f"{SUB_LAYER}module = Tap(sub_layer)\nmodule(x).square().sum().backward()\n"
        "[0.0 if p.grad is None else p.grad.sum() for p in module.parameters() if p.numel() == 1]",
    ),
    Rung(
        "behind an open tap the sub-layer learns, too: a gradient reaches its parameters",
        f"{OPEN}module(x).sum().backward()\n[p.grad is not None for p in sub_layer.parameters()]",
    ),
]


@exercise
def spreads(answer) -> str:
    """Check `spreads(weights, depth)`, (depth,): how different the rows of weights^k still are.

    weights (n, n), every row sums to 1. Entry k - 1 is for k layers: the largest difference between
    two rows of the k-th matrix power in any column.
    """
    ladder(SPREADS, _spreads, spreads=answer)
    return "2, 3 and 5 words, 1 to 4 layers"


def _spread(power):
    return (power.amax(0) - power.amin(0)).amax()


def _spreads(weights, depth, *, powers=torch.linalg.matrix_power, spread=_spread):
    return torch.stack([spread(powers(weights, k)) for k in range(1, depth + 1)])


SPREADS = [
    Rung(
        "there is one number for each depth; with one layer the product is the matrix itself, "
        "whose columns spread over 0.3, 0.1 and 0.4, from their smallest number to their largest; "
        "the largest of these is asked for",
        "weights = torch.tensor([[0.8, 0.1, 0.1], [0.6, 0.1, 0.3], [0.5, 0.0, 0.5]])\n"
        "spreads(weights, 1)",
        {
            "it starts before the first layer: the first entry is for one layer": partial(
                _spreads, powers=lambda weights, k: torch.eye(3)
            ),
            "it starts with two layers: the first entry is for one": partial(
                _spreads, powers=lambda weights, k: weights @ weights
            ),
            "the numbers within a row are compared; compare the rows, column by column": partial(
                _spreads, spread=lambda power: _spread(power.mT)
            ),
            "the mean over the columns was taken; the largest difference was asked for": partial(
                _spreads, spread=lambda power: (power.amax(0) - power.amin(0)).mean()
            ),
            "the standard deviation was taken; the largest difference was asked for": partial(
                _spreads, spread=lambda power: power.std(0, correction=0).amax()
            ),
            "all numbers of the matrix are compared; compare within each column": partial(
                _spreads, spread=lambda power: power.amax() - power.amin()
            ),
        },
    ),
    Rung(
        "layers multiply matrices, weights @ weights, and there is one number for each depth, from "
        "one layer on",
        "weights = torch.tensor([[1.0, 0.0], [0.5, 0.5]])\nspreads(weights, 3)",
        {
            "each number was raised to a power; layers multiply matrices: weights @ weights": (
                partial(_spreads, powers=lambda weights, k: weights**k)
            ),
            "the number of layers doubles from entry to entry; it should grow by one": partial(
                _spreads, powers=lambda weights, k: torch.linalg.matrix_power(weights, 2 ** (k - 1))
            ),
            "every entry is for one layer: the product is not carried on": partial(
                _spreads, powers=lambda weights, k: weights
            ),
        },
    ),
    Rung(
        "there may be any number of words and layers, and any two rows may differ most: the "
        "spread of "
        "a column is its largest number less its smallest",
        "weights = torch.randn(5, 5).softmax(-1)\nspreads(weights, 4)",
    ),
]


@exercise
def diagnose(answer) -> str:
    """Check `diagnose(block)`, which names the fault of a block from its symptoms.

    block(x, mask=None) takes x (B, T, 8) and a boolean mask (T, T), True for "may attend", and
    returns (B, T, 8). It should be a pre-norm block without dropout; its norms have factors of 1
    and shifts of 0. The answer is one of the names in `FAULTS`; each comes with several weights.
    """
    for fault in 3 * [*FAULTS]:
        check_name(answer, Patient(), fault, SYMPTOMS, "block")
    return f"{len(FAULTS) - 1} faults and a right block, with three sets of weights each"


class Patient:
    """A pre-norm block of width 8 with fresh weights, and with any fault."""

    def __init__(self) -> None:
        self.block = EncoderBlock(8, num_heads=2, d_ff=16, norm_first=True)
        for name, parameter in self.block.named_parameters():
            if not name.startswith("norm"):
                nn.init.normal_(parameter, std=0.5)
        self.up = False

    def __call__(self, fault: str, x: torch.Tensor, mask: torch.Tensor | None = None):
        with torch.no_grad():
            y = FAULTS[fault](self.block, x, mask)
        self.up = not self.up
        return y.nextafter(y + 1) if self.up else y  # every other call rounds up


def _block(block, x, mask, *, norm=lambda norm, x: norm(x), keep=1, drop=0.0):
    """The block, or what it would be with one step done in another way."""
    attended = block.self_attention(norm(block.norm1, x), mask=mask)[0]
    x = keep * x + F.dropout(attended, drop)
    return keep * x + F.dropout(block.feed_forward(norm(block.norm2, x)), drop)


def _post_norm(block, x, mask):
    x = block.norm1(x + block.self_attention(x, mask=mask)[0])
    return block.norm2(x + block.feed_forward(x))


def _over_words(norm, x):
    return F.layer_norm(x.mT, x.shape[1:2], eps=norm.eps).mT


FAULTS = {
    "none": _block,
    "no residual": partial(_block, keep=0),
    "post-norm": _post_norm,
    "norm over the words": partial(_block, norm=_over_words),
    "mask ignored": lambda block, x, mask: _block(block, x, None),
    "mask inverted": lambda block, x, mask: _block(block, x, None if mask is None else ~mask),
    "dropout left on": partial(_block, drop=0.3),
}
SYMPTOMS = {
    "none": "two calls agree but for rounding; a word that the mask hides moves nobody; 1000 x "
    "comes back as about 1000 x",
    "no residual": "x and 1000 x give nearly the same result, and it is not normalised",
    "post-norm": "every word of the result has mean 0 and variance 1",
    "norm over the words": "with the mask torch.eye(T) a word still moves all others, and yet the "
    "mask does make a difference, and one of all True makes none",
    "mask ignored": "any two masks give the same result",
    "mask inverted": "a mask of all True should do nothing, but the result is not that without one",
    "dropout left on": "the same input twice gives two results, far more than rounding apart",
}
