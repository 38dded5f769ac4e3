"""Checks for the exercises of "Writing with a cache"."""

from collections.abc import Callable

import torch
from torch.utils._pytree import tree_leaves

from book.checking.exercise import Mistake, call, climb, exercise
from book.checking.rungs import edited, ladder


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
    """the first token of a new cache: its key and its value come back alone, (1, d_k) and (1, d_v),
    without rows that are still empty, and without what another cache was given"""
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
    "the values come first; return the keys, then the values": edited(
        _WindowCache, "return keys, values", "return values, keys"
    ),
    "the new token is not among what comes back, but for the first; append it before you "
    "collect them": edited(
        _WindowCache,
        "self.keys.append(key)",
        "keys, values = torch.stack(self.keys or [key]), torch.stack(self.values or [value]); "
        "self.keys.append(key)",
        "keys, values = torch.stack(self.keys), torch.stack(self.values)",
        "pass",
    ),
}


def _check_bounded(answer: Callable) -> None:
    """However long the text, what the cache keeps is bounded."""

    def fill(window):
        cache, kept = answer(window), []
        for n in (16, 256):
            for row in torch.randn(n, 3):
                cache.append(row.clone(), row.clone())
            own = [getattr(cache, name, None) for name in getattr(cache, "__slots__", ())]
            leaves = tree_leaves([own, getattr(cache, "__dict__", {})])
            stores = {x.untyped_storage() for x in leaves if torch.is_tensor(x)}
            numbers = sum(8 for x in leaves if isinstance(x, int | float))
            kept.append(
                numbers + sum({store.data_ptr(): store.nbytes() for store in stores}.values())
            )
        return kept

    early, late = call(fill, window=4)
    if late > 2 * early:
        raise Mistake(
            "what is returned is right, but what the cache holds grows with the text",
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

    """one head: scores are divided by the square root of d_k, then a softmax over all keys, since
    nothing is masked here"""
    query, key, value = torch.randn(1, 1, 2, 4), torch.randn(1, 1, 5, 4), torch.randn(1, 1, 5, 3)
    yield grouped_attention(query, key, value)

    """as many key heads as query heads: ordinary heads, each with its own"""
    query, key, value = torch.randn(1, 3, 2, 4), torch.randn(1, 3, 5, 4), torch.randn(1, 3, 5, 2)
    yield grouped_attention(query, key, value)

    """one key head for all query heads"""
    query, key, value = torch.randn(1, 3, 2, 4), torch.randn(1, 1, 5, 4), torch.randn(1, 1, 5, 2)
    yield grouped_attention(query, key, value)

    """six query heads and two key heads: heads 0, 1 and 2 read key head 0 and its values, the
    others key head 1, so that six heads are split into (group, head in the group), not the other
    way round"""
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
    "query head h reads key head h // G; a group is H / G heads large: h // (H / G)": edited(
        _grouped_attention, "torch.arange(H) // (H // G)", "torch.arange(H) // G"
    ),
    "all heads read the first key head: a group is H / G heads large, and not G": edited(
        _grouped_attention, "(H // G)", "H"
    ),
    "the scores are divided by the square root of d_v, the length of a value; take that of a "
    "key, d_k": edited(_grouped_attention, "query.shape[-1]", "value.shape[-1]"),
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
    "keys and values are repeated in two ways; a head reads the values of its key head": edited(
        _grouped_attention, "value[:, heads]", "value[:, torch.arange(H) % G]"
    ),
    "a mask hides the later keys; nothing is masked here": edited(
        _grouped_attention,
        "return scores",
        "T, S = scores.shape[-2:]; "
        "later = ~torch.ones(T, S, dtype=torch.bool).tril(S - T); "
        "scores = scores.masked_fill(later, -torch.inf); return scores",
    ),
    "the heads of a group ask with the mean of their queries; each asks with its own": edited(
        _grouped_attention,
        "scores = query",
        "scores = query.unflatten(1, (G, -1)).mean(2)[:, heads]",
    ),
}


@exercise
def judge(answer) -> str:
    """Check `judge(p, q, words, uniform)`: how many words are kept, what the next is drawn from.

    p is (G + 1, V), q is (G, V), words and uniform are (G,); it returns a number and (V,).
    """
    climb(JUDGE, answer)
    return "words that are kept, refused and kept by chance, one, two and four of them"


def _judge(p, q, words, uniform):
    for t in range(len(words)):
        word = words[t]
        if uniform[t] >= p[t, word] / q[t, word]:
            rest = (p[t] - q[t]).clamp(min=0)
            return t, rest / rest.sum()
    return len(words), p[len(words)]


@ladder(_judge)
def JUDGE(judge):
    """the model likes both words more than the draft did: they are kept, whatever the numbers,
    and the next word is drawn from the model's distribution behind them"""
    p, q = (
        torch.tensor([[0.5, 0.5], [0.8, 0.2], [0.3, 0.7]]),
        torch.tensor([[0.25, 0.75], [0.2, 0.8]]),
    )
    yield judge(p, q, torch.tensor([0, 0]), torch.tensor([0.3, 0.9]))

    """the model likes the word half as much as the draft did: a small number keeps it"""
    p, q = torch.tensor([[0.4, 0.6], [0.3, 0.7]]), torch.tensor([[0.8, 0.2]])
    yield judge(p, q, torch.tensor([0]), torch.tensor([0.1]))

    """the model likes the word half as much as the draft did: a number below a half keeps it"""
    p, q = torch.tensor([[0.4, 0.6], [0.3, 0.7]]), torch.tensor([[0.8, 0.2]])
    yield judge(p, q, torch.tensor([0]), torch.tensor([0.45]))

    """the same word and a number above a half: nothing is kept, and only one other word is one of
    which the draft offered too little"""
    p, q = torch.tensor([[0.4, 0.4, 0.2], [0.3, 0.7, 0]]), torch.tensor([[0.8, 0.0, 0.2]])
    yield judge(p, q, torch.tensor([0]), torch.tensor([0.55]))

    """the half itself is not below it: nothing is kept"""
    p, q = torch.tensor([[0.4, 0.4, 0.2], [0.3, 0.7, 0]]), torch.tensor([[0.8, 0.0, 0.2]])
    yield judge(p, q, torch.tensor([0]), torch.tensor([0.5]))

    """three words: the next is drawn in proportion to what the draft offered too little, and
    the probabilities sum to 1"""
    p, q = torch.tensor([[0.2, 0.3, 0.5], [0.1, 0.3, 0.6]]), torch.tensor([[0.6, 0.2, 0.2]])
    yield judge(p, q, torch.tensor([0]), torch.tensor([0.7]))

    """two words, both kept: each is judged by its own rows and its own number, and the next is
    drawn from the last of the model's rows"""
    p = torch.tensor([[0.1, 0.2, 0.7], [0.3, 0.6, 0.1], [0.6, 0.1, 0.3]])
    q = torch.tensor([[0.3, 0.4, 0.3], [0.6, 0.2, 0.2]])
    yield judge(p, q, torch.tensor([2, 0]), torch.tensor([0.9, 0.4]))

    """the first of two words is refused: the second stands behind a word that is not there any
    more, however well the model likes it"""
    p = torch.tensor([[0.1, 0.2, 0.7], [0.5, 0.4, 0.1], [0.6, 0.1, 0.3]])
    q = torch.tensor([[0.3, 0.4, 0.3], [0.2, 0.6, 0.2]])
    yield judge(p, q, torch.tensor([0, 0]), torch.tensor([0.9, 0.8]))

    """four words, drawn at random"""
    p, q = torch.randn(5, 9).softmax(-1), torch.randn(4, 9).softmax(-1)
    yield judge(p, q, torch.tensor([3, 8, 0, 5]), torch.rand(4))


def _counting_all(p, q, words, uniform):
    rows = torch.arange(len(words))
    keep = uniform < p[rows, words] / q[rows, words]
    if keep.all():
        return len(words), p[-1]
    first = int(keep.int().argmin())
    rest = (p[first] - q[first]).clamp(min=0)
    return int(keep.sum()), rest / rest.sum()


JUDGE.mistakes |= {
    "the next word is drawn from the model's own distribution: a word of which the draft "
    "offered enough then comes too often": edited(_judge, "(p[t] - q[t]).clamp(min=0)", "p[t]"),
    "what the draft offered too little sums to less than 1: rescale it": edited(
        _judge, "rest / rest.sum()", "rest"
    ),
    "the rule is turned round: a word is kept where the number is below the quotient": edited(
        _judge, "uniform[t] >=", "uniform[t] <"
    ),
    "the quotient is upside down: the model's probability over the draft's": edited(
        _judge, "p[t, word] / q[t, word]", "q[t, word] / p[t, word]"
    ),
    "what the draft offered too much counts as well: take the positive part": edited(
        _judge, ".clamp(min=0)", ".abs()"
    ),
    "words behind the first that is refused are counted": _counting_all,
    "the first number judges all words; each has its own": edited(
        _judge, "uniform[t]", "uniform[0]"
    ),
    "a word whose number equals the quotient is refused: kept is what is below it": edited(
        _judge, "uniform[t] >=", "uniform[t] >"
    ),
    "if all words are kept, the next one has a row of its own, the last": edited(
        _judge, "p[len(words)]", "p[len(words) - 1]"
    ),
    "negative differences are not cut off at 0, so that they sum to 0": edited(
        _judge, ".clamp(min=0)", ""
    ),
    "what the draft offered too much is taken; take what it offered too little, p - q": edited(
        _judge, "(p[t] - q[t])", "(q[t] - p[t])"
    ),
    "after a refusal, too, the next word is drawn from the model's last row": edited(
        _judge, "return t, rest / rest.sum()", "return t, p[-1]"
    ),
    "the model's probability alone is compared with the number; divide it by the draft's": edited(
        _judge, "p[t, word] / q[t, word]", "p[t, word]"
    ),
    "the refused word is taken out of the model's row; take from each word what the draft "
    "offered": edited(_judge, "(p[t] - q[t]).clamp(min=0)", "p[t].index_fill(0, word, 0)"),
    "a softmax was taken of what the draft offered too little; divide it by its sum": edited(
        _judge, "rest / rest.sum()", "rest.softmax(-1)"
    ),
}
