"""Checks for the exercises of book/efficient_attention.ipynb."""

from collections.abc import Callable

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from book.checking.exercise import Mistake, call, climb, exercise
from book.checking.rungs import edited, ladder


@exercise
def merge(answer) -> str:
    """Check `merge(largest_1, total_1, blend_1, largest_2, total_2, blend_2)`: the three of both.

    largest and total are (T, 1), blend is (T, d_v).
    """
    climb(MERGE, answer)
    return "equal maxima, either one the larger, several queries, maxima near 1000 and -1000"


def _merge(largest_1, total_1, blend_1, largest_2, total_2, blend_2):
    m1, m2 = largest_1, largest_2
    m = torch.maximum(m1, m2)
    a1, a2 = (m1 - m).exp(), (m2 - m).exp()
    b1, b2 = a1, a2
    total = total_1 * a1 + total_2 * a2
    blend = blend_1 * b1 + blend_2 * b2
    return m, total, blend


@ladder(_merge)
def MERGE(merge):
    """equal maxima: nothing has to be rescaled, sums and blends add up; the results are the
    largest, the sum and the blend, in this order"""
    m = torch.tensor([[2.0]])
    yield merge(m, m / 2, 3 * m, m, 2 * m, 5 * m)

    """the second maximum is larger by log 2: what belongs to the first part counts half"""
    one = torch.tensor([[1.0]])
    yield merge(0 * one, 6 * one, 10 * one, (2 * one).log(), one, 3 * one)

    """the first maximum is larger by log 2: now it is the second part that counts half"""
    one = torch.tensor([[1.0]])
    yield merge((2 * one).log(), 6 * one, 10 * one, 0 * one, one, 3 * one)

    """several queries: each has a maximum of its own, and once the first part has the larger,
    once the second"""
    m, totals, blends = 2 * torch.randn(2, 4, 1), 1 + torch.rand(2, 4, 1), torch.randn(2, 4, 2)
    yield merge(m[0], totals[0], blends[0], m[1], totals[1], blends[1])

    """maxima near 1000 and -1000: take exp of differences of maxima only, never of a maximum
    itself"""
    one = torch.tensor([[1.0]])
    yield tuple(
        merge(m * one, 6 * one, 10 * one, (m + 1) * one, one, 3 * one) for m in (1000, -1000)
    )

    """a part that has seen no keys: its maximum is minus infinity, its sum and its blend are
    0"""
    one = torch.tensor([[1.0]])
    yield merge(-torch.inf * one, 0 * one, 0 * one, 3 * one, one, 3 * one)


MERGE.mistakes |= {
    "the blend is divided by the sum already; parts that may be merged again stay "
    "undivided": edited(_merge, "return m, total, blend", "return m, total, blend / total"),
    "nothing is rescaled: each part is relative to its own maximum; bring both to the "
    "common one": edited(_merge, "(m1 - m).exp(), (m2 - m).exp()", "1, 1"),
    "the factor is turned round: it is exp(own maximum - common maximum), at most 1": edited(
        _merge, "(m1 - m).exp(), (m2 - m).exp()", "(m - m1).exp(), (m - m2).exp()"
    ),
    "the sums are rescaled, the blends are not": edited(_merge, "b1, b2 = a1, a2", "b1, b2 = 1, 1"),
    "the blends are rescaled, the sums are not": edited(_merge, "a1 + total_2 * a2", "1 + total_2"),
    "only the first part is rescaled; where its maximum is the larger one, the second "
    "has to be": edited(_merge, "(m2 - m).exp()", "1"),
}


@exercise
def backward_row(answer) -> str:
    """Check `backward_row(query, key, value, output, log_sum_exp, grad_output, block)`.

    It returns the gradients of query (d_k,), key (S, d_k) and value (S, d_v); output and
    grad_output are (d_v,), log_sum_exp is one number.
    """
    climb(BACKWARD_ROW, answer)
    case = read_row(31, 3, 2)
    with _Sizes() as sizes:
        call(answer, **dict(zip("qkvolg", case, strict=True)), block=4)
    if 31 in sizes.seen:
        raise Mistake(
            "the weights of all keys are in memory at once, or as many numbers; make those of one "
            "block, use them, and let the next block's take their place",
            "from book.efficient_attention.checks import read_row\n"
            "backward_row(*read_row(31, 3, 2), 4)  # some tensor inside has 31 numbers",
        )
    return "one key, one block and several, a shorter last one, large scores, what is in memory"


def read_row(S: int, d_k: int, d_v: int, *, factor: float = 1.0) -> list[torch.Tensor]:
    """What the forward pass of a random row was given and has kept, and a gradient."""
    query, key, value = factor * torch.randn(d_k), torch.randn(S, d_k), torch.randn(S, d_v)
    scores = key @ query / d_k**0.5
    output = scores.softmax(0) @ value
    return [query, key, value, output, scores.logsumexp(0), torch.randn(d_v)]


def _backward_row(query, key, value, output, log_sum_exp, grad_output, block):
    root, average = len(query) ** 0.5, output @ grad_output
    grad_query, grad_key, grad_value = (torch.zeros_like(x) for x in (query, key, value))
    S = len(key)
    for start in range(0, S, block):
        rows = slice(start, min(start + block, S))
        scores = key[rows] @ query / root
        weights = (scores - log_sum_exp).exp()
        grad_weights = value[rows] @ grad_output
        grad_scores = weights * (grad_weights - average) / root
        grad_value[rows] = weights[:, None] * grad_output
        grad_key[rows] = grad_scores[:, None] * query
        grad_query += grad_scores @ key[rows]
    return grad_query, grad_key, grad_value


class _Sizes(TorchDispatchMode):
    """Notes the sizes of what operations inside give."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[int] = set()

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        result = operation(*args, **(kwargs or {}))
        self.seen |= {x.numel() for x in tree_leaves(result) if isinstance(x, torch.Tensor)}
        return result


@ladder(_backward_row)
def BACKWARD_ROW(backward_row):
    """one key: its weight, exp(score - log_sum_exp), is 1 whatever the score, so nothing can
    move it: query and key get zeros, and its value gets grad_output times the weight itself,
    not times its slope"""
    query, key, value, output, log_sum_exp, grad_output = read_row(1, 1, 3)
    yield backward_row(query, key, value, output, log_sum_exp, grad_output, 1)

    """one block with d_k = 1, where no scale is needed: a value gets grad_output times its
    weight, and the weight is exp(score - log_sum_exp), which the forward pass has kept for the
    whole row"""
    query, key, value, output, log_sum_exp, grad_output = read_row(3, 1, 2)
    yield backward_row(query, key, value, output, log_sum_exp, grad_output, 3)[2]

    """one block with d_k = 1: the gradient of a score is its weight times what its value is
    better than the average"""
    query, key, value, output, log_sum_exp, grad_output = read_row(3, 1, 2)
    yield backward_row(query, key, value, output, log_sum_exp, grad_output, 3)

    """d_k = 4: scores are divided by the square root of d_k, on the way there and on the way
    back"""
    query, key, value, output, log_sum_exp, grad_output = read_row(3, 4, 2)
    yield backward_row(query, key, value, output, log_sum_exp, grad_output, 3)

    """several blocks: the weights are those of the whole row, of which log_sum_exp knows, and
    what each block adds to the query's gradient is added up, not averaged"""
    query, key, value, output, log_sum_exp, grad_output = read_row(6, 4, 2)
    yield backward_row(query, key, value, output, log_sum_exp, grad_output, 2)

    """seven keys in blocks of three: the last block is shorter"""
    query, key, value, output, log_sum_exp, grad_output = read_row(7, 4, 2)
    yield backward_row(query, key, value, output, log_sum_exp, grad_output, 3)

    """a block that is larger than the row"""
    query, key, value, output, log_sum_exp, grad_output = read_row(3, 2, 5)
    yield backward_row(query, key, value, output, log_sum_exp, grad_output, 8)

    """large scores: exp overflows unless log_sum_exp is subtracted first"""
    query, key, value, output, log_sum_exp, grad_output = read_row(4, 2, 2, factor=1000.0)
    yield backward_row(query, key, value, output, log_sum_exp, grad_output, 2)


BACKWARD_ROW.mistakes |= {
    "nothing is subtracted from the gradients of the weights: all weights of a row "
    "share 1, so the row's average counts as 0": edited(
        _backward_row, "(grad_weights - average)", "grad_weights"
    ),
    "a value collects the output; it should collect grad_output": edited(
        _backward_row, "weights[:, None] * grad_output", "weights[:, None] * output"
    ),
    "the gradients of the scores lack the weights: a key that got no weight moves nothing": edited(
        _backward_row, "weights * (grad", "(grad"
    ),
    "the weights are not those of the forward pass: scale the scores before "
    "log_sum_exp is subtracted": edited(_backward_row, "query / root", "query"),
    "the gradients of query and key lack a factor: scores are divided by the square "
    "root of d_k, so their gradients are, too": edited(
        _backward_row, "average) / root", "average)"
    ),
    "the weights are a softmax over one block; over the row they are exp(score - "
    "log_sum_exp)": edited(_backward_row, "(scores - log_sum_exp).exp()", "scores.softmax(0)"),
    "the average is taken over one block; over the row it is grad_output · output": edited(
        _backward_row, "- average", "- weights @ grad_weights"
    ),
    "the gradient of the query is that of the last block only: add up all blocks": edited(
        _backward_row, "grad_query +=", "grad_query ="
    ),
    "the last, shorter block is left out": edited(
        _backward_row, "S = len(key)", "S = len(key) // block * block"
    ),
}


@exercise
def window_mask(answer) -> str:
    """Check `window_mask(T, S, window)`: boolean (T, S), True where a query may attend."""
    climb(WINDOW_MASK, answer)
    return "windows of 1, 2, 3 and more than the text, and new queries behind cached keys"


def _window_mask(T, S, window):
    query, key = torch.arange(S - T, S)[:, None], torch.arange(S)
    back = query - key
    return (back >= 0) & (back < window)


@ladder(_window_mask)
def WINDOW_MASK(window_mask):
    """a window larger than the text: the causal mask, a table of True and False in which row i,
    a query, may look at keys 0 to i, itself and what came before"""
    yield window_mask(4, 4, 9)

    """a window of 1: every query sees its own key and no other"""
    yield window_mask(4, 4, 1)

    """windows of 2 and 3: the window goes along with the query"""
    yield window_mask(4, 4, 2), window_mask(5, 5, 3)

    """it is made of True and False"""
    yield np.asarray(window_mask(3, 3, 2)).dtype == bool

    """one new query behind four cached keys: the last query is at the place of the last key"""
    yield window_mask(1, 5, 2)

    """two new queries behind four cached keys"""
    yield window_mask(2, 6, 3)


WINDOW_MASK.mistakes |= {
    "it is turned round: True means that a query may attend": edited(
        _window_mask,
        "return (back >= 0) & (back < window)",
        "return ~((back >= 0) & (back < window))",
    ),
    "the future can be seen: this window looks back only": edited(
        _window_mask, "(back >= 0)", "(back > -window)"
    ),
    "a query does not see its own key": edited(_window_mask, "back >= 0", "back > 0"),
    "everything up to the query can be seen: the window has no end": edited(
        _window_mask, "(back < window)", "(back < S)"
    ),
    "a query sees one key too many: the window counts the query's own": edited(
        _window_mask, "back < window", "back <= window"
    ),
    "what should be forgotten is seen, and the window is not": edited(
        _window_mask, "back < window", "back >= window"
    ),
    "it is made of numbers; a mask is boolean": edited(
        _window_mask,
        "return (back >= 0) & (back < window)",
        "return ((back >= 0) & (back < window)).float()",
    ),
    "the first query is aligned with the first key; with a cache, the last query "
    "belongs to the last key": edited(_window_mask, "torch.arange(S - T, S)", "torch.arange(T)"),
}


@exercise
def window_cache(answer) -> str:
    """Check the class `WindowCache(window)` with `append(key, value) -> (keys, values)`.

    key is (d_k,), value (d_v,); what comes back are the last `window` of each, in any order.
    """
    climb(WINDOW_CACHE, answer)
    _check_bounded(answer)
    return "windows of 1, 3 and more than the text, two caches at once, what stays in memory"


class _WindowCache:
    def __init__(self, window):
        self.window, self.keys, self.values = window, [], []

    def append(self, key, value):
        self.keys.append(key)
        self.values.append(value)
        while len(self.keys) > self.window:
            del self.keys[0], self.values[0]
        keys, values = torch.stack(self.keys), torch.stack(self.values)
        return keys, values


def in_order(held) -> tuple[torch.Tensor, torch.Tensor]:
    """Keys (m, d_k) and values (m, d_v), sorted by the keys' first entries: any order is right."""
    keys, values = held
    rows = min(len(keys), len(values))
    order = keys[:rows, 0].sort(stable=True).indices
    return torch.cat([keys[:rows][order], keys[rows:]]), torch.cat(
        [values[:rows][order], values[rows:]]
    )


@ladder(_WindowCache)
def WINDOW_CACHE(WindowCache):
    """the first token of a new cache: its key and its value come back, (1, d_k) and (1, d_v),
    and nothing that another cache was given"""
    one, other = WindowCache(2), WindowCache(2)
    _ = one.append(torch.tensor([7.0, 8.0]), torch.tensor([9.0]))
    yield other.append(torch.tensor([1.0, 2.0]), torch.tensor([3.0]))

    """two tokens, room for three: row i of the keys belongs to row i of the values, whatever
    their order"""
    cache = WindowCache(3)
    held = [cache.append(torch.tensor([t]), torch.tensor([10 * t])) for t in (1.0, 2.0)]
    yield in_order(held[-1])

    """as many tokens as the window has room for: all of them come back"""
    cache = WindowCache(3)
    held = [cache.append(torch.tensor([t]), torch.tensor([10 * t])) for t in (1.0, 2.0, 3.0)]
    yield in_order(held[-1])

    """one token more than there is room for: the oldest goes, it alone"""
    cache = WindowCache(3)
    held = [cache.append(torch.tensor([t]), torch.tensor([10 * t])) for t in torch.arange(1.0, 5.0)]
    yield in_order(held[-1])

    """two tokens more: the oldest key and the oldest value make room, and each key still has
    its own value"""
    cache = WindowCache(3)
    held = [cache.append(torch.tensor([t]), torch.tensor([10 * t])) for t in torch.arange(1.0, 6.0)]
    yield in_order(held[-1])

    """many tokens: after ten of them, the last three are held"""
    cache = WindowCache(3)
    held = [cache.append(torch.tensor([t]), torch.tensor([10 * t])) for t in torch.arange(10.0)]
    yield in_order(held[-1])

    """a window of 1 holds the newest token alone"""
    cache = WindowCache(1)
    held = [cache.append(torch.tensor([t]), torch.tensor([10 * t])) for t in (1.0, 2.0, 3.0)]
    yield in_order(held[-1])

    """keys and values of several entries, in float64: the cache keeps what it is given"""
    cache, keys, values = WindowCache(3), torch.randn(5, 4).double(), torch.randn(5, 2).double()
    held = [in_order(cache.append(key, value)) for key, value in zip(keys, values, strict=True)]
    yield held[1], held[-1], held[-1][0].dtype


WINDOW_CACHE.mistakes |= {
    "the new token cannot see itself: append first, then return what is held": edited(
        _WindowCache, "return keys, values", "return keys[:-1], values[:-1]"
    ),
    "one token too few is held: the new one counts": edited(
        _WindowCache, "> self.window", "> max(1, self.window - 1)"
    ),
    "nothing is ever forgotten: with window keys held, the oldest makes room for the "
    "newest": edited(_WindowCache, "> self.window", "> 1000"),
    "one token too many is held": edited(_WindowCache, "> self.window", "> self.window + 1"),
    "once full, it takes nothing in: it is the oldest that has to go": edited(
        _WindowCache, "del self.keys[0], self.values[0]", "del self.keys[-1], self.values[-1]"
    ),
    "once full, everything is thrown away; only the oldest has to go": edited(
        _WindowCache, "del self.keys[0], self.values[0]", "del self.keys[:-1], self.values[:-1]"
    ),
    "keys and values no longer belong together: forget both, or neither": edited(
        _WindowCache, "del self.keys[0], self.values[0]", "del self.keys[0]"
    ),
}


def _check_bounded(answer: Callable) -> None:
    """However long the text, what the cache keeps is bounded."""

    def fill(window):
        cache, kept = answer(window), []
        for n in (16, 256):
            for row in torch.randn(n, 3):
                cache.append(row.clone(), row.clone())
            leaves = tree_leaves(vars(cache))
            stores = {x.untyped_storage() for x in leaves if torch.is_tensor(x)}
            numbers = sum(8 for x in leaves if isinstance(x, int | float))
            kept.append(
                numbers + sum({store.data_ptr(): store.nbytes() for store in stores}.values())
            )
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
    climb(GROUPED_ATTENTION, answer)
    return "two, three, one and as many groups as heads, T different from S, d_k from d_v"


def _grouped_attention(query, key, value):
    H, G = query.shape[1], key.shape[1]
    heads = torch.arange(H) // (H // G)
    key, value = key[:, heads], value[:, heads]
    scores = query @ key.mT / query.shape[-1] ** 0.5
    return scores.softmax(-1) @ value


@ladder(_grouped_attention)
def GROUPED_ATTENTION(grouped_attention):
    """one key: its weight is 1, so the output of each query head is the value of its key head,
    with an axis for all query heads and none for groups"""
    query, key, value = torch.randn(1, 1, 2, 3), torch.randn(1, 1, 1, 3), torch.randn(1, 1, 1, 2)
    yield grouped_attention(query, key, value)

    """one head, queries of zeros: every key gets the same weight"""
    key, value = torch.randn(1, 1, 4, 3), torch.randn(1, 1, 4, 2)
    yield grouped_attention(torch.zeros(1, 1, 4, 3), key, value)

    """one head: scores are divided by the square root of d_k, then a softmax over the keys"""
    query, key, value = torch.randn(1, 1, 2, 4), torch.randn(1, 1, 5, 4), torch.randn(1, 1, 5, 3)
    yield grouped_attention(query, key, value)

    """as many key heads as query heads: ordinary heads, each with its own"""
    query, key, value = torch.randn(1, 3, 2, 4), torch.randn(1, 3, 5, 4), torch.randn(1, 3, 5, 2)
    yield grouped_attention(query, key, value)

    """one key head for all query heads"""
    query, key, value = torch.randn(1, 3, 2, 4), torch.randn(1, 1, 5, 4), torch.randn(1, 1, 5, 2)
    yield grouped_attention(query, key, value)

    """six query heads and two key heads: heads 0, 1 and 2 read key head 0, the others key head
    1, so that six heads are split into (group, head in the group), not the other way round"""
    query, key, value = torch.randn(1, 6, 2, 4), torch.randn(1, 2, 5, 4), torch.randn(1, 2, 5, 3)
    yield grouped_attention(query, key, value)

    """six query heads and three key heads, and two texts"""
    query, key, value = torch.randn(2, 6, 3, 7), torch.randn(2, 3, 5, 7), torch.randn(2, 3, 5, 4)
    yield grouped_attention(query, key, value)

    """a layer can be trained: gradients reach query, key and value"""
    sizes = (1, 4, 2, 3), (1, 2, 5, 3), (1, 2, 5, 2)
    query, key, value = (torch.randn(size, requires_grad=True) for size in sizes)
    output = grouped_attention(query, key, value)
    yield torch.autograd.grad(output.square().sum(), (query, key, value))


GROUPED_ATTENTION.mistakes |= {
    "the softmax runs over the queries; a query's weights over the keys sum to 1: dim=-1": edited(
        _grouped_attention, "softmax(-1)", "softmax(-2)"
    ),
    "the scores are not scaled: divide them by the square root of d_k": edited(
        _grouped_attention, " / query.shape[-1] ** 0.5", ""
    ),
    "all heads read the first key head: a group is H / G heads large, and not G": edited(
        _grouped_attention, "(H // G)", "H"
    ),
    "the key heads are averaged before the heads read them": edited(
        _grouped_attention,
        "key[:, heads], value[:, heads]",
        "key.mean(1, keepdim=True), value.mean(1, keepdim=True)",
    ),
    "the query heads of a group are averaged: they share keys and values, not the question": edited(
        _grouped_attention,
        "torch.arange(H) // (H // G)",
        "torch.arange(G)",
        "scores = query",
        "scores = query.unflatten(1, (G, -1)).mean(2)",
    ),
    "query head h reads key head h mod G; consecutive heads share one, so it is h // "
    "(H / G)": edited(_grouped_attention, "torch.arange(H) // (H // G)", "torch.arange(H) % G"),
}
