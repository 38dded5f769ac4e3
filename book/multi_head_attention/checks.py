"""Checks for the exercises of book/multi_head_attention.ipynb."""

import math
from collections.abc import Callable
from functools import partial
from itertools import chain, permutations, product

import torch
from torch import nn

from book.checking.exercise import Mistake, call, climb, exercise
from book.checking.faults import check_name
from book.checking.results import show
from book.checking.rungs import ladder
from companion.nn import MultiHeadAttention


@exercise
def split_heads(answer) -> str:
    """Check `split_heads(x, num_heads)`: (B, T, d) -> (B, H, T, d / H)."""
    climb(SPLIT_HEADS, answer)
    return "one, two and three heads, batches of one and two"


def _split(x, num_heads):
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)  # (B, H, T, d / H)


def _split_by_reshape(x, num_heads):
    return x.reshape(len(x), num_heads, x.shape[1], -1)


@ladder(_split)
def SPLIT_HEADS(split_heads):
    """head 0 gets the first half of every word, head 1 the second half"""
    x = torch.arange(12.0).reshape(1, 3, 4)  # three words: 0 1 2 3, 4 5 6 7 and 8 9 10 11
    yield split_heads(x, 2)

    """num_heads is the number of heads, here 3, each of them 2 wide; and sentences stay
    apart"""
    x = torch.arange(60.0).reshape(2, 5, 6)
    yield split_heads(x, 3)

    """with one head nothing is cut, and there is an axis for it all the same"""
    x = torch.arange(6.0).reshape(1, 3, 2)
    yield split_heads(x, 1)


SPLIT_HEADS.mistakes |= {
    "the reshape goes straight to (B, H, T, d / H): a head gets whole words, not a part of "
    "each word; first cut the last axis, then exchange two axes": (_split_by_reshape),
    "the last axis is cut, but the heads still stand behind the positions: exchange axes 1 and 2": (
        lambda x, num_heads: x.unflatten(-1, (num_heads, -1))
    ),
    "a head gets every H-th entry; it should get d / H neighbours: cut the last axis into "
    "(H, d / H), not (d / H, H)": (
        lambda x, num_heads: x.unflatten(-1, (-1, num_heads)).permute(0, 3, 1, 2)
    ),
    "positions and entries have changed places: the result is (B, H, d / H, T)": (
        lambda x, num_heads: _split(x, num_heads).mT
    ),
    "the heads stand before the batch: the result is (H, B, T, d / H)": (
        lambda x, num_heads: _split(x, num_heads).transpose(0, 1)
    ),
    "axes 1 and 2 are exchanged before the cut, and `reshape` mixes words: first cut the "
    "last axis": (lambda x, num_heads: x.mT.reshape(len(x), num_heads, x.shape[1], -1)),
    "a head is 4 wide, whatever d and H are; it is d / H wide": (
        lambda x, num_heads: x.unflatten(-1, (-1, 4)).transpose(1, 2)
    ),
}


@exercise
def merge_heads(answer) -> str:
    """Check `merge_heads(x)`, the inverse of `split_heads`: (B, H, T, d / H) -> (B, T, d)."""
    climb(MERGE_HEADS, answer)
    return "one, two and three heads, batches of one and two"


def _merge(x):
    return x.transpose(1, 2).flatten(2)  # (B, T, d)


def _merge_by_reshape(x):
    return x.reshape(len(x), x.shape[2], -1)


@ladder(_merge)
def MERGE_HEADS(merge_heads):
    """the heads are on axis 1: a word gets back its part from head 0 and then its part from head 1,
    side by side"""
    x = torch.arange(8.0).reshape(1, 2, 2, 2)  # head 0: 0 1 and 2 3, head 1: 4 5 and 6 7
    yield merge_heads(x)

    """there may be any number of heads, positions, entries and sentences"""
    x = torch.arange(60.0).reshape(2, 3, 5, 2)
    yield merge_heads(x)


MERGE_HEADS.mistakes |= {
    "the reshape comes without exchanging axes 1 and 2: words are mixed": (_merge_by_reshape),
    "the heads are interleaved entry by entry; they should be laid side by side": (
        lambda x: x.permute(0, 2, 3, 1).flatten(2)
    ),
    "the heads come in reverse order: head 0 comes first": (lambda x: _merge(x.flip(1))),
    "axes 1 and 3 are exchanged, heads and entries; exchange heads and words, 1 and 2": (
        lambda x: x.transpose(1, 3).reshape(len(x), x.shape[2], -1)
    ),
    "the heads are added up; they should be laid side by side": (lambda x: x.sum(dim=1)),
    "the heads are averaged; they should be laid side by side": (lambda x: x.mean(dim=1)),
    "the heads are laid one after the other along the positions": (lambda x: x.flatten(1, 2)),
    "axes 2 and 3 are exchanged, words and entries; exchange heads and words, 1 and 2": (
        lambda x: x.transpose(2, 3).reshape(len(x), x.shape[2], -1)
    ),
}


@exercise
def my_multi_head(answer) -> str:
    """Check the module `MyMultiHead(d_model, num_heads)`: the outputs of companion's layer.

    `.forward(x, mask=None)` takes x (B, T, d_model) and a boolean mask (T, T), True for "may
    attend", and returns the output, or output and weights. Its parameters are one fused matrix for
    queries, keys and values and one matrix for the output, with or without biases. The check gives
    the same weights to companion's layer, in whatever order of the fused rows makes them agree.
    """
    tried = []
    for order in ORDERS:
        tried.append(_climbed(answer, order, named=False))
        if not tried[-1][1]:
            break
    else:  # what the orders that get furthest say, with a name if one of them has one
        furthest = max(count for count, _, _ in tried)
        found = (_climbed(answer, order, named=True)[1] for n, _, order in tried if n == furthest)
        first = next(found)
        named = (x for x in chain([first], found) if x.mistake in MY_MULTI_HEAD.mistakes)
        raise next(named, first)
    x, module = torch.randn(2, 3, 4), answer(4, 2)
    output = call(module, x=x)
    output = output[0] if isinstance(output, tuple | list) else output
    if output.requires_grad:
        output.sum().backward()
    for name, parameter in module.named_parameters():
        if parameter.dim() > 1 and parameter.grad is None:
            raise Mistake(
                f"no gradient reaches {name}, so that it is never trained: it is detached, or not "
                "used",
                f"MyMultiHead(4, 2)({show({'x': x}).removeprefix('x = ')}).sum().backward()",
            )
    return "one to three heads, masks of several kinds, batches of one and two, gradients"


def _climbed(answer, order: tuple, *, named: bool) -> tuple[int, Mistake | None, tuple]:
    """How many rungs the answer has reached with its rows in this order, and how it failed."""
    made = []

    def counted(d_model: int, num_heads: int) -> nn.Module:
        made.append(answer(d_model, num_heads))
        if not isinstance(made[-1], nn.Module):
            kind = type(made[-1]).__name__
            raise Mistake("expected a class derived from nn.Module", f"it made a {kind}")
        return made[-1]

    steps = MY_MULTI_HEAD.mapped(partial, answer=answer, order=order)
    try:
        climb(steps, counted, named=named)
    except Mistake as mistake:
        return len(made), mistake, order
    return len(made) + 1, None, order


class _Fused(nn.Module):
    """Weights as an answer has them."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.fused, self.output = nn.Linear(d_model, 3 * d_model), nn.Linear(d_model, d_model)


# W^O as it is or transposed, how the fused rows may be cut, and which of them are whose.
CUTS = ((0, lambda h: (3, h, -1)), (1, lambda h: (h, 3, -1)), (2, lambda h: (h, -1, 3)))
ORDERS = [*product((False, True), CUTS, permutations(("q_proj", "k_proj", "v_proj")))]


class _Like(nn.Module):
    """Companion's layer with the weights of the answer's, or with one step done in another way.

    The weights are drawn anew: a rung begins with the same random numbers whoever is tried.
    """

    def __init__(self, d_model, num_heads, *, answer=_Fused, order=ORDERS[0], **changes) -> None:
        super().__init__()
        self.module, self.order = answer(d_model, num_heads), order
        self.sizes, self.changes = (d_model, num_heads), changes

    def forward(self, x, mask=None):
        layer = _same_layer(self.module, *self.sizes, *self.order)
        return _by_hand(layer, x, mask, **self.changes)


def _same_layer(module, d_model: int, num_heads: int, turned, cut, names) -> MultiHeadAttention:
    """Companion's layer with the module's weights, in one of the orders."""
    found = {tuple(p.shape): p.detach() for p in module.parameters()}
    listed = "\n".join(f"{name} {tuple(p.shape)}" for name, p in module.named_parameters())
    if (d_model, 3 * d_model) in found:  # used as x @ W
        found[3 * d_model, d_model] = found[d_model, 3 * d_model].mT
    for name, shape in {"fused": (3 * d_model, d_model), "output": (d_model, d_model)}.items():
        if shape not in found:
            raise Mistake(
                f"there is no {name} matrix: expected a parameter of shape {shape}",
                f"MyMultiHead({d_model}, {num_heads}) has the parameters\n{listed}",
            )
    weight, output = found[3 * d_model, d_model], found[d_model, d_model]
    bias = found.get((3 * d_model,), torch.zeros(3 * d_model))
    layer = MultiHeadAttention(d_model, num_heads)
    state = {
        "out_proj.weight": output.mT if turned else output,
        "out_proj.bias": found.get((d_model,), torch.zeros(d_model)),
    }
    axis, shape = cut
    for name, rows, shift in zip(
        names,
        weight.unflatten(0, shape(num_heads)).unbind(axis),
        bias.unflatten(0, shape(num_heads)).unbind(axis),
        strict=True,
    ):
        state |= {f"{name}.weight": rows.flatten(0, 1), f"{name}.bias": shift.flatten(0, 1)}
    layer.load_state_dict(state)
    return layer


def _by_hand(
    layer: MultiHeadAttention,
    x: torch.Tensor,
    mask: torch.Tensor | None,
    *,
    split: Callable = _split,
    scale: Callable = lambda d_model, d_k: d_k**-0.5,
    softmax_dim: int = -1,
    forbidden: float = -math.inf,
    change: Callable = lambda mask: mask,
    afterwards: bool = False,
    merge: Callable = _merge,
    project: bool = True,
    use: tuple[int, int, int] = (0, 1, 2),
) -> tuple[torch.Tensor, torch.Tensor]:
    """What the layer computes, or what it would with one step done in another way."""
    projections = (layer.q_proj, layer.k_proj, layer.v_proj)
    query, key, value = (split(projections[i](x), layer.num_heads) for i in use)
    scores = query @ key.mT * scale(layer.d_model, layer.d_k)
    allowed = change(torch.ones(2 * x.shape[1:2]).bool() if mask is None else mask)
    if not afterwards:
        scores = scores.masked_fill(~allowed, forbidden)
    weights = scores.softmax(dim=softmax_dim) * (allowed if afterwards else 1)
    merged = merge(weights @ value)
    return (layer.out_proj(merged) if project else merged), weights


def drawn(layer: nn.Module) -> nn.Module:
    """The layer with numbers from a normal distribution as its weights."""
    for p in layer.parameters():
        nn.init.normal_(p)
    return layer


@ladder(_Like, optional=1)
def MY_MULTI_HEAD(MyMultiHead):
    """a single word attends to itself: its output is W^O of its value"""
    x = torch.randn(1, 1, 4)
    layer = drawn(MyMultiHead(4, 1))
    yield layer(x)

    """one head is plain attention: scores over the square root of d_k, a softmax over the
    keys"""
    x = torch.randn(1, 2, 4)
    layer = drawn(MyMultiHead(4, 1))
    yield layer(x)

    """with several heads, each compares its own part of every query and key, d_k = d_model /
    num_heads wide, and the parts are laid side by side again before W^O"""
    x = torch.randn(1, 4, 6)
    layer = drawn(MyMultiHead(6, 3))
    yield layer(x)

    """where a mask is False there is no weight (a score of 0 would have e**0 = 1), and the
    rest of the row sums to 1: with one key left for each query, the output is W^O of its value"""
    x = torch.randn(1, 3, 4)
    mask = torch.eye(3).bool()
    layer = drawn(MyMultiHead(4, 2))
    yield layer(x, mask)

    """row i of the mask is for query i, column j for key j, the same for all heads"""
    x = torch.randn(1, 3, 4)
    mask = torch.ones(3, 3).tril().bool()
    layer = drawn(MyMultiHead(4, 2))
    yield layer(x, mask)

    """a batch has several sentences, of any length, and one mask for all"""
    x = torch.randn(3, 5, 6)
    mask = torch.ones(5, 5).tril(1).bool()
    layer = drawn(MyMultiHead(6, 2))
    yield layer(x, mask)


MY_MULTI_HEAD.mistakes |= {
    "the last matrix, W^O, is not applied": partial(_Like, project=False),
    "the scores are not scaled: divide them by the square root of d_k = d_model / num_heads": (
        partial(_Like, scale=lambda d_model, d_k: 1.0)
    ),
    "the scores are divided by d_k; divide them by its square root": (
        partial(_Like, scale=lambda d_model, d_k: 1 / d_k)
    ),
    "softmax over the queries: each row, the last axis, has to sum to 1": (
        partial(_Like, softmax_dim=-2)
    ),
    "every word attends to itself only, or heads to heads: exchange axes 1 and 2 before the "
    "scores": partial(_Like, change=lambda mask: torch.eye(mask.shape[-1]).bool()),
    "the mask is always causal; without a mask all words may be looked at": (
        partial(_Like, change=lambda mask: torch.ones_like(mask).tril())
    ),
    "softmax over the heads: each row, the last axis, has to sum to 1": (
        partial(_Like, softmax_dim=1)
    ),
    "the scores are divided by the square root of d_model; a head's queries are only d_k = "
    "d_model / num_heads wide": partial(_Like, scale=lambda d_model, d_k: d_model**-0.5),
    "the heads are split by one reshape: a head gets whole words, not a part of each": (
        partial(_Like, split=_split_by_reshape)
    ),
    "the heads are merged by one reshape, without exchanging axes 1 and 2": (
        partial(_Like, merge=_merge_by_reshape)
    ),
    "the heads are split and merged by one reshape each: a head gets whole words": (
        partial(_Like, split=_split_by_reshape, merge=_merge_by_reshape)
    ),
    "the heads are not split: there is one, as wide as the whole vector": partial(
        _Like,
        split=lambda x, num_heads: x[:, None],
        merge=lambda heads: heads[:, 0],
        scale=lambda d_model, d_k: d_model**-0.5,
    ),
    "the mask is turned round: True means that a query may attend": partial(
        _Like, change=lambda mask: mask if mask.all() else ~mask
    ),
    "the mask is not used": partial(_Like, change=torch.ones_like),
    "forbidden scores become 0, and e**0 = 1 is still a weight; they have to become -inf": partial(
        _Like, forbidden=0.0
    ),
    "the mask comes after the softmax, so that rows do not sum to 1: fill the scores with "
    "-inf before it": partial(_Like, afterwards=True),
    "without a mask only the past is seen; then all words may be looked at": partial(
        _Like, change=lambda mask: mask.tril() if mask.all() else mask
    ),
    "keys and values are the same: one of the three parts is used twice, and one never": partial(
        _Like, use=(0, 2, 2)
    ),
}


SYMPTOMS = {
    "none": "with any mask the rows sum to 1 but for rounding, forbidden weights are 0, heads "
    "differ, and under a causal mask a change of the last word moves no output before it",
    "softmax over the queries": "without a mask the rows do not sum to 1; the columns do",
    "no mask": "weights are the same under every mask",
    "mask inverted": "under a causal mask the weights up to the query are 0, those after it not",
    "mask after the softmax": "rows sum to 1 without a mask, and to less under a causal one",
    "one row for all heads": "all heads have the same weights",
    "positions mixed": "the weights are right, but outputs are made of other positions' heads: "
    " under a causal mask a change of the last word "
    "moves outputs before it",
}


@exercise
def name_the_fault(answer) -> str:
    """Check `name_the_fault(layer)`, which is given a layer and returns a name of `SYMPTOMS`.

    `layer(x, mask)` takes x (B, T, 12) and a boolean mask (T, T), True for "may attend", and
    returns output (B, T, 12) and weights (B, 3, T, T).
    """
    for fault in [*SYMPTOMS, *reversed(SYMPTOMS)]:
        layer = partial(_faulty, MultiHeadAttention(12, 3))
        check_name(answer, layer, fault, SYMPTOMS, "layer")
    return "two layers of each kind, with random weights"


def _faulty(right: MultiHeadAttention, fault: str, x, mask) -> tuple[torch.Tensor, torch.Tensor]:
    projections = (right.q_proj, right.k_proj, right.v_proj)
    query, key, value = (_split(proj(x), right.num_heads) for proj in projections)
    if fault == "one row for all heads":
        query, key = (part[:, :1].expand_as(part) for part in (query, key))
    weights = _faulty_weights(query @ key.mT * right.d_k**-0.5, mask, fault)
    heads = weights @ value
    merged = heads.reshape(x.shape) if fault == "positions mixed" else _merge(heads)
    return right.out_proj(merged), weights


def _faulty_weights(scores, mask, fault: str) -> torch.Tensor:
    if fault == "mask after the softmax":
        return scores.softmax(dim=-1) * mask
    allowed = {"no mask": torch.ones_like(mask), "mask inverted": ~mask}.get(fault, mask)
    axis = -2 if fault == "softmax over the queries" else -1
    # No NaN where nobody may be looked at.
    return scores.masked_fill(~allowed, -math.inf).softmax(dim=axis).nan_to_num()
