"""Checks for the exercises of book/transformer_block.ipynb."""

from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from book.checking.exercise import Mistake, climb, exercise
from book.checking.faults import check_name
from book.checking.rungs import edited, ladder
from companion.nn import EncoderBlock


@exercise
def rms_norm(answer) -> str:
    """Check `rms_norm(x, eps)`: (..., d) -> (..., d), each vector over the root of its mean square.

    eps is added under the root.
    """
    climb(RMS_NORM, answer)
    return "two numbers, eps of 0 and 16, two vectors, a batch, a single vector"


def _rms_norm(x, eps):
    mean_square = x.square().mean(dim=-1, keepdim=True)
    return x / (mean_square + eps).sqrt()


@ladder(_rms_norm)
def RMS_NORM(rms_norm):
    """each vector is divided by the root of its mean square, and nothing is subtracted: of 1
    and 7 it is the root of (1 + 49) / 2, which is 5"""
    x = torch.tensor([[1.0, 7.0]])
    yield rms_norm(x, 0.0)

    """eps is added under the root, to the mean of the squares and not to their sum: 3 and 3 are
    divided by the root of 9 + 16"""
    x = torch.tensor([[3.0, 3.0]])
    yield rms_norm(x, 16.0)

    """each vector has its own mean square, over its own numbers: keep the last axis, so that
    rows are divided, not columns"""
    x = torch.tensor([[1.0, 7.0], [2.0, 2.0]])
    yield rms_norm(x, 0.0)

    """a batch of sentences is normed vector by vector: the axis is the last one"""
    x = torch.randn(2, 3, 5)
    yield rms_norm(x, 0.1)

    """a single vector is normed as well"""
    x = torch.tensor([1.0, 7.0])
    yield rms_norm(x, 0.0)


RMS_NORM.mistakes |= {
    "the mean is subtracted: this is layer norm": edited(
        _rms_norm, "mean_square =", "x = x - x.mean(dim=-1, keepdim=True); mean_square ="
    ),
    "the spread about the mean is divided by; RMS norm divides by the root of the "
    "mean square of x itself": edited(
        _rms_norm, "x.square().mean(dim=-1,", "x.var(dim=-1, correction=0,"
    ),
    "the sum of the squares was taken, so each vector has length 1; take their mean": edited(
        _rms_norm, ".mean(", ".sum("
    ),
    "the mean runs over the words, or over the batch; it should run over each "
    "vector's own numbers: dim=-1": edited(_rms_norm, "dim=-1", "dim=0"),
    "eps is added to the root; it belongs under it": edited(
        _rms_norm, "(mean_square + eps).sqrt()", "(mean_square.sqrt() + eps)"
    ),
    "one mean for all vectors was taken; each vector has its own: dim=-1": edited(
        _rms_norm, "dim=-1, keepdim=True", ""
    ),
    "the means of the rows lose an axis and divide the columns: keepdim=True": edited(
        _rms_norm, ", keepdim=True", ""
    ),
    "the mean runs over axis 1, the words of a batch: the axis is the last one": edited(
        _rms_norm, "dim=-1", "dim=min(1, x.dim() - 1)"
    ),
    "the mean is squared; take the mean of the squares": edited(
        _rms_norm, "x.square().mean(dim=-1, keepdim=True)", "x.mean(dim=-1, keepdim=True).square()"
    ),
    "the spread about the mean is divided by, with d - 1; RMS norm divides by the root of "
    "the mean square of x itself": edited(_rms_norm, "x.square().mean(", "x.var("),
}


@exercise
def add_and_norm(answer) -> str:
    """Check `add_and_norm(x, sub_layer, norm, norm_first)`, one half of a block.

    x (B, T, d_model); sub_layer and norm are functions from (B, T, d_model) to the same shape;
    norm_first says which of the two orders is asked for.
    """
    climb(ADD_AND_NORM, answer)
    return "both orders, on numbers to follow by hand and on two sentences of width 5"


def _add_and_norm(x, sub_layer, norm, norm_first):
    if norm_first:
        return x + sub_layer(norm(x))
    return norm(x + sub_layer(x))


@ladder(_add_and_norm)
def ADD_AND_NORM(add_and_norm):
    """post-norm: x goes into the sub-layer, what comes out is added to x, and the norm comes
    last: 3 (1 + 102)"""
    x, sub_layer, norm = torch.ones(1, 1, 1), (lambda x: 2 * x + 100), (lambda x: 3 * x)
    yield add_and_norm(x, sub_layer, norm, False)

    """pre-norm: the sub-layer reads the norm of x, and what it finds is added to x itself: 1 +
    106"""
    x, sub_layer, norm = torch.ones(1, 1, 1), (lambda x: 2 * x + 100), (lambda x: 3 * x)
    yield add_and_norm(x, sub_layer, norm, True)

    """sentences and layers of any size"""
    x = torch.randn(2, 3, 5)
    sub_layer, norm = torch.nn.Linear(5, 5), torch.nn.LayerNorm(5)
    yield add_and_norm(x, sub_layer, norm, False), add_and_norm(x, sub_layer, norm, True)


ADD_AND_NORM.mistakes |= {
    "the two orders are exchanged: with norm_first being False the norm comes last": edited(
        _add_and_norm, "if norm_first", "if not norm_first"
    ),
    "norm_first makes no difference: this is always pre-norm": edited(
        _add_and_norm, "return norm(x + sub_layer(x))", "return x + sub_layer(norm(x))"
    ),
    "nothing is added in either order: the residual connection is missing": edited(
        _add_and_norm,
        "x + sub_layer(norm",
        "0 + sub_layer(norm",
        "x + sub_layer(x",
        "0 + sub_layer(x",
    ),
    "post-norm normalises only what the sub-layer has found; it should normalise the sum": edited(
        _add_and_norm, "norm(x + sub_layer(x))", "x + norm(sub_layer(x))"
    ),
    "there is no norm in either order": edited(
        _add_and_norm, "norm(x + sub_layer(x))", "x + sub_layer(x)", "norm(x)", "x"
    ),
    "norm_first makes no difference: this is always post-norm": edited(
        _add_and_norm, "x + sub_layer(norm(x))", "norm(x + sub_layer(x))"
    ),
    "pre-norm adds the result to the normalised x; it should be added to x itself": edited(
        _add_and_norm, "x + sub_layer(norm(x))", "norm(x) + sub_layer(norm(x))"
    ),
    "pre-norm normalises what the sub-layer returns; it should normalise what it reads": edited(
        _add_and_norm, "x + sub_layer(norm(x))", "x + norm(sub_layer(x))"
    ),
    "pre-norm normalises twice: before the sub-layer and after the addition": edited(
        _add_and_norm, "x + sub_layer(norm(x))", "norm(x + sub_layer(norm(x)))"
    ),
}


@exercise
def tap(answer) -> str:
    """Check the module `Tap(sub_layer)`, whose forward is x + tap * sub_layer(x).

    The tap is one learned number for the sub-layer, and starts at 0.
    """
    climb(TAP, answer)
    return "its parameters, a fresh tap, a tap of 0.5, and the gradients of tap and sub-layer"


class _Tap(nn.Module):
    def __init__(self, sub_layer):
        super().__init__()
        self.sub_layer = sub_layer
        self.tap = nn.Parameter(torch.tensor(0.0))

    def forward(self, x):
        return x + self.tap * self.sub_layer(x)


@ladder(_Tap)
def TAP(Tap):
    sub_layer, x = torch.nn.Linear(3, 3), torch.randn(2, 3)

    """Tap is a class derived from nn.Module"""
    yield isinstance(Tap(sub_layer), torch.nn.Module)

    """the parameters of the module are the sub-layer's, here 9 and 3 numbers, and one number
    for the tap"""
    yield sorted(p.numel() for p in Tap(sub_layer).parameters())

    """the module keeps the sub-layer that it is given, not one of its own"""
    yield any(p is sub_layer.weight for p in Tap(sub_layer).parameters())

    """the tap starts at 0"""
    yield [p.item() for p in Tap(sub_layer).parameters() if p.numel() == 1]

    """the tap multiplies what the sub-layer has found; x itself goes past the tap, so that a
    fresh module hands on x as it is"""
    yield Tap(sub_layer)(x)

    """with a tap of 0.5 half of what the sub-layer finds is added to the whole of x"""
    module = Tap(sub_layer)
    [torch.nn.init.constant_(p, 0.5) for p in module.parameters() if p.numel() == 1]
    yield module(x)

    """a tap may become negative, and then takes off what the sub-layer finds"""
    module = Tap(sub_layer)
    [torch.nn.init.constant_(p, -0.5) for p in module.parameters() if p.numel() == 1]
    yield module(x)

    """a gradient reaches the tap, so that it can open"""
    module = Tap(sub_layer)
    module(x).square().sum().backward()
    yield [0.0 if p.grad is None else p.grad.sum() for p in module.parameters() if p.numel() == 1]

    """behind an open tap the sub-layer learns, too: a gradient reaches its parameters"""
    module = Tap(sub_layer)
    [torch.nn.init.constant_(p, 0.5) for p in module.parameters() if p.numel() == 1]
    module(x).sum().backward()
    yield [0.0 if p.grad is None else 1.0 for p in sub_layer.parameters()]

    """and so do the layers before it: a gradient reaches x through the sub-layer as well as past
    it"""
    module = Tap(sub_layer)
    [torch.nn.init.constant_(p, 0.5) for p in module.parameters() if p.numel() == 1]
    x = x.clone().requires_grad_()
    module(x).sum().backward()
    yield x.grad


TAP.mistakes |= {
    "the tap is not learned: make it an nn.Parameter": edited(
        _Tap, "nn.Parameter(torch.tensor(0.0))", "torch.tensor(0.0)"
    ),
    "the module works with a copy of the sub-layer: not one of its own, but the one "
    "that it is given": edited(
        _Tap, "self.sub_layer = sub_layer", "import copy; self.sub_layer = copy.deepcopy(sub_layer)"
    ),
    "the tap starts at 1; it should start at 0": edited(
        _Tap, "torch.tensor(0.0)", "torch.tensor(1.0)"
    ),
    "the tap multiplies what the sub-layer reads; it should multiply what it has found": edited(
        _Tap, "self.tap * self.sub_layer(x)", "self.sub_layer(self.tap * x)"
    ),
    "what was there is turned down as the tap opens; it should be kept whole": edited(
        _Tap, "x + self.tap", "(1 - self.tap) * x + self.tap"
    ),
    "the tap is squashed or exponentiated; it multiplies as it is": edited(
        _Tap, "self.tap *", "self.tap.tanh() *"
    ),
    "no gradient reaches the tap: requires_grad was taken away, or a plain number "
    "made of it": edited(_Tap, "torch.tensor(0.0)", "torch.tensor(0.0), requires_grad=False"),
    "the sub-layer is cut off from the gradient, so that it never learns": edited(
        _Tap, "self.sub_layer(x)", "self.sub_layer(x).detach()"
    ),
    "the tap goes through a sigmoid, which is 1/2 at 0; it multiplies as it is": edited(
        _Tap, "self.tap *", "self.tap.sigmoid() *"
    ),
}


@exercise
def spreads(answer) -> str:
    """Check `spreads(weights, depth)`, (depth,): how different the rows of weights^k still are.

    weights (n, n), every row sums to 1. Entry k - 1 is for k layers: the largest difference between
    two rows of the k-th matrix power in any column.
    """
    climb(SPREADS, answer)
    return "2, 3 and 5 words, 1 to 4 layers"


def _spreads(weights, depth):
    result = []
    for k in range(1, depth + 1):
        power = torch.linalg.matrix_power(weights, k)
        spread = power.amax(0) - power.amin(0)
        result.append(spread.amax())
    return torch.stack(result)


@ladder(_spreads)
def SPREADS(spreads):
    """there is one number for each depth; with one layer the product is the matrix itself,
    whose columns spread over 0.3, 0.1 and 0.4, from their smallest number to their largest; the
    largest of these is asked for"""
    weights = torch.tensor([[0.8, 0.1, 0.1], [0.6, 0.1, 0.3], [0.5, 0.0, 0.5]])
    yield spreads(weights, 1)

    """layers multiply matrices, weights @ weights, and there is one number for each depth, from
    one layer on"""
    weights = torch.tensor([[1.0, 0.0], [0.5, 0.5]])
    yield spreads(weights, 3)

    """there may be any number of words and layers, and any two rows may differ most: the spread
    of a column is its largest number less its smallest"""
    weights = torch.randn(5, 5).softmax(-1)
    yield spreads(weights, 4)


SPREADS.mistakes |= {
    "it starts before the first layer: the first entry is for one layer": edited(
        _spreads, "range(1, depth + 1)", "range(depth)"
    ),
    "it starts with two layers: the first entry is for one": edited(
        _spreads, "range(1, depth + 1)", "range(2, depth + 2)"
    ),
    "the numbers within a row are compared; compare the rows, column by column": edited(
        _spreads, "power.amax(0) - power.amin(0)", "power.amax(1) - power.amin(1)"
    ),
    "the mean over the columns was taken; the largest difference was asked for": edited(
        _spreads, "spread.amax()", "spread.mean()"
    ),
    "all numbers of the matrix are compared; compare within each column": edited(
        _spreads, "power.amax(0) - power.amin(0)", "power.amax() - power.amin()"
    ),
    "each number was raised to a power; layers multiply matrices: weights @ weights": edited(
        _spreads, "torch.linalg.matrix_power(weights, k)", "weights**k"
    ),
    "the product is squared with each layer; it is multiplied by `weights` once more": edited(
        _spreads, "matrix_power(weights, k)", "matrix_power(weights, 2 ** (k - 1))"
    ),
    "every entry is for one layer: the product is not carried on": edited(
        _spreads, "torch.linalg.matrix_power(weights, k)", "weights"
    ),
    "neighbouring rows are compared; any two rows may differ most": edited(
        _spreads, "power.amax(0) - power.amin(0)", "power.diff(dim=0).abs().amax(0)"
    ),
}


@exercise
def diagnose(answer) -> str:
    """Check `diagnose(block)`, which names the fault of a block from its symptoms.

    block(x, mask=None) takes x (B, T, 8) and a boolean mask (T, T), True for "may attend", and
    returns (B, T, 8). It should be a pre-norm block without dropout; its norms have factors of 1
    and shifts of 0. The answer is one of the names in `FAULTS`; each comes with several weights.
    """
    for fault in 3 * [*FAULTS]:
        patient = Patient()
        try:
            check_name(answer, patient, fault, SYMPTOMS, "block")
        except Mistake as found:
            nothing = fault == "none" and found.mistake.startswith("it returned None")
            if nothing and answer(partial(patient, "no residual")) is not None:
                raise Mistake(
                    'it returned None, which is no name; a right block is called "none", in quotes',
                    found.example,
                ) from found
            raise
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
