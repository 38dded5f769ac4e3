"""Checks for the exercises of book/multi_head_attention.ipynb."""

import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import permutations, product

import torch
from torch import nn

from companion.checks.exercise import Mistake, call, compare, exercise, show
from companion.nn import MultiHeadAttention, causal_mask


def _numbered(*shape: int) -> torch.Tensor:
    return torch.arange(math.prod(shape), dtype=torch.float32).reshape(shape)


@exercise
def split_heads(answer) -> str:
    """Check `split_heads(x, num_heads)`: (B, T, d) -> (B, H, T, d / H)."""
    cases = [
        {"x": _numbered(1, 2, 4), "num_heads": 2},
        {"x": _numbered(2, 5, 6), "num_heads": 3},
        {"x": _numbered(3, 2, 7), "num_heads": 1},
    ]
    compare(answer, cases, _split, SPLIT_MISTAKES)
    return "one, two and three heads, batches of one, two and three"


def _split(x, num_heads):
    return (x.unflatten(-1, (num_heads, -1)).transpose(1, 2),)  # (B, H, T, d / H)


SPLIT_MISTAKES = {
    "the reshape goes straight to (B, H, T, d / H): a head gets whole words, not a part of each "
    "word; first cut the last axis, then exchange two axes": (
        lambda x, num_heads: (x.reshape(len(x), num_heads, x.shape[1], -1),)
    ),
    "the last axis is cut, but the heads still stand behind the positions: exchange axes 1 and 2": (
        lambda x, num_heads: (x.unflatten(-1, (num_heads, -1)),)
    ),
    "a head gets every H-th entry; it should get d / H neighbours: cut the last axis into "
    "(H, d / H), not (d / H, H)": (
        lambda x, num_heads: (x.unflatten(-1, (-1, num_heads)).permute(0, 3, 1, 2),)
    ),
    "num_heads is taken for the width of a head": (
        lambda x, num_heads: (x.unflatten(-1, (-1, num_heads)).transpose(1, 2),)
    ),
    "positions and entries have changed places: the result is (B, H, d / H, T)": (
        lambda x, num_heads: (_split(x, num_heads)[0].mT,)
    ),
    "the heads stand before the batch: the result is (H, B, T, d / H)": (
        lambda x, num_heads: (_split(x, num_heads)[0].transpose(0, 1),)
    ),
}


@exercise
def merge_heads(answer) -> str:
    """Check `merge_heads(x)`, the inverse of `split_heads`: (B, H, T, d / H) -> (B, T, d)."""
    cases = [{"x": _numbered(*shape)} for shape in ((1, 2, 2, 2), (2, 3, 5, 2), (3, 1, 2, 7))]
    compare(answer, cases, _merge, MERGE_MISTAKES)
    return "one, two and three heads, batches of one, two and three"


def _merge(x):
    return (x.transpose(1, 2).flatten(2),)  # (B, T, d)


MERGE_MISTAKES = {
    "the reshape comes without exchanging axes 1 and 2: words are mixed": (
        lambda x: (x.reshape(len(x), x.shape[2], -1),)
    ),
    "the heads are interleaved entry by entry; they should be laid side by side": (
        lambda x: (x.permute(0, 2, 3, 1).flatten(2),)
    ),
    "the heads are added up; they should be laid side by side": lambda x: (x.sum(dim=1),),
    "the heads are averaged; they should be laid side by side": lambda x: (x.mean(dim=1),),
    "the heads are laid one after the other along the positions": lambda x: (x.flatten(1, 2),),
    "axes 1 and 2 are exchanged, but the last two not merged": lambda x: (x.transpose(1, 2),),
}


@exercise
def my_multi_head(answer) -> str:
    """Check the module `MyMultiHead(d_model, num_heads)`: the outputs of companion's layer.

    `.forward(x, mask=None)` takes x (B, T, d_model) and a boolean mask (T, T), True for "may
    attend", and returns the output, or output and weights. Its parameters are one fused matrix for
    queries, keys and values and one matrix for the output, with or without biases. The check gives
    the same weights to companion's layer, in whatever order of the fused rows makes them agree.
    """
    for d_model, num_heads in ((6, 3), (10, 2)):
        module = call(answer, d_model=d_model, num_heads=num_heads)
        if not isinstance(module, nn.Module):
            raise Mistake(
                "expected a class derived from nn.Module",
                f"MyMultiHead({d_model}, {num_heads}) is a {type(module).__name__}",
            )
        for parameter in module.parameters():
            nn.init.normal_(parameter, std=0.5)
        x = torch.randn(2, 5, d_model)
        some = (torch.rand(5, 5) < 0.5) | torch.eye(5, dtype=torch.bool)
        cases = [{"x": x[:1, :2], "mask": None}]
        cases += [{"x": x, "mask": mask} for mask in (None, causal_mask(5), some)]
        _agrees_with_some_order(module.eval(), cases, _same_layers(module, d_model, num_heads))
    return "two and three heads; no mask, a causal one and a random one; batches of one and two"


def _agrees_with_some_order(module, cases: list[dict], layers: Iterator) -> None:
    found = []
    for layer in layers:
        known = {text: partial(variant, layer) for text, variant in MULTI_HEAD_MISTAKES.items()}
        try:
            with torch.no_grad():
                compare(module, cases, partial(_by_hand, layer), known, optional=1)
            return
        except Mistake as mistake:
            found.append(mistake)
    raise next((mistake for mistake in found if mistake.mistake in MULTI_HEAD_MISTAKES), found[0])


def _same_layers(module, d_model: int, num_heads: int) -> Iterator[MultiHeadAttention]:
    """Companion's layer with the module's weights, for every order that the rows may have."""
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
    output_bias = found.get((d_model,), torch.zeros(d_model))
    names = ("q_proj", "k_proj", "v_proj")
    cuts = ((0, (3, num_heads, -1)), (1, (num_heads, 3, -1)), (2, (num_heads, -1, 3)))
    for turned, (axis, shape), order in product((output, output.mT), cuts, permutations(names)):
        layer = MultiHeadAttention(d_model, num_heads)
        state = {"out_proj.weight": turned, "out_proj.bias": output_bias}
        for name, rows, shift in zip(
            order,
            weight.unflatten(0, shape).unbind(axis),
            bias.unflatten(0, shape).unbind(axis),
            strict=True,
        ):
            state |= {f"{name}.weight": rows.flatten(0, 1), f"{name}.bias": shift.flatten(0, 1)}
        layer.load_state_dict(state)
        yield layer


def _by_hand(
    layer: MultiHeadAttention,
    x: torch.Tensor,
    mask: torch.Tensor | None,
    *,
    split: Callable = lambda x, num_heads: _split(x, num_heads)[0],
    scale: Callable = lambda d_model, d_k: d_k**-0.5,
    softmax_dim: int = -1,
    forbidden: float = -math.inf,
    keep: Callable = lambda weights: weights,
    merge: Callable = lambda heads: _merge(heads)[0],
    project: bool = True,
) -> tuple[torch.Tensor, torch.Tensor]:
    """What the layer computes, or what it would with one step done in another way."""
    projections = (layer.q_proj, layer.k_proj, layer.v_proj)
    query, key, value = (split(proj(x), layer.num_heads) for proj in projections)
    scores = query @ key.mT * scale(layer.d_model, layer.d_k)
    if mask is not None:
        scores = scores.masked_fill(~mask, forbidden)
    weights = keep(scores.softmax(dim=softmax_dim))
    merged = merge(weights @ value)
    return (layer.out_proj(merged) if project else merged), weights


MULTI_HEAD_MISTAKES = {
    "the scores are not scaled: divide them by the square root of d_k = d_model / num_heads": (
        partial(_by_hand, scale=lambda d_model, d_k: 1.0)
    ),
    "the scores are divided by the square root of d_model; a head's queries are only "
    "d_k = d_model / num_heads wide": partial(_by_hand, scale=lambda d_model, d_k: d_model**-0.5),
    "the scores are divided by d_k; divide them by its square root": partial(
        _by_hand, scale=lambda d_model, d_k: 1 / d_k
    ),
    "the heads are split by one reshape: a head gets whole words, not a part of each word": partial(
        _by_hand, split=lambda x, num_heads: x.reshape(len(x), num_heads, x.shape[1], -1)
    ),
    "the heads are merged by one reshape, without exchanging axes 1 and 2": partial(
        _by_hand, merge=lambda heads: heads.reshape(len(heads), heads.shape[2], -1)
    ),
    "the heads are split and merged by one reshape each: a head gets whole words": partial(
        _by_hand,
        split=lambda x, num_heads: x.reshape(len(x), num_heads, x.shape[1], -1),
        merge=lambda heads: heads.reshape(len(heads), heads.shape[2], -1),
    ),
    "heads attend to heads, at each position apart: exchange axes 1 and 2 before the scores": (
        lambda layer, x, mask: _by_hand(
            layer,
            x,
            None,
            split=lambda x, num_heads: x.unflatten(-1, (num_heads, -1)),
            merge=lambda heads: heads.flatten(2),
        )
    ),
    "the heads are not split: there is one, as wide as the whole vector": partial(
        _by_hand,
        split=lambda x, num_heads: x[:, None],
        scale=lambda d_model, d_k: d_model**-0.5,
        merge=lambda heads: heads[:, 0],
    ),
    "the last matrix, W^O, is not applied": partial(_by_hand, project=False),
    "softmax over the queries: each row, the last axis, has to sum to 1": partial(
        _by_hand, softmax_dim=-2
    ),
    "softmax over the heads: each row, the last axis, has to sum to 1": partial(
        _by_hand, softmax_dim=1
    ),
    "the mask has no effect: forbidden positions are still looked at": (
        lambda layer, x, mask: _by_hand(layer, x, None)
    ),
    "forbidden scores are set to 0, and the softmax makes exp(0) = 1 of them; fill in -torch.inf": (
        partial(_by_hand, forbidden=0.0)
    ),
    "forbidden weights are set to 0 after the softmax: the rest of a row no longer sums to 1; mask "
    "the scores": lambda layer, x, mask: _by_hand(
        layer, x, None, keep=lambda weights: weights if mask is None else weights * mask
    ),
    "the mask is always causal": lambda layer, x, mask: _by_hand(layer, x, causal_mask(x.shape[1])),
    "the mask is inverted: True means 'may attend'": (
        lambda layer, x, mask: _by_hand(layer, x, None if mask is None else ~mask)
    ),
    "the mask is transposed: its rows are queries, its columns keys": (
        lambda layer, x, mask: _by_hand(layer, x, None if mask is None else mask.mT)
    ),
}


FAULTS = (
    "none",
    "softmax over the queries",
    "no mask",
    "mask inverted",
    "mask after the softmax",
    "one row for all heads",
    "positions mixed",
)


@exercise
def name_the_fault(answer) -> str:
    """Check `name_the_fault(layer)`, which is given a layer to try and returns one of `FAULTS`.

    `layer(x, mask)` takes x (B, T, 12) and a boolean mask (T, T), True for "may attend", and
    returns output (B, T, 12) and weights (B, 3, T, T).
    """
    for fault in [*FAULTS, *reversed(FAULTS)]:
        layer = _layer_with(fault)
        said = call(answer, layer=layer)
        if said == fault:
            continue
        x, mask = torch.randn(1, 3, 12), causal_mask(3)
        weights = layer(x, mask)[1]
        seen = show({"mask": mask.int(), "weights[0, 0]": weights[0, 0].detach()})
        if said not in FAULTS:
            raise Mistake(
                f"it returned {said!r}, expected one of {', '.join(map(repr, FAULTS))}", seen
            )
        raise Mistake(f"a layer with the fault {fault!r} was called {said!r}", seen)
    return "two layers of each kind, with random weights"


def _layer_with(fault: str) -> Callable:
    """An attention layer with random weights, as a function that hides its code."""
    right = MultiHeadAttention(12, 3)

    def layer(x, mask):
        projections = (right.q_proj, right.k_proj, right.v_proj)
        query, key, value = (_split(proj(x), right.num_heads)[0] for proj in projections)
        if fault == "one row for all heads":
            query, key = (part[:, :1].expand_as(part) for part in (query, key))
        weights = _faulty_weights(query @ key.mT * right.d_k**-0.5, mask, fault)
        heads = weights @ value
        merged = heads.reshape(x.shape) if fault == "positions mixed" else _merge(heads)[0]
        return right.out_proj(merged), weights

    return layer


def _faulty_weights(scores, mask, fault: str) -> torch.Tensor:
    if fault == "mask after the softmax":
        return scores.softmax(dim=-1) * mask
    allowed = {"no mask": torch.ones_like(mask), "mask inverted": ~mask}.get(fault, mask)
    axis = -2 if fault == "softmax over the queries" else -1
    # No NaN where nobody may be looked at.
    return scores.masked_fill(~allowed, -math.inf).softmax(dim=axis).nan_to_num()
