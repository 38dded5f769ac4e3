"""Checks for the exercises of book/efficient_attention.ipynb."""

from collections.abc import Callable

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from book.checking.exercise import Mistake, call, exercise, ladder
from book.checking.rungs import rungs


@exercise
def merge(answer) -> str:
    """Check `merge(largest_1, total_1, blend_1, largest_2, total_2, blend_2)`: the three of both.

    largest and total are (T, 1), blend is (T, d_v).
    """
    ladder(MERGE, _merge, merge=answer)
    return "equal maxima, either one the larger, several queries, maxima near 1000 and -1000"


def _merge(largest_1, total_1, blend_1, largest_2, total_2, blend_2):
    m1, m2 = largest_1, largest_2
    m = torch.maximum(m1, m2)
    a1, a2 = (m1 - m).exp(), (m2 - m).exp()
    b1, b2 = a1, a2
    total = total_1 * a1 + total_2 * a2
    blend = blend_1 * b1 + blend_2 * b2
    return m, total, blend


MERGE = rungs(
    _merge,
    """
equal maxima: nothing has to be rescaled, sums and blends add up; the results are the largest, the
sum and the blend, in this order
    m = torch.tensor([[2.0]])
    merge(m, m / 2, 3 * m, m, 2 * m, 5 * m)
  - the blend is divided by the sum already; parts that may be merged again stay undivided
    return m, total, blend => return m, total, blend / total
  - sum and blend are divided by the number of parts; they add up
    return m, total, blend => return m, total / 2, blend / 2
  - the blend is the mean of the two; they add up
    return m, total, blend => return m, total, blend / 2
  - the sum is the mean of the two; they add up
    return m, total, blend => return m, total / 2, blend
  - the maxima are added; it is the larger one that is common to both
    torch.maximum(m1, m2) => m1 + m2
    return m => a1 = a2 = 1; return m
  - the logarithm of the sum with the largest score, log-sum-exp, is returned; return the sum itself
    return m, total, blend => return m, m + total.log(), blend
  - the logarithm of the sum is returned; return the sum itself
    return m, total, blend => return m, total.log(), blend
  - the sum is multiplied by exp(largest), which overflows; it stays relative to the largest score
    return m, total, blend => return m, total * m.exp(), blend
  - sum, blend, largest: the results stand in another order; largest, sum, blend
    return m, total, blend => return total, blend, m
  - blend and sum have changed places: largest, sum, blend
    return m, total, blend => return m, blend, total
  - where the maxima are equal, both parts are lost: "larger" and "smaller" leave a case out
    (m1 - m).exp(), (m2 - m).exp() => (m1 > m2).float(), (m2 > m1).float()
  - where the maxima are equal, one part is lost
    (m2 - m).exp() => (m2 > m1).float()
  - only the part with the larger maximum is kept; the other counts, too
    (m1 - m).exp(), (m2 - m).exp() => (m1 >= m2).float(), (m2 > m1).float()
  - the blends are multiplied by the sums; a blend is not divided yet
    b1, b2 = a1, a2 => b1, b2 = a1 * total_1, a2 * total_2
the second maximum is larger by log 2: what belongs to the first part counts half
    one = torch.tensor([[1.0]])
    merge(0 * one, 6 * one, 10 * one, (2 * one).log(), one, 3 * one)
  - nothing is rescaled: each part is relative to its own maximum; bring both to the common one
    (m1 - m).exp(), (m2 - m).exp() => 1, 1
  - the factor is turned round: it is exp(own maximum - common maximum), at most 1
    (m1 - m).exp(), (m2 - m).exp() => (m - m1).exp(), (m - m2).exp()
  - the sums are rescaled, the blends are not
    b1, b2 = a1, a2 => b1, b2 = 1, 1
  - the blends are rescaled, the sums are not
    a1 + total_2 * a2 => 1 + total_2
  - the smaller maximum is the common one; take the larger, so that no factor exceeds 1
    torch.maximum => torch.minimum
  - the mean of the two maxima is the common one; take the larger
    torch.maximum(m1, m2) => (m1 + m2) / 2
  - the second part's maximum is taken for both, and nothing of it is rescaled; it is the larger one
  that is common
    torch.maximum(m1, m2) => m2
  - the first part's maximum is taken for both; it is the larger one that is common
    torch.maximum(m1, m2) => m1
  - the factors have the base 2; the sums are of powers of e
    (m1 - m).exp(), (m2 - m).exp() => (m1 - m).exp2(), (m2 - m).exp2()
  - there is no exp: a factor is exp(own maximum - common maximum)
    (m1 - m).exp(), (m2 - m).exp() => m1 - m, m2 - m
  - the factors have changed places: each part has exp of its own maximum less the common one
    (m1 - m).exp(), (m2 - m).exp() => (m2 - m).exp(), (m1 - m).exp()
the first maximum is larger by log 2: now it is the second part that counts half
    one = torch.tensor([[1.0]])
    merge((2 * one).log(), 6 * one, 10 * one, 0 * one, one, 3 * one)
  - only the first part is rescaled; where its maximum is the larger one, the second has to be
    (m2 - m).exp() => 1
several queries: each has a maximum of its own, and once the first part has the larger, once the
second
    m, totals, blends = 2 * torch.randn(2, 4, 1), 1 + torch.rand(2, 4, 1), torch.randn(2, 4, 2)
    merge(m[0], totals[0], blends[0], m[1], totals[1], blends[1])
  - one maximum is taken for all queries; each has its own
    torch.maximum(m1, m2) => torch.maximum(m1, m2).max().expand_as(m1)
  - it is decided once for all queries which part has the larger maximum; each query has its own
    torch.maximum(m1, m2) => (m1 if m1.max() > m2.max() else m2)
  - one query decides for all which part is rescaled
    (m1 - m).exp(), (m2 - m).exp() => (m1 - m)[:1].exp(), (m2 - m)[:1].exp()
maxima near 1000 and -1000: take exp of differences of maxima only, never of a maximum itself
    one = torch.tensor([[1.0]])
    tuple(merge(m * one, 6 * one, 10 * one, (m + 1) * one, one, 3 * one) for m in (1000, -1000))
a part that has seen no keys: its maximum is minus infinity, its sum and its blend are 0
    one = torch.tensor([[1.0]])
    merge(-torch.inf * one, 0 * one, 0 * one, 3 * one, one, 3 * one)
""",
)


@exercise
def backward_row(answer) -> str:
    """Check `backward_row(query, key, value, output, log_sum_exp, grad_output, block)`.

    It returns the gradients of query (d_k,), key (S, d_k) and value (S, d_v); output and
    grad_output are (d_v,), log_sum_exp is one number.
    """
    ladder(BACKWARD_ROW, _backward_row, backward_row=answer)
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


BACKWARD_ROW = rungs(
    _backward_row,
    """
one key: its weight, exp(score - log_sum_exp), is 1 whatever the score, so nothing can move it:
query
and key get zeros, and its value gets grad_output times the weight itself, not times its slope
    query, key, value, output, log_sum_exp, grad_output = read_row(1, 1, 3)
    backward_row(query, key, value, output, log_sum_exp, grad_output, 1)
  - nothing is subtracted from the gradients of the weights: all weights of a row share 1, so the
  row's average counts as 0
    (grad_weights - average) => grad_weights
  - a value collects the output; it should collect grad_output
    weights[:, None] * grad_output => weights[:, None] * output
  - the gradients come in another order: query, key, value
    return grad_query, grad_key, grad_value => return grad_value, grad_key, grad_query
  - the gradients come in the order key, value, query; return query, key, value
    return grad_query, grad_key, grad_value => return grad_key, grad_value, grad_query
  - the gradients come in the order key, query, value; return query, key, value
    return grad_query, grad_key, grad_value => return grad_key, grad_query, grad_value
  - the gradients come in the order query, value, key; return query, key, value
    return grad_query, grad_key, grad_value => return grad_query, grad_value, grad_key
  - the gradients come in the order value, query, key; return query, key, value
    return grad_query, grad_key, grad_value => return grad_value, grad_query, grad_key
  - each value gets grad_output times the weight's slope; times the weight itself
    weights[:, None] * grad_output => (weights * (1 - weights))[:, None] * grad_output
  - each value gets grad_output; grad_output times the key's weight, which here is 1
    weights[:, None] * grad_output => 1 + 0 * weights[:, None] * grad_output
one block with d_k = 1, where no scale is needed: a value gets grad_output times its weight, and the
weight is exp(score - log_sum_exp), which the forward pass has kept for the whole row
    query, key, value, output, log_sum_exp, grad_output = read_row(3, 1, 2)
    backward_row(query, key, value, output, log_sum_exp, grad_output, 3)[2]
  - the weights are exp(score - log_sum_exp); here nothing is subtracted
    (scores - log_sum_exp).exp() => scores.exp()
  - the weights are exp(score - log_sum_exp); here exp of the score is divided by log_sum_exp
    (scores - log_sum_exp).exp() => scores.exp() / log_sum_exp
one block with d_k = 1: the gradient of a score is its weight times what its value is better than
the average
    query, key, value, output, log_sum_exp, grad_output = read_row(3, 1, 2)
    backward_row(query, key, value, output, log_sum_exp, grad_output, 3)
  - the gradients of the scores lack the weights: a key that got no weight moves nothing
    weights * (grad => (grad
  - the average of the gradients is not weighted: it is grad_output · output
    grad_weights - average => grad_weights - grad_weights.mean()
  - the average is not weighted by the gradient: it is grad_output · output, one number
    output @ grad_output => output.sum()
  - the gradient of a key is made of keys; a score is query times key, so it is made of the query
    grad_scores[:, None] * query => grad_scores[:, None] * key[rows]
  - the gradient of the query is made of the query; a score is query times key, so keys make it
    grad_query += grad_scores @ key[rows] => grad_query += grad_scores.sum() * query
  - the average is added; a key's gradient is what its value is better than the average
    grad_weights - average => grad_weights + average
  - a value collects the values; it should collect grad_output
    weights[:, None] * grad_output => weights[:, None] * value[rows]
  - the sign of the gradient of the query is turned round
    grad_query += => grad_query -=
  - the sign of the gradients of query and key is turned round
    (grad_weights - average) => (average - grad_weights)
d_k = 4: scores are divided by the square root of d_k, on the way there and on the way back
    query, key, value, output, log_sum_exp, grad_output = read_row(3, 4, 2)
    backward_row(query, key, value, output, log_sum_exp, grad_output, 3)
  - the weights are not those of the forward pass: scale the scores before log_sum_exp is subtracted
    query / root => query
  - the gradients of query and key lack a factor: scores are divided by the square root of d_k,
  so their gradients are, too
    average) / root => average)
  - the gradient of the key lacks the factor 1 / sqrt(d_k)
    grad_scores[:, None] * query => grad_scores[:, None] * query * root
  - the gradient of the query lacks the factor 1 / sqrt(d_k)
    grad_query += grad_scores @ key[rows] => grad_query += grad_scores @ key[rows] * root
  - the gradients are divided by d_k; once on the way back is enough
    average) / root => average) / root**2
  - the gradient of the query is divided by the root twice
    grad_query += grad_scores @ key[rows] => grad_query += grad_scores @ key[rows] / root
  - the scores are divided by d_k, on the way there and back; it is the square root
    len(query) ** 0.5 => len(query)
several blocks: the weights are those of the whole row, of which log_sum_exp knows, and what each
block adds to the query's gradient is added up, not averaged
    query, key, value, output, log_sum_exp, grad_output = read_row(6, 4, 2)
    backward_row(query, key, value, output, log_sum_exp, grad_output, 2)
  - the weights are a softmax over one block; over the row they are exp(score - log_sum_exp)
    (scores - log_sum_exp).exp() => scores.softmax(0)
  - the average is taken over one block; over the row it is grad_output · output
    - average => - weights @ grad_weights
  - the gradient of the query is that of the last block only: add up all blocks
    grad_query += => grad_query =
  - only the first block is read
    range(0, S, block) => [0]
seven keys in blocks of three: the last block is shorter
    query, key, value, output, log_sum_exp, grad_output = read_row(7, 4, 2)
    backward_row(query, key, value, output, log_sum_exp, grad_output, 3)
  - the last, shorter block is left out
    S = len(key) => S = len(key) // block * block
a block that is larger than the row
    query, key, value, output, log_sum_exp, grad_output = read_row(3, 2, 5)
    backward_row(query, key, value, output, log_sum_exp, grad_output, 8)
large scores: exp overflows unless log_sum_exp is subtracted first
    query, key, value, output, log_sum_exp, grad_output = read_row(4, 2, 2, factor=1000.0)
    backward_row(query, key, value, output, log_sum_exp, grad_output, 2)
""",
    before="from book.efficient_attention.checks import read_row\n",
)


@exercise
def window_mask(answer) -> str:
    """Check `window_mask(T, S, window)`: boolean (T, S), True where a query may attend."""
    ladder(WINDOW_MASK, _window_mask, window_mask=answer)
    return "windows of 1, 2, 3 and more than the text, and new queries behind cached keys"


def _window_mask(T, S, window):
    query, key = torch.arange(S - T, S)[:, None], torch.arange(S)
    back = query - key
    return (back >= 0) & (back < window)


WINDOW_MASK = rungs(
    _window_mask,
    """
a window larger than the text: the causal mask, a table of True and False in which row i, a query,
may look at keys 0 to i, itself and what came before
    window_mask(4, 4, 9)
  - it is turned round: True means that a query may attend
    return (back >= 0) & (back < window) => return ~((back >= 0) & (back < window))
  - the future can be seen: this window looks back only
    (back >= 0) => (back > -window)
  - a query does not see its own key
    back >= 0 => back > 0
  - a query with fewer keys before it than the window sees nothing; it sees those that are there
    back < window) => back < window) & (query >= window - 1)
  - only every second key of the window is seen; all of them are
    back < window) => back < window) & (back % 2 == 0)
  - queries and keys have changed places: a row is a query, a column a key
    back = query - key => back = (query - key).T
a window of 1: every query sees its own key and no other
    window_mask(4, 4, 1)
  - everything up to the query can be seen: the window has no end
    (back < window) => (back < S)
  - the first key is always seen, as an attention sink; it is forgotten like others
    & (back < window) => & ((back < window) | (key == 0))
  - the window is twice as long as it should be
    back < window => back < 2 * window
  - a query sees one key too many: the window counts the query's own
    back < window => back <= window
  - a query sees one key too few: the window counts the query's own, and window - 1 before it
    back < window => back < window - 1
  - what should be forgotten is seen, and the window is not
    back < window => back >= window
windows of 2 and 3: the window goes along with the query
    window_mask(4, 4, 2), window_mask(5, 5, 3)
  - the text is cut into blocks; every query has a window of its own
    (back < window) => (query // window == key // window)
it is made of True and False
    np.asarray(window_mask(3, 3, 2)).dtype == bool
  - it is made of numbers; a mask is boolean
    return (back >= 0) & (back < window) => return ((back >= 0) & (back < window)).float()
one new query behind four cached keys: the last query is at the place of the last key
    window_mask(1, 5, 2)
  - the first query is aligned with the first key; with a cache, the last query belongs to the last
  key
    torch.arange(S - T, S) => torch.arange(T)
  - the queries stand one place too late: the last one belongs to the last key, S - 1
    torch.arange(S - T, S) => torch.arange(S - T + 1, S + 1)
  - the queries stand one place too early: the last one belongs to the last key, S - 1
    torch.arange(S - T, S) => torch.arange(S - T - 1, S - 1)
  - it looks at the keys to come; the window goes back
    (back >= 0) & (back < window) => (back <= 0) & (back > -window)
  - the window reaches half to each side; it goes back only
    (back >= 0) & (back < window) => back.abs() <= window // 2
  - one of the two ends of the window is enough here; a key must lie within both
    & (back < window) => | (back < window)
  - it is made of 0 and minus infinity; True and False were asked for
    return (back >= 0) & (back < window) => return ((back >= 0) & (back < window)).float().log()
two new queries behind four cached keys
    window_mask(2, 6, 3)
""",
)


@exercise
def window_cache(answer) -> str:
    """Check the class `WindowCache(window)` with `append(key, value) -> (keys, values)`.

    key is (d_k,), value (d_v,); what comes back are the last `window` of each, in any order.
    """
    ladder(WINDOW_CACHE, _WindowCache, WindowCache=answer)
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


WINDOW_CACHE = rungs(
    _WindowCache,
    """
the first token of a new cache: its key and its value come back, (1, d_k) and (1, d_v), and nothing
that another cache was given
    one, other = WindowCache(2), WindowCache(2)
    _ = one.append(torch.tensor([7.0, 8.0]), torch.tensor([9.0]))
    other.append(torch.tensor([1.0, 2.0]), torch.tensor([3.0]))
  - the new token cannot see itself: append first, then return what is held
    return keys, values => return keys[:-1], values[:-1]
  - values come first; keys, then values
    return keys, values => return values, keys
  - rows that nobody has filled come back: before the window is full, only those held count
    return keys => rows = self.window - len(keys); return keys
    return keys, values => return keys, torch.cat([values, value.new_zeros(rows, len(value))])
    return keys, => return torch.cat([keys, key.new_zeros(rows, len(key))]),
  - only the newest key and value come back; those held before are asked for, too
    return keys, values => return key[None], value[None]
two tokens, room for three: row i of the keys belongs to row i of the values, whatever their order
    cache = WindowCache(3)
    held = [cache.append(torch.tensor([t]), torch.tensor([10 * t])) for t in (1.0, 2.0)]
    in_order(held[-1])
  - keys and values stand in different orders: row i of one belongs to row i of the other
    return keys, values => return keys.flip(0), values
as many tokens as the window has room for: all of them come back
    cache = WindowCache(3)
    held = [cache.append(torch.tensor([t]), torch.tensor([10 * t])) for t in (1.0, 2.0, 3.0)]
    in_order(held[-1])
  - one token too few is held: the new one counts
    > self.window => > max(1, self.window - 1)
one token more than there is room for: the oldest goes, it alone
    cache = WindowCache(3)
    held = [cache.append(torch.tensor([t]), torch.tensor([10 * t])) for t in torch.arange(1.0, 5.0)]
    in_order(held[-1])
  - half of the window, here two, is thrown away when it is full; only the oldest has to go
    del self.keys[0], self.values[0] => del self.keys[:HALF], self.values[:HALF]
    HALF => (self.window + 1) // 2
two tokens more: the oldest key and the oldest value make room, and each key still has its own value
    cache = WindowCache(3)
    held = [cache.append(torch.tensor([t]), torch.tensor([10 * t])) for t in torch.arange(1.0, 6.0)]
    in_order(held[-1])
  - nothing is ever forgotten: with window keys held, the oldest makes room for the newest
    > self.window => > 1000
  - one token too many is held
    > self.window => > self.window + 1
  - once full, it takes nothing in: it is the oldest that has to go
    del self.keys[0], self.values[0] => del self.keys[-1], self.values[-1]
  - once full, everything is thrown away; only the oldest has to go
    del self.keys[0], self.values[0] => del self.keys[:-1], self.values[:-1]
  - the token before the newest is thrown away; it is the oldest that has to go
    del self.keys[0], self.values[0] => del self.keys[-2], self.values[-2]
  - keys and values no longer belong together: forget both, or neither
    del self.keys[0], self.values[0] => del self.keys[0]
  - the old keys go, but the old values stay and the newest is lost: they no longer belong together
    del self.keys[0], self.values[0] => del self.keys[0], self.values[-1]
  - the old values go, but the old keys stay and the newest is lost: they no longer belong together
    del self.keys[0], self.values[0] => del self.keys[-1], self.values[0]
many tokens: after ten of them, the last three are held
    cache = WindowCache(3)
    held = [cache.append(torch.tensor([t]), torch.tensor([10 * t])) for t in torch.arange(10.0)]
    in_order(held[-1])
a window of 1 holds the newest token alone
    cache = WindowCache(1)
    held = [cache.append(torch.tensor([t]), torch.tensor([10 * t])) for t in (1.0, 2.0, 3.0)]
    in_order(held[-1])
keys and values of several entries, in float64: the cache keeps what it is given
    cache, keys, values = WindowCache(3), torch.randn(5, 4).double(), torch.randn(5, 2).double()
    held = [in_order(cache.append(key, value)) for key, value in zip(keys, values)]
    held[1], held[-1], held[-1][0].dtype
  - keys are rounded to half precision; the cache keeps what it is given
    self.keys.append(key) => self.keys.append(key.half().to(key.dtype))
  - keys and values are rounded to half precision; the cache keeps what it is given
    self.keys.append(key) => self.keys.append(key.half().to(key.dtype))
    self.values.append(value) => self.values.append(value.half().to(value.dtype))
  - float32 comes back, whatever the keys and values are; the cache keeps what it is given
    keys, values = torch.stack(self.keys), torch.stack(self.values) => keys, values = FLOATS
    FLOATS => torch.stack(self.keys).float(), torch.stack(self.values).float()
""",
    before="from book.efficient_attention.checks import in_order\n",
)


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
    ladder(GROUPED_ATTENTION, _grouped_attention, grouped_attention=answer)
    return "two, three, one and as many groups as heads, T different from S, d_k from d_v"


def _grouped_attention(query, key, value):
    H, G = query.shape[1], key.shape[1]
    heads = torch.arange(H) // (H // G)
    key, value = key[:, heads], value[:, heads]
    scores = query @ key.mT / query.shape[-1] ** 0.5
    return scores.softmax(-1) @ value


GROUPED_ATTENTION = rungs(
    _grouped_attention,
    """
one key: its weight is 1, so the output of each query head is the value of its key head, with an
axis
for all query heads and none for groups
    query, key, value = torch.randn(1, 1, 2, 3), torch.randn(1, 1, 1, 3), torch.randn(1, 1, 1, 2)
    grouped_attention(query, key, value)
  - the softmax runs over the queries; a query's weights over the keys sum to 1: dim=-1
    softmax(-1) => softmax(-2)
one head, queries of zeros: every key gets the same weight
    key, value = torch.randn(1, 1, 4, 3), torch.randn(1, 1, 4, 2)
    grouped_attention(torch.zeros(1, 1, 4, 3), key, value)
  - later keys are hidden; nothing was said of a causal mask
    scores.softmax(-1) => (scores + torch.full_like(scores, -1e9).triu(1)).softmax(-1)
one head: scores are divided by the square root of d_k, then a softmax over the keys
    query, key, value = torch.randn(1, 1, 2, 4), torch.randn(1, 1, 5, 4), torch.randn(1, 1, 5, 3)
    grouped_attention(query, key, value)
  - the scores are not scaled: divide them by the square root of d_k
     / query.shape[-1] ** 0.5 =>
  - the scores are divided by d_k; it is its square root
    ** 0.5 =>
  - there is no softmax: the scores themselves are the weights
    scores.softmax(-1) => scores
  - the scores are divided by the square root of d_v; queries and keys are d_k wide
    query.shape[-1] ** 0.5 => value.shape[-1] ** 0.5
as many key heads as query heads: ordinary heads, each with its own
    query, key, value = torch.randn(1, 3, 2, 4), torch.randn(1, 3, 5, 4), torch.randn(1, 3, 5, 2)
    grouped_attention(query, key, value)
  - all heads read the first key head: a group is H / G heads large, and not G
    (H // G) => H
  - the key heads are averaged before the heads read them
    key[:, heads], value[:, heads] => key.mean(1, keepdim=True), value.mean(1, keepdim=True)
  - the keys of all heads are averaged, the values are not; each head has its own of both
    key[:, heads], => key.mean(1, keepdim=True),
  - the values of all heads are averaged, the keys are not; each head has its own of both
    value[:, heads] => value.mean(1, keepdim=True)
  - the heads read the key heads in the opposite order
    heads = => heads = G - 1 -
  - the scores are divided by the square root of the width of all heads together
    query.shape[-1] ** 0.5 => (H * query.shape[-1]) ** 0.5
one key head for all query heads
    query, key, value = torch.randn(1, 3, 2, 4), torch.randn(1, 1, 5, 4), torch.randn(1, 1, 5, 2)
    grouped_attention(query, key, value)
  - the query heads of a group are averaged: they share keys and values, not the question
    torch.arange(H) // (H // G) => torch.arange(G)
    scores = query => scores = query.unflatten(1, (G, -1)).mean(2)
  - the query heads of a group are averaged, so that all of them get the same output; each asks its
  own question
    scores = query @ => scores = query.unflatten(1, (G, -1)).mean(2)[:, heads] @
six query heads and two key heads: heads 0, 1 and 2 read key head 0, the others key head 1, so that
six heads are split into (group, head in the group), not the other way round
    query, key, value = torch.randn(1, 6, 2, 4), torch.randn(1, 2, 5, 4), torch.randn(1, 2, 5, 3)
    grouped_attention(query, key, value)
  - query head h reads key head h mod G; consecutive heads share one, so it is h // (H / G)
    torch.arange(H) // (H // G) => torch.arange(H) % G
  - keys and values are shared in different ways: both by consecutive heads
    value[:, heads] => value[:, torch.arange(H) % G]
  - keys and values are shared in different ways; both by consecutive heads
    key[:, heads], => key[:, torch.arange(H) % G],
six query heads and three key heads, and two texts
    query, key, value = torch.randn(2, 6, 3, 7), torch.randn(2, 3, 5, 7), torch.randn(2, 3, 5, 4)
    grouped_attention(query, key, value)
a layer can be trained: gradients reach query, key and value
    sizes = (1, 4, 2, 3), (1, 2, 5, 3), (1, 2, 5, 2)
    query, key, value = (torch.randn(size, requires_grad=True) for size in sizes)
    output = grouped_attention(query, key, value)
    torch.autograd.grad(output.square().sum(), (query, key, value))
""",
)
