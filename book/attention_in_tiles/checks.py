"""Checks for the exercises of "Attention in tiles"."""

import torch
from torch.overrides import TorchFunctionMode
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
    largest, one for each query, the sum and the blend, in this order"""
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
    "a blend is no mean yet: add the blends as they are, not weighted by their sums": edited(
        _merge,
        "b1, b2 = a1, a2",
        "b1, b2 = a1 * total_1, a2 * total_2",
        "return m, total, blend",
        "return m, total, blend / total",
    ),
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
            "31 keys, d_k = 3, d_v = 2, block = 4: some tensor inside has 31 numbers",
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


class _Sizes(TorchFunctionMode):
    """Notes the sizes of what operations inside give."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[int] = set()

    def __torch_function__(self, operation, types, args=(), kwargs=None):
        result = operation(*args, **(kwargs or {}))
        tensors = [x for x in tree_leaves(result) if isinstance(x, torch.Tensor)]
        self.seen |= {x.numel() for x in tensors if x.is_floating_point()}  # not places of keys
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
    "the scores are divided by the square root of d_v, the length of a value; take that of the "
    "query, d_k": edited(_backward_row, "len(query) ** 0.5", "value.shape[1] ** 0.5"),
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
    "the first query is aligned with the first key; with a cache, the last query "
    "belongs to the last key": edited(_window_mask, "torch.arange(S - T, S)", "torch.arange(T)"),
    "all of the future can be seen: a query looks back only": edited(
        _window_mask, "(back >= 0) & ", ""
    ),
    "all is True: a key must not come after the query, nor before its window": edited(
        _window_mask, "0) & (", "0) | ("
    ),
    "a slice from a number below 0 counts from the end: begin at 0 at the earliest": (
        lambda T, S, window: torch.tensor(
            [[s in range(S)[t - window + 1 : t + 1] for s in range(S)] for t in range(S - T, S)]
        )
    ),
}
