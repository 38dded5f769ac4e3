"""Checks for the exercises of book/efficient_attention.ipynb."""

import math
from collections.abc import Callable

import numpy as np
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
def backward_row(answer) -> str:
    """Check `backward_row(query, key, value, output, log_sum_exp, grad_output, block)`.

    It returns the gradients of query (d_k,), key (S, d_k) and value (S, d_v); output and
    grad_output are (d_v,), log_sum_exp is one number.
    """
    query, key = torch.tensor([2.0, 0.0]), torch.tensor([[1.0, 1], [0, 2], [2, 0], [-1, 1]])
    value = torch.tensor([[10.0], [20], [30], [40]])
    random = [torch.randn(size, dtype=torch.float64) for size in ((3,), (7, 3), (7, 2))]
    upstream = torch.randn(2, dtype=torch.float64)
    cases = [
        _row(query, key, value, torch.ones(1), 4),
        _row(query, key, value, torch.ones(1), 2),
        _row(*random, upstream, 3),  # the last block is shorter
    ]
    compare(answer, cases, _row_by_autograd, ROW_MISTAKES)
    compare(answer, [_row(query, key[:1], value[:1], torch.ones(1), 2)], _row_by_autograd, {})
    large = [x.double() for x in (1000 * query, key, value, torch.ones(1))]
    compare(answer, [_row(*large, 2)], _row_by_autograd, HIGH_SCORES_MISTAKES)
    _check_tiles(answer)
    return "one block and several, a shorter last one, one key, large scores, what is in memory"


def _row(query, key, value, grad_output, block: int) -> dict:
    """The inputs of a backward pass: what the forward pass was given and has kept."""
    scores = key @ query / math.sqrt(len(query))
    return {
        "query": query,
        "key": key,
        "value": value,
        "output": scores.softmax(0) @ value,
        "log_sum_exp": scores.logsumexp(0),
        "grad_output": grad_output,
        "block": block,
    }


def _row_by_autograd(query, key, value, output, log_sum_exp, grad_output, block):
    inputs = [x.detach().requires_grad_() for x in (query, key, value)]
    found, _ = scaled_dot_product_attention(inputs[0][None], *inputs[1:])
    return torch.autograd.grad(found[0], inputs, grad_output)


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
    case = _row(torch.randn(3), torch.randn(31, 3), torch.randn(31, 2), torch.randn(2), 4)
    with _Sizes() as sizes:
        call(answer, **case)
    if 31 in sizes.seen:
        raise Mistake(
            "the weights of all keys are in memory at once; make those of one block, use them, "
            "and let the next block's take their place",
            show(case),
        )


def _row_variant(
    *,
    scaled_scores=True,
    scaled_gradients=True,
    subtract_log=True,
    average="row",
    weigh=True,
    of_value="upstream",
    whole_blocks=False,
    last_only=False,
) -> Callable:
    """The backward pass of one query, block by block, with one thing wrong."""

    def variant(query, key, value, output, log_sum_exp, grad_output, block):
        root = math.sqrt(len(query))
        grad_query, grad_key, grad_value = (torch.zeros_like(x) for x in (query, key, value))
        stop = len(key) // block * block if whole_blocks else len(key)
        for start in range(0, stop, block):
            rows = slice(start, min(start + block, stop))
            scores = key[rows] @ query / (root if scaled_scores else 1.0)
            weights = (scores - log_sum_exp).exp() if subtract_log else scores.softmax(0)
            grad_weights = value[rows] @ grad_output
            mean = {"row": output @ grad_output, "block": weights @ grad_weights, "no": 0.0}
            grad_scores = (weights if weigh else 1.0) * (grad_weights - mean[average])
            grad_scores = grad_scores / (root if scaled_gradients else 1.0)
            collected = {"upstream": grad_output, "output": output}[of_value]
            grad_value[rows] = weights[:, None] * collected
            grad_key[rows] = grad_scores[:, None] * query
            grad_query = (0 if last_only else grad_query) + grad_scores @ key[rows]
        return grad_query, grad_key, grad_value

    return variant


ROW_MISTAKES = {
    "the weights are not those of the forward pass: scale the scores before log_sum_exp is "
    "subtracted": _row_variant(scaled_scores=False),
    "the gradients of query and key lack a factor: scores are divided by the square root of d_k, "
    "so their gradients are, too": _row_variant(scaled_gradients=False),
    "the weights are a softmax over one block; over the row they are exp(score - log_sum_exp)": (
        _row_variant(subtract_log=False)
    ),
    "nothing is subtracted from the gradients of the weights: all weights of a row share 1, so "
    "the row's average counts as 0": _row_variant(average="no"),
    "the average is taken over one block; over the row it is grad_output · output": _row_variant(
        average="block"
    ),
    "the gradients of the scores lack the weights: a key that got no weight moves nothing": (
        _row_variant(weigh=False)
    ),
    "a value collects the output; it should collect grad_output": _row_variant(of_value="output"),
    "the last, shorter block is left out": _row_variant(whole_blocks=True),
    "the gradient of the query is that of the last block only: add up all blocks": _row_variant(
        last_only=True
    ),
}


def _exponentials(query, key, value, output, log_sum_exp, grad_output, block):
    weights = (key @ query / math.sqrt(len(query))).exp() / log_sum_exp.exp()
    grad_scores = weights * (value @ grad_output - output @ grad_output) / math.sqrt(len(query))
    return grad_scores @ key, grad_scores[:, None] * query, weights[:, None] * grad_output


HIGH_SCORES_MISTAKES = {
    "exp overflows where scores are large: subtract log_sum_exp before exp is taken": _exponentials,
}


@exercise
def window_mask(answer) -> str:
    """Check `window_mask(T, S, window)`: boolean (T, S), True where a query may attend."""
    cases = [
        {"T": 4, "S": 4, "window": 2},
        {"T": 5, "S": 5, "window": 3},
        {"T": 5, "S": 5, "window": 1},
        {"T": 4, "S": 4, "window": 9},
    ]
    compare(answer, cases, _window(), WINDOW_MISTAKES, numbers=np.bool_)
    cached = [{"T": 1, "S": 5, "window": 2}, {"T": 2, "S": 6, "window": 3}]
    compare(answer, cached, _window(), CACHED_WINDOW_MISTAKES, numbers=np.bool_)
    return "windows of 1, 2, 3 and more than the text, and new queries behind cached keys"


def _window(*, past=0, future=0, own=True, ahead=True, inverted=False) -> Callable:
    """The mask of a window, with a limit moved or a part of it wrong."""

    def mask(T, S, window):
        back = torch.arange(T)[:, None] + (S - T if ahead else 0) - torch.arange(S)
        seen = (back < window + past) & (back >= (-window + 1 if future else 0))
        seen = seen if own else seen & (back != 0)
        return (~seen if inverted else seen,)

    return mask


def _only_old(T, S, window):
    return (~_window()(T, S, window)[0] & _causal(T, S),)


def _causal(T, S):
    return torch.arange(S) <= torch.arange(T)[:, None] + S - T


WINDOW_MISTAKES = {
    "it is turned round: True means that a query may attend": _window(inverted=True),
    "the future can be seen: this window looks back only": _window(future=1),
    "a query sees one key too many: the window counts the query's own": _window(past=1),
    "a query sees one key too few: the window counts the query's own, and window - 1 before it": (
        _window(past=-1)
    ),
    "a query does not see its own key": _window(own=False),
    "everything up to the query can be seen: the window has no end": lambda T, S, window: (
        _causal(T, S),
    ),
    "what should be forgotten is seen, and the window is not": _only_old,
}
CACHED_WINDOW_MISTAKES = {
    "the first query is aligned with the first key; with a cache, the last query belongs to the "
    "last key": _window(ahead=False),
}


@exercise
def window_cache(answer) -> str:
    """Check the class `WindowCache(window)` with `append(key, value) -> (keys, values)`.

    key is (d_k,), value (d_v,); what comes back are the last `window` of each, in any order.
    """
    stream = _stream(8)
    for held in call(_filled(answer), window=3, keys=stream["key"], values=stream["value"]):
        _require_pair(held)
    _check_apart(answer)
    for window in (3, 1, 20):
        case = {"window": window, **_stream(8)}
        compare(_read_with(answer), [case], _windowed, CACHE_MISTAKES)
    _check_bounded(answer)
    return "windows of 1, 3 and more than the text, two caches at once, what stays in memory"


def _stream(n: int) -> dict:
    sizes = {"query": (n, 3), "key": (n, 3), "value": (n, 2)}
    return {name: torch.randn(size, dtype=torch.float64) for name, size in sizes.items()}


def _attended(query, keys, values) -> torch.Tensor:
    return scaled_dot_product_attention(query[None], keys, values)[0][0]


def _read_with(make: Callable) -> Callable:
    """The outputs of attention for a text that is read token by token through a cache."""

    def read(window, query, key, value):
        cache, outputs = make(window), []
        for q, k, v in zip(query, key, value, strict=True):
            outputs.append(_attended(q, *cache.append(k.clone(), v.clone())))
        return torch.stack(outputs)

    return read


def _filled(make: Callable) -> Callable:
    """What a cache returns at every token."""

    def fill(window, keys, values):
        cache = make(window)
        return [cache.append(k.clone(), v.clone()) for k, v in zip(keys, values, strict=True)]

    return fill


def _require_pair(held) -> None:
    """Require keys (m, d_k) and as many values (m, d_v)."""
    if held is None:
        raise Mistake("append returned None; is the `return` missing?", "after the first token")
    pair = isinstance(held, tuple | list) and len(held) == 2
    if not pair or not all(isinstance(x, torch.Tensor) and x.dim() == 2 for x in held):
        raise Mistake(
            "append should return two tensors, keys (m, d_k) and values (m, d_v)",
            f"it returned {type(held).__name__}",
        )
    keys, values = held
    if len(keys) != len(values):
        raise Mistake(
            "keys and values no longer belong together: forget both, or neither",
            show({"keys": keys, "values": values}),
        )


def _windowed(window, query, key, value, *, first=None) -> tuple[torch.Tensor]:
    """Attention to the last `window` keys, for every query."""
    outputs = []
    for t in range(len(query)):
        seen = slice(max(0, t + 1 - window), t + 1) if first is None else first(t, window)
        outputs.append(_attended(query[t], key[seen], value[seen]))
    return (torch.stack(outputs),)


def _forgetting(seen: Callable) -> Callable:
    def read(window, query, key, value):
        return _windowed(window, query, key, value, first=seen)

    return read


CACHE_MISTAKES = {
    "nothing is ever forgotten: with window keys held, the oldest makes room for the newest": (
        _forgetting(lambda t, window: slice(0, t + 1))
    ),
    "the new token cannot see itself: append first, then return what is held": _forgetting(
        lambda t, window: slice(max(0, t - window), t)
    ),
    "one token too many is held": _forgetting(lambda t, window: slice(max(0, t - window), t + 1)),
    "one token too few is held: the new one counts": _forgetting(
        lambda t, window: slice(max(0, t + 2 - window), t + 1)
    ),
    "once full, it takes nothing in: it is the oldest that has to go": _forgetting(
        lambda t, window: slice(0, min(t + 1, window))
    ),
    "once full, everything is thrown away; only the oldest has to go": _forgetting(
        lambda t, window: slice(t // window * window, t + 1)
    ),
}


def _check_apart(answer: Callable) -> None:
    """Two caches filled in turn: neither may hold what the other was given."""

    def fill(window, first, second):
        caches = answer(window), answer(window)
        for rows in zip(first, second, strict=True):
            held = [c.append(row.clone(), row.clone()) for c, row in zip(caches, rows, strict=True)]
        return [keys for keys, _ in held]

    given = {"first": _stream(4)["key"], "second": _stream(4)["key"]}
    for keys, own in zip(call(fill, window=2, **given), given.values(), strict=True):
        if not all((row == own).all(-1).any() for row in keys):
            raise Mistake(
                "two caches share what they hold: make the store in __init__, for each its own",
                show({"given": own, "held": keys}),
            )


def _check_bounded(answer: Callable) -> None:
    """However long the text, what the cache keeps is bounded."""

    def fill(window):
        cache, kept = answer(window), []
        for n in (16, 256):
            for row in torch.randn(n, 3):
                cache.append(row.clone(), row.clone())
            stores = {x.untyped_storage() for x in tree_leaves(vars(cache)) if torch.is_tensor(x)}
            kept.append(sum({store.data_ptr(): store.nbytes() for store in stores}.values()))
        return kept

    early, late = call(fill, window=4)
    if late > 2 * early:
        raise Mistake(
            "what is returned is right, but the cache still holds every token: memory grows with "
            "the text",
            f"bytes held after 16 tokens: {early}, after 272: {late}",
        )


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
