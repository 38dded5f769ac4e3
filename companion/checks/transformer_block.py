"""Checks for the exercises of book/transformer_block.ipynb."""

from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from companion.checks.exercise import Mistake, call, close, compare, exercise, show
from companion.nn import EncoderBlock


@exercise
def rms_norm(answer) -> str:
    """Check `rms_norm(x, eps)`: (..., d) -> (..., d), each vector over the root of its mean square.

    eps is added under the root.
    """
    cases = [
        {"x": torch.tensor([[1.0, 7.0]]), "eps": 0.0},  # the root of (1 + 49) / 2 is 5
        {"x": torch.randn(2, 3, 5), "eps": 0.5},
        {"x": torch.randn(7, 11), "eps": 1e-5},
        {"x": 3 + torch.randn(5), "eps": 0.1},
    ]
    compare(answer, cases, _rms_norm, RMS_MISTAKES)
    return "one vector, a sentence, a batch; eps of 0, 0.00001, 0.1 and 0.5"


def _rms_norm(x, eps, *, dim=-1, root=lambda mean, eps: (mean + eps).sqrt(), mean=torch.mean):
    return (x / root(mean(x.square(), dim=dim, keepdim=True), eps),)


def _centred(x, eps):
    deviation = x - x.mean(-1, keepdim=True)
    return (deviation / (deviation.square().mean(-1, keepdim=True) + eps).sqrt(),)


RMS_MISTAKES = {
    "the mean is subtracted: this is layer norm": _centred,
    "the spread about the mean is divided by, though nothing is subtracted: RMS norm divides by "
    "the root of the mean square of x itself": (
        lambda x, eps: (x / (x.var(-1, keepdim=True, correction=0) + eps).sqrt(),)
    ),
    "the sum of the squares was taken, so each vector has length 1; take their mean": partial(
        _rms_norm, mean=torch.sum
    ),
    "there is no root: x is divided by the mean square itself": partial(
        _rms_norm, root=lambda mean, eps: mean + eps
    ),
    "eps is added to the root; it belongs under it": partial(
        _rms_norm, root=lambda mean, eps: mean.sqrt() + eps
    ),
    "eps is left out": partial(_rms_norm, root=lambda mean, eps: mean.sqrt()),
    "one mean for all vectors was taken; each vector has its own: dim=-1": (
        lambda x, eps: (x / (x.square().mean() + eps).sqrt(),)
    ),
    "the mean runs over the words, or over the batch; it should run over each vector's own "
    "numbers: dim=-1": partial(_rms_norm, dim=0),
}


@exercise
def add_and_norm(answer) -> str:
    """Check `add_and_norm(x, sub_layer, norm, norm_first)`, one half of a block.

    x (B, T, d_model); sub_layer and norm are modules from (B, T, d_model) to the same shape;
    norm_first says which of the two orders is asked for.
    """
    cases = []
    for shape in ((1, 1, 2), (2, 3, 5)):
        sub_layer, norm = nn.Linear(shape[-1], shape[-1]), nn.LayerNorm(shape[-1])
        nn.init.normal_(norm.weight)
        nn.init.normal_(norm.bias)
        given = {"x": torch.randn(shape), "sub_layer": sub_layer, "norm": norm}
        cases += [given | {"norm_first": norm_first} for norm_first in (False, True)]
    with torch.no_grad():
        compare(answer, cases, _add_and_norm, ADD_MISTAKES)
    return "both orders, on one word of width 2 and on two sentences of width 5"


def _add_and_norm(x, sub_layer, norm, norm_first):
    return (_pre(x, sub_layer, norm) if norm_first else _post(x, sub_layer, norm),)


def _pre(x, sub_layer, norm):
    return x + sub_layer(norm(x))


def _post(x, sub_layer, norm):
    return norm(x + sub_layer(x))


def _orders(pre, post):
    def variant(x, sub_layer, norm, norm_first):
        return ((pre if norm_first else post)(x, sub_layer, norm),)

    return variant


ADD_MISTAKES = {
    "the two orders are exchanged: with norm_first the norm comes before the sub-layer": _orders(
        _post, _pre
    ),
    "norm_first makes no difference: this is always post-norm": _orders(_post, _post),
    "norm_first makes no difference: this is always pre-norm": _orders(_pre, _pre),
    "nothing is added: the residual connection is missing": _orders(
        lambda x, sub_layer, norm: sub_layer(norm(x)), lambda x, sub_layer, norm: norm(sub_layer(x))
    ),
    "pre-norm adds the result to the normalised x; it should be added to x itself": _orders(
        lambda x, sub_layer, norm: norm(x) + sub_layer(norm(x)), _post
    ),
    "post-norm normalises only what the sub-layer has found; it should normalise the sum": _orders(
        _pre, lambda x, sub_layer, norm: x + norm(sub_layer(x))
    ),
    "pre-norm normalises what the sub-layer returns; it should normalise what it reads": _orders(
        lambda x, sub_layer, norm: x + norm(sub_layer(x)), _post
    ),
    "pre-norm normalises twice: before the sub-layer and after the addition": _orders(
        lambda x, sub_layer, norm: norm(_pre(x, sub_layer, norm)), _post
    ),
    "there is no norm": _orders(*2 * [lambda x, sub_layer, norm: x + sub_layer(x)]),
}


@exercise
def tap(answer) -> str:
    """Check the module `Tap(sub_layer)`, whose forward is x + tap * sub_layer(x).

    The tap is one learned number for the sub-layer, and starts at 0.
    """
    sub_layer, x = nn.Linear(3, 3), torch.randn(2, 5, 3)
    module = call(answer, sub_layer=sub_layer)
    if not isinstance(module, nn.Module):
        raise Mistake(
            "expected a class derived from nn.Module",
            f"Tap(nn.Linear(3, 3)) is a {type(module).__name__}",
        )
    number = _the_tap(module)
    inner = next(part for part in module.modules() if isinstance(part, nn.Linear))
    if not close(inner(x), sub_layer(x)):
        raise Mistake(
            "the module has a sub-layer of its own; it should keep the one that it is given",
            show({"given": sub_layer, "found in the module": inner}),
        )
    cases = [{"x": x[:1, :1]}, {"x": x}]
    known = {text: partial(variant, inner) for text, variant in CLOSED_TAP_MISTAKES.items()}
    compare(module, cases, lambda x: (x,), known, otherwise=NOT_CLOSED)
    with torch.no_grad():
        number.fill_(0.5)
    cases = [{"x with a tap of 0.5": case["x"]} for case in cases]
    known = {text: partial(variant, inner) for text, variant in TAP_MISTAKES.items()}
    compare(module, cases, lambda x: (x + 0.5 * inner(x),), known)
    output = call(module, x=x)
    loss = (output[0] if isinstance(output, tuple) else output).square().sum()
    if loss.requires_grad:
        loss.backward()
    if number.grad is None or not number.grad.abs().sum() > 0:
        raise Mistake(
            "no gradient reaches the tap, so that it can never open",
            "the gradient of the sum of squares of the output, for the tap, is "
            f"{None if number.grad is None else number.grad.item()}",
        )
    return "a fresh tap, a tap of 0.5, and the gradient of the tap"


def _the_tap(module: nn.Module) -> nn.Parameter:
    """The one parameter that is not the sub-layer's."""
    listed = "\n".join(f"{name} {tuple(p.shape)}" for name, p in module.named_parameters())
    listed = f"Tap(nn.Linear(3, 3)) has the parameters\n{listed or 'none'}"
    sub_layers = [part for part in module.modules() if isinstance(part, nn.Linear)]
    if len(sub_layers) != 1:
        raise Mistake(
            "the sub-layer is not a part of the module, so that no optimizer would find its "
            "parameters: self.sub_layer = sub_layer",
            listed,
        )
    inner = set(map(id, sub_layers[0].parameters()))
    others = [p for p in module.parameters() if id(p) not in inner]
    if not others:
        raise Mistake("the tap is not learned: make it an nn.Parameter", listed)
    if len(others) > 1 or others[0].numel() > 1:
        raise Mistake("the tap should be one single number", listed)
    return others[0]


NOT_CLOSED = "at the start the module should hand on x as it is: the tap starts at 0"
CLOSED_TAP_MISTAKES = {
    "the tap starts at 1; it should start at 0": lambda inner, x: (x + inner(x),),
    "nothing is left of x while the tap is closed: what the tap multiplies is added to x": (
        lambda inner, x: (torch.zeros_like(x),)
    ),
    "the tap multiplies what the sub-layer reads; it should multiply what it has found": (
        lambda inner, x: (x + inner(torch.zeros_like(x)),)
    ),
}
TAP_MISTAKES = {
    "what was there is turned down as the tap opens; it should be kept whole": (
        lambda inner, x: (0.5 * x + 0.5 * inner(x),)
    ),
    "the tap is squashed or exponentiated; it multiplies as it is": (
        lambda inner, x: (x + torch.tensor(0.5).tanh() * inner(x),)
    ),
    "the tap has no effect": lambda inner, x: (x,),
}


@exercise
def spreads(answer) -> str:
    """Check `spreads(weights, depth)`, (depth,): how different the rows of weights^k still are.

    weights (n, n), every row sums to 1. Entry k - 1 is for k layers: the largest difference between
    two rows of the k-th matrix power in any column.
    """
    half = torch.tensor([[1.0, 0.0], [0.5, 0.5]])
    cases = [{"weights": half, "depth": 3}]
    for n, depth in ((3, 1), (5, 4), (7, 11)):
        cases.append({"weights": torch.randn(n, n).softmax(-1), "depth": depth})
    compare(answer, cases, _spreads, SPREADS_MISTAKES)
    return "2, 3, 5 and 7 words, 1 to 11 layers"


def _spread(power):
    return (power.amax(0) - power.amin(0)).amax()


def _spreads(weights, depth, *, powers=None, spread=_spread):
    powers = powers or (lambda weights, k: torch.linalg.matrix_power(weights, k))
    return (torch.stack([spread(powers(weights, k)) for k in range(1, depth + 1)]),)


SPREADS_MISTAKES = {
    "each number was raised to a power; layers multiply matrices: weights @ weights": partial(
        _spreads, powers=lambda weights, k: weights**k
    ),
    "it starts before the first layer: the first entry is for one layer": partial(
        _spreads, powers=lambda weights, k: torch.linalg.matrix_power(weights, k - 1)
    ),
    "it starts with two layers: the first entry is for one": partial(
        _spreads, powers=lambda weights, k: torch.linalg.matrix_power(weights, k + 1)
    ),
    "the number of layers doubles from entry to entry; it should grow by one": partial(
        _spreads, powers=lambda weights, k: torch.linalg.matrix_power(weights, 2 ** (k - 1))
    ),
    "the numbers within a row are compared; compare the rows, column by column": partial(
        _spreads, spread=lambda power: (power.amax(1) - power.amin(1)).amax()
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
    "only the last layer is there; one number for each depth was asked for": (
        lambda weights, depth: (_spreads(weights, depth)[0][-1],)
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
        said = call(answer, block=Patient(fault))
        if not isinstance(said, str) or said not in FAULTS:
            raise Mistake(
                f"{said!r} is none of the faults",
                "expected one of: " + ", ".join(FAULTS),
            )
        if said != fault:
            named = "a block with the fault" if fault != "none" else "a right block, fault"
            raise Mistake(
                f'{named} "{fault}", is called "{said}"',
                f"a symptom that tells: {SYMPTOMS[fault]}",
            )
    return f"{len(FAULTS) - 1} faults and a right block, with three sets of weights each"


class Patient:
    """A pre-norm block of width 8 with one fault, and fresh weights."""

    def __init__(self, fault: str) -> None:
        self.block = EncoderBlock(8, num_heads=2, d_ff=16, norm_first=True)
        for name, parameter in self.block.named_parameters():
            if not name.startswith("norm"):
                nn.init.normal_(parameter, std=0.5)
        self.compute = FAULTS[fault]

    def __call__(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        with torch.no_grad():
            return self.compute(self.block, x, mask)

    def __repr__(self) -> str:
        return "a block with or without a fault"


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
    "none": "two calls agree; a word that the mask hides moves nobody; 1000 x comes back as about "
    "1000 x",
    "no residual": "x and 1000 x give nearly the same result, and it is not normalised",
    "post-norm": "every word of the result has mean 0 and variance 1",
    "norm over the words": "with the mask torch.eye(T) a word still moves all others, and yet the "
    "mask does make a difference, and one of all True makes none",
    "mask ignored": "any two masks give the same result",
    "mask inverted": "a mask of all True should do nothing, but the result is not that without one",
    "dropout left on": "the same input twice gives two results",
}
