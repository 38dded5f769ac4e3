"""Checks for the exercises of book/efficient_attention.ipynb."""

import math
from collections.abc import Callable

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from companion.checks.exercise import Mistake, call, compare, exercise, show
from companion.nn import scaled_dot_product_attention


@exercise
def merge(answer) -> str:
    """Check `merge(largest_1, total_1, blend_1, largest_2, total_2, blend_2)`: the three of both.

    largest and total are (T, 1), blend is (T, d_v).
    """
    by_hand = _parts([[4.0]], [[1.25]], [[22.5]], [[8.0]], [[1.25]], [[47.5]])
    back = _parts([[8.0]], [[1.25]], [[47.5]], [[4.0]], [[1.25]], [[22.5]])
    sizes = [(3, 1), (3, 1), (3, 2)] * 2
    random = dict(
        zip(PARTS, (torch.rand(size, dtype=torch.float64) for size in sizes), strict=True)
    )
    cases = [by_hand, back, random]
    compare(answer, cases, _merged, MERGE_MISTAKES)
    high = {name: x + 1000 if "largest" in name else x for name, x in by_hand.items()}
    low = {name: x - 1000 if "largest" in name else x for name, x in by_hand.items()}
    compare(answer, [high, low], _merged, LARGE_MERGE_MISTAKES)
    return "either part with the larger maximum, three queries at once, maxima near 1000 and -1000"


PARTS = ("largest_1", "total_1", "blend_1", "largest_2", "total_2", "blend_2")


def _parts(*numbers) -> dict:
    """Named tensors; the maxima are given as their exponentials."""
    tensors = (torch.tensor(x, dtype=torch.float64) for x in numbers)
    named = dict(zip(PARTS, tensors, strict=True))
    return {name: x.log() if "largest" in name else x for name, x in named.items()}


def _merging(factors: Callable, blend_factors: Callable | None = None) -> Callable:
    """A merge whose two parts are multiplied by factors(own maximum, common maximum)."""
    blend_factors = blend_factors or factors

    def merged(m1, l1, b1, m2, l2, b2):
        m = torch.maximum(m1, m2)
        total = l1 * factors(m1, m) + l2 * factors(m2, m)
        return m, total, b1 * blend_factors(m1, m) + b2 * blend_factors(m2, m)

    return merged


def _relative(own, common):
    return (own - common).exp()


def _one(own, common):
    return torch.ones_like(own)


_merged = _merging(_relative)


def _first_only(m1, l1, b1, m2, l2, b2):
    m = torch.maximum(m1, m2)
    return m, l1 * _relative(m1, m) + l2, b1 * _relative(m1, m) + b2


def _divided(*parts):
    largest, total, blend = _merged(*parts)
    return largest, total, blend / total


def _absolute(m1, l1, b1, m2, l2, b2):
    m = torch.maximum(m1, m2)
    total, blend = l1 * m1.exp() + l2 * m2.exp(), b1 * m1.exp() + b2 * m2.exp()
    return m, total / m.exp(), blend / m.exp()


MERGE_MISTAKES = {
    "nothing is rescaled: each part is relative to its own maximum; bring both to the common one": (
        _merging(_one)
    ),
    "only the first part is rescaled; where its maximum is the larger one, the second has to be": (
        _first_only
    ),
    "the factor is turned round: it is exp(own maximum - common maximum), at most 1": _merging(
        lambda own, common: (common - own).exp()
    ),
    "the sums are rescaled, the blends are not": _merging(_relative, _one),
    "the blends are rescaled, the sums are not": _merging(_one, _relative),
    "the blend is divided by the sum already; parts that may be merged again stay undivided": (
        _divided
    ),
}
LARGE_MERGE_MISTAKES = {
    "exp of a maximum itself overflows or vanishes: take exp of differences of maxima only": (
        _absolute
    ),
}


@exercise
def tiled_row(answer) -> str:
    """Check `tiled_row(query, key, value, block)`: the output of one query, a block at a time.

    query is (d_k,), key (S, d_k), value (S, d_v).
    """
    query, key = torch.tensor([2.0, 0.0]), torch.tensor([[1.0, 1], [0, 2], [2, 0], [-1, 1]])
    value = torch.tensor([[10.0], [20], [30], [40]])
    random = [torch.randn(size, dtype=torch.float64) for size in ((3,), (7, 3), (7, 2))]
    cases = [
        _row(query, key, value, 2),
        _row(query, key, value, 1),
        _row(*random, 3),  # the last block is shorter
    ]
    compare(answer, cases, _row_by_torch, ROW_MISTAKES)
    compare(answer, [_row(query, key[:1], value[:1], 2)], _row_by_torch, {})
    compare(answer, [_row(*random, 10)], _row_by_torch, {})
    compare(answer, [_row(1000 * query, key, value, 2)], _row_by_torch, HIGH_SCORES_MISTAKES)
    low = torch.tensor([[-1000.0, 0], [-1001, 0], [-1001, 0]])
    compare(answer, [_row(query, low, value[:3], 2)], _row_by_torch, LOW_SCORES_MISTAKES)
    _check_tiles(answer)
    return "blocks of 1, 2, 3 and 10, one key, large and very negative scores, what is in memory"


def _row(query, key, value, block: int) -> dict:
    return {"query": query, "key": key, "value": value, "block": block}


def _row_by_torch(query, key, value, block) -> tuple[torch.Tensor]:
    return (scaled_dot_product_attention(query[None], key, value)[0][0],)


class _Sizes(TorchDispatchMode):
    """Notes the sizes of what operations inside give."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[int] = set()

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        result = operation(*args, **(kwargs or {}))
        self.seen |= {x.numel() for x in tree_leaves(result) if isinstance(x, torch.Tensor)}
        return result


def _check_tiles(answer) -> None:
    case = _row(torch.randn(3), torch.randn(31, 3), torch.randn(31, 2), 4)
    with _Sizes() as sizes:
        call(answer, **case)
    if 31 in sizes.seen:
        raise Mistake(
            "the scores of all keys are in memory at once; make those of one block, use them, "
            "and let the next block's take their place",
            show(case),
        )


def _row_variant(
    *,
    scaled=True,
    start=-math.inf,
    running=True,
    rescale_total=True,
    rescale_blend=True,
    whole_blocks=False,
    subtract=True,
    divide=True,
) -> Callable:
    """The loop of the chapter for one query, with one thing wrong."""

    def variant(query, key, value, block):
        largest = torch.tensor(start, dtype=key.dtype)
        total, blend = torch.zeros((), dtype=key.dtype), torch.zeros_like(value[0])
        stop = len(key) // block * block if whole_blocks else len(key)
        for k, v in zip(key[:stop].split(block), value[:stop].split(block), strict=True):
            scores = k @ query / (len(query) ** 0.5 if scaled else 1.0)
            previous = largest
            largest = torch.maximum(largest, scores.max()) if running else scores.max()
            weights = (scores - largest).exp() if subtract else scores.exp()
            rescale = (previous - largest).exp() if subtract and running else torch.tensor(1.0)
            total = total * (rescale if rescale_total else 1) + weights.sum()
            blend = blend * (rescale if rescale_blend else 1) + weights @ v
        return (blend / total if divide else blend,)

    return variant


def _of_blocks(together: Callable) -> Callable:
    """Each block's own output, and what is made of all of them."""

    def outputs(query, key, value, block):
        blocks = zip(key.split(block), value.split(block), strict=True)
        found = [_row_by_torch(query, k, v, block)[0] for k, v in blocks]
        return (together(torch.stack(found)),)

    return outputs


ROW_MISTAKES = {
    "the scores are not scaled: divide them by the square root of d_k": _row_variant(scaled=False),
    "each block subtracts its own maximum, and the sums are added as if it were a common one": (
        _row_variant(running=False)
    ),
    "the sum is rescaled when the maximum rises, the blend is not": _row_variant(
        rescale_blend=False
    ),
    "the blend is rescaled when the maximum rises, the sum is not": _row_variant(
        rescale_total=False
    ),
    "each block is divided by its own sum, and the results are averaged: blocks do not weigh the "
    "same": _of_blocks(lambda outputs: outputs.mean(0)),
    "each block is divided by its own sum, and the results are added: divide once, at the end": (
        _of_blocks(lambda outputs: outputs.sum(0))
    ),
    "the last, shorter block is left out": _row_variant(whole_blocks=True),
    "the blend is not divided by the sum at the end": _row_variant(divide=False),
}
HIGH_SCORES_MISTAKES = {
    "exp overflows where scores are large: subtract the largest score so far": _row_variant(
        subtract=False
    ),
}
LOW_SCORES_MISTAKES = {
    "the maximum starts at 0: where all scores are far below it every exponential is 0; start at "
    "-infinity": _row_variant(start=0.0),
}


@exercise
def grouped_attention(answer) -> str:
    """Check `grouped_attention(query, key, value)`: the output (B, H, T, d_v).

    query is (B, H, T, d_k), key (B, G, S, d_k), value (B, G, S, d_v) with G a divisor of H.
    """
    cases = [
        _heads(B=1, H=4, G=2, T=1, S=2, d_k=1, d_v=1),
        _heads(B=2, H=6, G=2, T=3, S=5, d_k=7, d_v=4),
        _heads(B=2, H=6, G=3, T=3, S=5, d_k=7, d_v=4),
    ]
    compare(answer, cases, _grouped(_consecutive), GROUP_MISTAKES)
    for G in (1, 4):  # one head for all, and one for each
        case = _heads(B=2, H=4, G=G, T=3, S=5, d_k=7, d_v=2)
        compare(answer, [case], _grouped(_consecutive), {})
    return "two, three, one and as many groups as heads, T different from S, d_k from d_v"


def _heads(*, B, H, G, T, S, d_k, d_v) -> dict:
    shapes = {"query": (B, H, T, d_k), "key": (B, G, S, d_k), "value": (B, G, S, d_v)}
    return {name: torch.randn(shape, dtype=torch.float64) for name, shape in shapes.items()}


def _consecutive(x, H):
    return x.repeat_interleave(H // x.shape[1], dim=1)


def _grouped(share: Callable) -> Callable:
    def attend(query, key, value):
        key, value = (share(x, query.shape[1]) for x in (key, value))
        return (scaled_dot_product_attention(query, key, value)[0],)

    return attend


def _scores_and_values(query, key, value):
    key, value = (_consecutive(x, query.shape[1]) for x in (key, value))
    return query @ key.transpose(-2, -1), value


def _unscaled(query, key, value):
    scores, value = _scores_and_values(query, key, value)
    return (scores.softmax(-1) @ value,)


def _softmax_over_queries(query, key, value):
    scores, value = _scores_and_values(query, key, value)
    return ((scores / query.shape[-1] ** 0.5).softmax(-2) @ value,)


def _one_output_per_group(query, key, value):
    query = query.unflatten(1, (key.shape[1], -1)).mean(2)
    return (scaled_dot_product_attention(query, key, value)[0],)


GROUP_MISTAKES = {
    "query head h reads key head h mod G; consecutive heads share one, so it is h // (H / G)": (
        _grouped(lambda x, H: x.repeat(1, H // x.shape[1], 1, 1))
    ),
    "all heads read the first key head": _grouped(lambda x, H: x[:, :1].expand(-1, H, -1, -1)),
    "the key heads are averaged before the heads read them": _grouped(
        lambda x, H: x.mean(1, keepdim=True).expand(-1, H, -1, -1)
    ),
    "the query heads of a group are averaged: they share keys and values, not the question": (
        _one_output_per_group
    ),
    "the scores are not scaled: divide them by the square root of d_k": _unscaled,
    "the softmax runs over the queries; a query's weights over the keys sum to 1: dim=-1": (
        _softmax_over_queries
    ),
}
