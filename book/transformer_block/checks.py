"""Checks for the exercises of book/transformer_block.ipynb."""

from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from book.checking.exercise import exercise, ladder
from book.checking.faults import check_name
from book.checking.rungs import rungs
from companion.nn import EncoderBlock


@exercise
def rms_norm(answer) -> str:
    """Check `rms_norm(x, eps)`: (..., d) -> (..., d), each vector over the root of its mean square.

    eps is added under the root.
    """
    ladder(RMS_NORM, _rms_norm, rms_norm=answer)
    return "two numbers, eps of 0 and 16, two vectors, a batch, a single vector"


def _rms_norm(x, eps):
    mean_square = x.square().mean(dim=-1, keepdim=True)
    return x / (mean_square + eps).sqrt()


RMS_NORM = rungs(
    _rms_norm,
    """
each vector is divided by the root of its mean square, and nothing is subtracted: of 1 and 7 it is
the root of (1 + 49) / 2, which is 5
    x = torch.tensor([[1.0, 7.0]])
    rms_norm(x, 0.0)
  - the mean is subtracted: this is layer norm
    mean_square = => x = x - x.mean(dim=-1, keepdim=True); mean_square =
  - the spread about the mean is divided by; RMS norm divides by the root of the mean square of x
  itself
    x.square().mean(dim=-1, => x.var(dim=-1, correction=0,
  - the mean is subtracted above the line; nothing is subtracted from x
    return x / => return (x - x.mean(dim=-1, keepdim=True)) /
  - the squares are not averaged: each number is divided by its own size
    .mean(dim=-1, keepdim=True) =>
  - the median of the squares was taken; take their mean
    .mean(dim=-1, keepdim=True) => .quantile(0.5, dim=-1, keepdim=True)
  - the sum of the squares was taken, so each vector has length 1; take their mean
    .mean( => .sum(
  - the sum of the squares is divided by d - 1; by d
    .mean(dim=-1, keepdim=True) => .sum(dim=-1, keepdim=True) / (x.shape[-1] - 1)
  - the mean was squared; it is the squares that are averaged
    x.square().mean(dim=-1, keepdim=True) => x.mean(dim=-1, keepdim=True).square()
  - absolute values were averaged; average the squares, and take the root
    x.square().mean(dim=-1, keepdim=True) => x.abs().mean(dim=-1, keepdim=True)
    .sqrt() =>
  - the largest number divides; divide by the root of the mean square
    (mean_square + eps).sqrt() => (x.abs().amax(dim=-1, keepdim=True) + eps)
  - there is no root: x is divided by the mean square itself
    .sqrt() =>
  - the root multiplies x; divide by it
    x / => x *
  - the mean runs over the words, or over the batch; it should run over each vector's own numbers:
  dim=-1
    dim=-1 => dim=0
eps is added under the root, to the mean of the squares and not to their sum: 3 and 3 are divided by
the root of 9 + 16
    x = torch.tensor([[3.0, 3.0]])
    rms_norm(x, 16.0)
  - eps is added to the root; it belongs under it
    (mean_square + eps).sqrt() => (mean_square.sqrt() + eps)
  - eps is squared; it is added as it is
    mean_square + eps => mean_square + eps**2
  - the root of eps is added; eps is added as it is
    mean_square + eps => mean_square + eps**0.5
  - x is divided twice, by the root with eps and by the root without it
    (mean_square + eps).sqrt() => (mean_square + eps).sqrt() / mean_square.sqrt()
  - x is normed twice: once is enough
    return x / (mean_square + eps).sqrt() => x = x / (mean_square + eps).sqrt()
    x = x / (mean_square + eps).sqrt() => x = x / (mean_square + eps).sqrt(); return AGAIN
    AGAIN => x / (x.square().mean(dim=-1, keepdim=True) + eps).sqrt()
  - eps is subtracted; it is added
    mean_square + eps => mean_square - eps
  - eps is added to x; it is added to the mean of the squares
    return x / (mean_square + eps).sqrt() => return (x + eps) / mean_square.sqrt()
  - eps is left out
    mean_square + eps => mean_square
  - eps is added before the sum of the squares is divided by d; add it to their mean
    mean_square + eps => mean_square + eps / x.shape[-1]
  - the mean square is kept above eps; eps is added to it
    (mean_square + eps) => mean_square.clamp(min=eps)
each vector has its own mean square, over its own numbers: keep the last axis, so that rows are
divided, not columns
    x = torch.tensor([[1.0, 7.0], [2.0, 2.0]])
    rms_norm(x, 0.0)
  - one mean for all vectors was taken; each vector has its own: dim=-1
    dim=-1, keepdim=True =>
  - the means of the rows lose an axis and divide the columns: keepdim=True
    , keepdim=True =>
a batch of sentences is normed vector by vector: the axis is the last one
    x = torch.randn(2, 3, 5)
    rms_norm(x, 0.1)
  - all vectors of a sentence share one mean; each has its own: the axis is the last one
    dim=-1 => dim=(-2, -1)[-x.dim() :]
  - the mean runs over axis 1, the words of a batch: the axis is the last one
    dim=-1 => dim=min(1, x.dim() - 1)
a single vector is normed as well
    x = torch.tensor([1.0, 7.0])
    rms_norm(x, 0.0)
""",
)


@exercise
def add_and_norm(answer) -> str:
    """Check `add_and_norm(x, sub_layer, norm, norm_first)`, one half of a block.

    x (B, T, d_model); sub_layer and norm are functions from (B, T, d_model) to the same shape;
    norm_first says which of the two orders is asked for.
    """
    ladder(ADD_AND_NORM, _add_and_norm, add_and_norm=answer)
    return "both orders, on numbers to follow by hand and on two sentences of width 5"


def _add_and_norm(x, sub_layer, norm, norm_first):
    if norm_first:
        return x + sub_layer(norm(x))
    return norm(x + sub_layer(x))


ADD_AND_NORM = rungs(
    _add_and_norm,
    """
post-norm: x goes into the sub-layer, what comes out is added to x, and the norm comes last:
3 (1 + 102)
    x, sub_layer, norm = torch.ones(1, 1, 1), (lambda x: 2 * x + 100), (lambda x: 3 * x)
    add_and_norm(x, sub_layer, norm, False)
  - the two orders are exchanged: with norm_first being False the norm comes last
    if norm_first => if not norm_first
  - norm_first makes no difference: this is always pre-norm
    return norm(x + sub_layer(x)) => return x + sub_layer(norm(x))
  - post-norm adds nothing: the residual connection is missing
    norm(x + sub_layer(x)) => norm(sub_layer(x))
  - nothing is added in either order: the residual connection is missing
    x + => 0 +
  - what the sub-layer finds is subtracted; add it
    x + => x -
  - post-norm subtracts what the sub-layer finds; add it
    norm(x + sub => norm(x - sub
  - post-norm normalises x alone; it should normalise the sum
    norm(x + sub_layer(x)) => norm(x) + sub_layer(x)
  - post-norm adds x twice before the norm; once is enough
    norm(x + sub_layer(x)) => norm(2 * x + sub_layer(x))
  - post-norm calls the sub-layer twice, the second time on what the first has found
    norm(x + sub_layer(x)) => norm(x + sub_layer(sub_layer(x)))
  - post-norm gives the sub-layer the sum, and adds x again: the sub-layer runs twice
    norm(x + sub_layer(x)) => norm(x + sub_layer(x + sub_layer(x)))
  - post-norm normalises the sum twice
    norm(x + sub_layer(x)) => norm(norm(x + sub_layer(x)))
  - post-norm normalises only what the sub-layer has found; it should normalise the sum
    norm(x + sub_layer(x)) => x + norm(sub_layer(x))
  - post-norm normalises twice: before the sub-layer, too; only the sum is normalised
    norm(x + sub_layer(x)) => norm(x + sub_layer(norm(x)))
  - post-norm adds x once more behind the norm
    return norm(x + sub_layer(x)) => return x + norm(x + sub_layer(x))
  - post-norm has no norm: there is no norm around the sum
    norm(x + sub_layer(x)) => x + sub_layer(x)
  - there is no norm in either order
    norm(x + sub_layer(x)) => x + sub_layer(x)
    norm(x) => x
pre-norm: the sub-layer reads the norm of x, and what it finds is added to x itself: 1 + 106
    x, sub_layer, norm = torch.ones(1, 1, 1), (lambda x: 2 * x + 100), (lambda x: 3 * x)
    add_and_norm(x, sub_layer, norm, True)
  - norm_first makes no difference: this is always post-norm
    x + sub_layer(norm(x)) => norm(x + sub_layer(x))
  - pre-norm subtracts what the sub-layer finds; add it
    return x + sub => return x - sub
  - pre-norm adds x twice; once is enough
    return x + sub => return 2 * x + sub
  - pre-norm is the sub-layer of x + norm(x): x goes past norm and sub-layer together
    x + sub_layer(norm(x)) => sub_layer(x + norm(x))
  - pre-norm normalises x twice before the sub-layer
    x + sub_layer(norm(x)) => x + sub_layer(norm(norm(x)))
  - pre-norm normalises the sum, and not what the sub-layer reads: this is x + norm of the sum
    x + sub_layer(norm(x)) => x + norm(x + sub_layer(x))
  - pre-norm adds nothing: the residual connection is missing
    x + sub_layer(norm(x)) => sub_layer(norm(x))
  - pre-norm adds the result to the normalised x; it should be added to x itself
    x + sub_layer(norm(x)) => norm(x) + sub_layer(norm(x))
  - pre-norm adds the normalised x as well; x itself is enough
    x + sub_layer(norm(x)) => x + norm(x) + sub_layer(norm(x))
  - pre-norm normalises what the sub-layer returns; it should normalise what it reads
    x + sub_layer(norm(x)) => x + norm(sub_layer(x))
  - pre-norm normalises twice: before the sub-layer and after the addition
    x + sub_layer(norm(x)) => norm(x + sub_layer(norm(x)))
  - pre-norm has no norm: there is no norm before the sub-layer
    x + sub_layer(norm(x)) => x + sub_layer(x)
sentences and layers of any size
    x = torch.randn(2, 3, 5)
    sub_layer, norm = torch.nn.Linear(5, 5), torch.nn.LayerNorm(5)
    add_and_norm(x, sub_layer, norm, False), add_and_norm(x, sub_layer, norm, True)
  - post-norm normalises x and what is found apart; it should normalise their sum
    norm(x + sub_layer(x)) => norm(x) + norm(sub_layer(x))
""",
)


@exercise
def tap(answer) -> str:
    """Check the module `Tap(sub_layer)`, whose forward is x + tap * sub_layer(x).

    The tap is one learned number for the sub-layer, and starts at 0.
    """
    ladder(TAP, _Tap, Tap=answer)
    return "its parameters, a fresh tap, a tap of 0.5, and the gradients of tap and sub-layer"


class _Tap(nn.Module):
    def __init__(self, sub_layer):
        super().__init__()
        self.sub_layer = sub_layer
        self.tap = nn.Parameter(torch.tensor(0.0))

    def forward(self, x):
        return x + self.tap * self.sub_layer(x)


TAP = rungs(
    _Tap,
    """
Tap is a class derived from nn.Module
    isinstance(Tap(sub_layer), torch.nn.Module)
the parameters of the module are the sub-layer's, here 9 and 3 numbers, and one number for the tap
    sorted(p.numel() for p in Tap(sub_layer).parameters())
  - the tap is not learned: make it an nn.Parameter
    nn.Parameter(torch.tensor(0.0)) => torch.tensor(0.0)
  - each entry has a tap of its own; one number is enough for all
    torch.tensor(0.0) => torch.zeros(3)
  - the sub-layer is not a part of the module, so that no optimizer would find its parameters:
  self.sub_layer = sub_layer
    self.sub_layer = sub_layer => self.layers = [sub_layer]
    self.sub_layer(x) => self.layers[0](x)
the module keeps the sub-layer that it is given, not one of its own
    any(p is sub_layer.weight for p in Tap(sub_layer).parameters())
  - the module works with a copy of the sub-layer: not one of its own, but the one that it is given
    self.sub_layer = sub_layer => import copy; self.sub_layer = copy.deepcopy(sub_layer)
the tap starts at 0
    [p.item() for p in Tap(sub_layer).parameters() if p.numel() == 1]
  - the tap starts at 1; it should start at 0
    torch.tensor(0.0) => torch.tensor(1.0)
the tap multiplies what the sub-layer has found; x itself goes past the tap, so that a fresh module
hands on x as it is
    Tap(sub_layer)(x)
  - nothing is left of x while the tap is closed: what the tap multiplies is added to x
    x + self.tap => self.tap
  - the tap multiplies what the sub-layer reads; it should multiply what it has found
    self.tap * self.sub_layer(x) => self.sub_layer(self.tap * x)
  - the tap multiplies x; it should multiply what the sub-layer has found
    x + self.tap * self.sub_layer(x) => self.tap * x + self.sub_layer(x)
  - the tap multiplies the sum; x itself goes past it
    x + self.tap * self.sub_layer(x) => self.tap * (x + self.sub_layer(x))
  - 1 is added to the tap, which then lets all through at the start
    self.tap * => (1 + self.tap) *
  - the tap goes through a sigmoid, which is 1/2 at 0; it multiplies as it is
    self.tap * => self.tap.sigmoid() *
with a tap of 0.5 half of what the sub-layer finds is added to the whole of x
    OPEN
    module(x)
  - what was there is turned down as the tap opens; it should be kept whole
    x + self.tap => (1 - self.tap) * x + self.tap
  - the tap multiplies what is found twice, or is squared
    self.tap * => self.tap * self.tap *
  - the sub-layer is called on its own result as well
    self.sub_layer(x) => self.sub_layer(self.sub_layer(x))
  - the tap is squashed or exponentiated; it multiplies as it is
    self.tap * => self.tap.tanh() *
  - the tap has no effect
    x + self.tap * self.sub_layer(x) => x
a tap may become negative, and then takes off what the sub-layer finds
    module = Tap(sub_layer)
    [torch.nn.init.constant_(p, -0.5) for p in module.parameters() if p.numel() == 1]
    module(x)
  - the sign of the tap is lost; it multiplies as it is
    self.tap * => self.tap.abs() *
  - a negative tap is closed, by a ReLU or a clamp; it multiplies as it is
    self.tap * => self.tap.relu() *
a gradient reaches the tap, so that it can open
    module = Tap(sub_layer)
    module(x).square().sum().backward()
    [0.0 if p.grad is None else p.grad.sum() for p in module.parameters() if p.numel() == 1]
  - no gradient reaches the tap: requires_grad was taken away, or a plain number made of it
    torch.tensor(0.0) => torch.tensor(0.0), requires_grad=False
behind an open tap the sub-layer learns, too: a gradient reaches its parameters
    OPEN
    module(x).sum().backward()
    [0.0 if p.grad is None else 1.0 for p in sub_layer.parameters()]
  - the sub-layer is cut off from the gradient, so that it never learns
    self.sub_layer(x) => self.sub_layer(x).detach()
and so do the layers before it: a gradient reaches x through the sub-layer as well as past it
    OPEN
    x = x.clone().requires_grad_()
    module(x).sum().backward()
    x.grad
  - the sub-layer reads an x that is cut off: through it no gradient reaches the layers before
    self.sub_layer(x) => self.sub_layer(x.detach())
""".replace(
        "    OPEN\n",
        """\
    module = Tap(sub_layer)
    [torch.nn.init.constant_(p, 0.5) for p in module.parameters() if p.numel() == 1]
""",
    ),
    before="sub_layer, x = torch.nn.Linear(3, 3), torch.randn(2, 3)\n",
)


@exercise
def spreads(answer) -> str:
    """Check `spreads(weights, depth)`, (depth,): how different the rows of weights^k still are.

    weights (n, n), every row sums to 1. Entry k - 1 is for k layers: the largest difference between
    two rows of the k-th matrix power in any column.
    """
    ladder(SPREADS, _spreads, spreads=answer)
    return "2, 3 and 5 words, 1 to 4 layers"


def _spreads(weights, depth):
    result = []
    for k in range(1, depth + 1):
        power = torch.linalg.matrix_power(weights, k)
        spread = power.amax(0) - power.amin(0)
        result.append(spread.amax())
    return torch.stack(result)


SPREADS = rungs(
    _spreads,
    """
there is one number for each depth; with one layer the product is the matrix itself, whose columns
spread over 0.3, 0.1 and 0.4, from their smallest number to their largest; the largest of these is
asked for
    weights = torch.tensor([[0.8, 0.1, 0.1], [0.6, 0.1, 0.3], [0.5, 0.0, 0.5]])
    spreads(weights, 1)
  - it starts before the first layer: the first entry is for one layer
    range(1, depth + 1) => range(depth)
  - it starts with two layers: the first entry is for one
    range(1, depth + 1) => range(2, depth + 2)
  - the numbers within a row are compared; compare the rows, column by column
    power.amax(0) - power.amin(0) => power.amax(1) - power.amin(1)
  - the mean over the columns was taken; the largest difference was asked for
    spread.amax() => spread.mean()
  - the spreads of the columns were added up; the largest was asked for
    spread.amax() => spread.sum()
  - the smallest spread of a column was taken; the largest was asked for
    spread.amax() => spread.amin()
  - only the first column is looked at
    spread.amax() => spread[0]
  - the standard deviation was taken; the largest difference was asked for
    power.amax(0) - power.amin(0) => power.std(0, correction=0)
  - the standard deviation (with n - 1) was taken; the largest difference was asked for
    power.amax(0) - power.amin(0) => power.std(0)
  - each row is compared with the mean row; compare it with every other row
    power.amax(0) - power.amin(0) => (power - power.mean(0)).abs()
  - only neighbouring rows are compared; any two may differ most
    power.amax(0) - power.amin(0) => (power[1:] - power[:-1]).abs()
  - this is the length of the difference of two rows; its largest entry was asked for
    power.amax(0) - power.amin(0) => torch.cdist(power, power)
  - the differences of two rows are added up over the columns; the largest of them was asked for
    power.amax(0) - power.amin(0) => torch.cdist(power, power, p=1)
  - half the sum of the differences of two rows was taken; the largest difference was asked for
    power.amax(0) - power.amin(0) => torch.cdist(power, power, p=1) / 2
  - the mean difference of two rows was taken; the largest difference was asked for
    power.amax(0) - power.amin(0) => (power[:, None] - power).abs().mean((0, 1))
  - only the last column is looked at
    spread.amax() => spread[-1]
  - the largest number of the product was taken; its difference to the smallest of its column was
  asked for
    power.amax(0) - power.amin(0) => power.amax(0)
  - the difference is halved
    spread.amax() => spread.amax() / 2
  - all numbers of the matrix are compared; compare within each column
    power.amax(0) - power.amin(0) => power.amax() - power.amin()
  - half the identity is in it, which is for the second question; here each layer is weights alone
    matrix_power(weights, k) => matrix_power((weights + torch.eye(len(weights))) / 2, k)
  - a softmax was taken of the product, whose rows sum to 1 already
    matrix_power(weights, k) => matrix_power(weights, k).softmax(-1)
layers multiply matrices, weights @ weights, and there is one number for each depth, from one layer
on
    weights = torch.tensor([[1.0, 0.0], [0.5, 0.5]])
    spreads(weights, 3)
  - each number was raised to a power; layers multiply matrices: weights @ weights
    torch.linalg.matrix_power(weights, k) => weights**k
  - the weights are multiplied by the number of layers; layers multiply matrices
    torch.linalg.matrix_power(weights, k) => k * weights
  - the number of layers doubles from entry to entry; it should grow by one
    (weights, k) => (weights, 2 ** (k - 1))
  - the spreads are in reverse order: the first is that of one layer
    return torch.stack(result) => return torch.stack(result[::-1])
  - only the last depth comes back; there is one number for each
    return torch.stack(result) => return torch.stack(result[-1:])
  - the spread of one layer is raised to a power, or multiplied by itself; layers multiply matrices
    torch.linalg.matrix_power(weights, k) => weights
    spread.amax() => spread.amax() ** k
  - the weights are transposed in every second layer
    torch.linalg.matrix_power(weights, k) => torch.linalg.matrix_power(weights @ weights.T, k // 2)
    // 2) => // 2) @ torch.linalg.matrix_power(weights, k % 2)
  - every entry is for one layer: the product is not carried on
    torch.linalg.matrix_power(weights, k) => weights
there may be any number of words and layers, and any two rows may differ most: the spread of a
column is its largest number less its smallest
    weights = torch.randn(5, 5).softmax(-1)
    spreads(weights, 4)
  - the first row is compared with the last; any two may differ most
    power.amax(0) - power.amin(0) => (power[0] - power[-1]).abs()
  - the first row is compared with the others; any two may differ most
    power.amax(0) - power.amin(0) => (power - power[0]).abs()
  - the sign of a difference is kept, so that only rows above the first one count
    power.amax(0) - power.amin(0) => power - power[0]
""",
)


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
