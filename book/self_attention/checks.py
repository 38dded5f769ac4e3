"""Checks for the exercises of book/self_attention.ipynb."""

import math
from collections.abc import Callable

import numpy as np
import torch

from book.checking.ending import calling
from book.checking.exercise import (
    Mistake,
    NotAttempted,
    climb,
    exercise,
    mistake_of,
    where,
)
from book.checking.rungs import ladder
from book.checking.undisturbed import undisturbed
from companion.nn import scaled_dot_product_attention


@exercise
def attention(answer) -> str:
    """Check `attention(query, key, value)` in NumPy: the output, or output and weights.

    query is (T, d_k), key (S, d_k), value (S, d_v).
    """
    climb(ATTENTION, answer)
    return "one key, equal scores, d_k = 4, two queries, T and S and widths apart, large scores"


def _softmax(scores, axis=-1):
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def _attention(scale=lambda query, key, value: query.shape[-1] ** -0.5, weigh=_softmax) -> Callable:
    """Attention in NumPy, or with another scale or another way from scores to weights."""

    def variant(query, key, value):
        weights = weigh(query @ key.T * scale(query, key, value))
        return weights @ value, weights

    return variant


@ladder(_attention(), optional=1)
def ATTENTION(attention):
    """the weights of a query sum to 1, so with one key they are 1 and the output is its
    value"""
    query, key, value = np.array([[[0.5]], [[3]], [[7.5]]])
    yield attention(query, key, value)

    """a query that likes both keys alike gives each of them the weight 1/2, whatever the other
    queries do: the softmax runs over the keys, the last axis"""
    query, key = np.array([[1.0, 1], [2, 2]]), np.array([[1.0, 2], [2, 1]])
    value = np.array([[2.0, 0], [6, 4]])
    yield attention(query, key, value)

    """the scores, here 4 and 0, are divided by the square root of d_k = 4 before the softmax,
    which makes a weight of exp(2) / (exp(2) + 3) of the largest"""
    query, key, value = 4 * np.eye(4), np.eye(4), np.eye(4)
    yield attention(query, key, value)

    """a score is the product of a row of query and a row of key; row i of the weights belongs
    to query i, and it blends the rows of value"""
    query, key = np.array([[2.0, 0], [6, 4]]), np.array([[1.0, 0], [1, 1]])
    value = np.array([[1.0, 0], [0, 2]])
    yield attention(query, key, value)

    """there may be fewer queries than keys, or more, and values of any width"""
    query, key = np.arange(12.0).reshape(3, 4) / 9, np.arange(20.0).reshape(5, 4) / 9 - 1
    value = np.arange(10.0).reshape(5, 2) ** 2
    yield attention(query, key, value)

    """large scores must not overflow: subtract each row's maximum before np.exp, so that their
    differences stay as they are"""
    query, key = np.array([[1000.0]]), np.array([[1.0], [0.999]])
    value = np.array([[1.0], [0]])
    yield attention(query, key, value)

    """the maximum that is subtracted is each row's own: with one for all rows, rows far below
    it become 0 / 0"""
    query, key = np.array([[1000.0], [-1000]]), np.array([[1.0], [2]])
    value = np.array([[1.0], [0]])
    yield attention(query, key, value)


def _divided_behind(query, key, value):
    weights = _softmax(query @ key.T) * query.shape[-1] ** -0.5
    return weights @ value, weights


ATTENTION.mistakes |= {
    "the weights are divided by the square root of d_k; divide the scores by it, before the "
    "softmax": _divided_behind,
    "the exponentials are not divided by their sum: the weights of a query sum to 1": (
        _attention(weigh=np.exp)
    ),
    "the scores themselves are the weights; a softmax makes weights of them": (
        _attention(weigh=lambda scores: scores)
    ),
    "softmax over the queries: each row, the last axis, has to sum to 1, not each column": (
        _attention(weigh=lambda scores: _softmax(scores, axis=0))
    ),
    "the sums of the rows lose an axis and divide the columns: sum with keepdims=True": (
        _attention(weigh=lambda scores: np.exp(scores) / np.exp(scores).sum(-1))
    ),
    "the scores are not scaled: divide them by the square root of d_k before the softmax": (
        _attention(lambda *_: 1)
    ),
    "each column's maximum is taken off; the maximum of a row may be, as it divides out": (
        _attention(
            weigh=lambda scores: (
                (powers := np.exp(scores - scores.max(0))) / powers.sum(-1, keepdims=True)
            )
        )
    ),
    "the weights are transposed before they meet the values": (
        lambda query, key, value: _attention()(query, key, value)[1].T @ value
    ),
    "the keys are not transposed: a score is a row of query times a row of key": (
        lambda query, key, value: _attention()(query, key.T, value)
    ),
    "the scores are divided by the square root of the number of keys; d_k is the "
    "width of a query and a key": _attention(lambda query, key, value: len(key) ** -0.5),
    "the scores are divided by the square root of the width of a value; d_k is "
    "the width of a query and a key": _attention(lambda query, key, value: value.shape[-1] ** -0.5),
}


@exercise
def masked_attention(answer) -> str:
    """Check `masked_attention(query, key, value, mask)` in torch: output, or output and weights.

    query is (T, d_k), key (S, d_k), value (S, d_v), mask boolean (T, S) with True for "may attend".
    """
    climb(MASKED_ATTENTION, answer)
    return "one key hidden, none, a column, T and S apart, low scores, empty rows, all gradients"


def _masked(forbidden=-math.inf, scale=None, dim=-1, change=lambda mask: mask) -> Callable:
    """Masked attention, or with one step done in another way; an empty row gives NaN."""

    def variant(query, key, value, mask):
        scores = query @ key.mT * (scale or (lambda d_k: d_k**-0.5))(query.shape[-1])
        weights = scores.masked_fill(~change(mask), forbidden).softmax(dim)
        return weights @ value, weights

    return variant


@ladder(scaled_dot_product_attention, optional=1)
def MASKED_ATTENTION(masked_attention):
    """a key that may not be looked at has no weight at all, and the others share the whole:
    with one key for each query, the output is its value"""
    query, key = torch.tensor([[0.0, 2], [2, 0]]), torch.eye(2)
    value = torch.tensor([[3.0, 0], [1, 4]])
    mask = torch.tensor([[True, False], [False, True]])
    yield masked_attention(query, key, value, mask)

    """a query that likes both keys alike gives each of them the weight 1/2, whatever the other
    queries do: the softmax runs over the keys, the last axis"""
    query, key = torch.tensor([[1.0, 1], [2, 2]]), torch.tensor([[1.0, 2], [2, 1]])
    value = torch.tensor([[2.0, 0], [6, 4]])
    mask = torch.tensor([[True, True], [True, True]])
    yield masked_attention(query, key, value, mask)

    """the scores, here 4 and 0, are divided by the square root of d_k = 4 before the softmax"""
    query, key, value = 4 * torch.eye(4), torch.eye(4), torch.eye(4)
    mask = torch.ones(4, 4).bool()
    yield masked_attention(query, key, value, mask)

    """row i of the mask is for query i, column j for key j, and any pair may be forbidden"""
    query, key = torch.tensor([[0.0, 2], [2, 0]]), torch.eye(2)
    value = torch.tensor([[3.0, 0], [1, 4]])
    mask = torch.tensor([[True, True], [False, True]])
    yield masked_attention(query, key, value, mask)

    """there may be more keys than queries, and values of another width"""
    query, key, value = torch.randn(3, 7), torch.randn(5, 7), torch.randn(5, 2)
    mask = torch.ones(3, 5).tril(1).bool()
    yield masked_attention(query, key, value, mask)

    """what is forbidden has no weight even where the allowed scores are low, here -1000: the
    number that marks it must be far below them, use -inf; and exp(-1000) is 0, so that a row's
    maximum has to be taken off first"""
    query, key = torch.tensor([[0.0, 2], [2, 0]]), torch.eye(2)
    value = torch.tensor([[3.0, 0], [1, 4]])
    mask = torch.tensor([[True, False], [True, True]])
    query[0] = torch.tensor([-1000 * 2**0.5, 0])
    yield masked_attention(query, key, value, mask)

    """a row that may attend to nothing gives zeros, neither NaN nor an average"""
    query, key = torch.tensor([[0.0, 2], [2, 0]]), torch.eye(2)
    value = torch.tensor([[3.0, 0], [1, 4]])
    mask = torch.tensor([[True, False], [False, False]])
    yield masked_attention(query, key, value, mask)

    """gradients reach query, key and value"""
    query, key, value = torch.randn(3, 2, 4).unbind()
    inputs = [x.requires_grad_() for x in (query, key, value)]
    mask = torch.tensor([[True, True], [False, True]])
    output = masked_attention(query, key, value, mask)
    output = output[0] if isinstance(output, (tuple, list)) else output
    yield torch.autograd.grad(output.square().sum(), inputs)

    """the gradients are finite too where a row may attend to nothing: no row of -inf goes into
    the softmax, even if its NaN is replaced afterwards"""
    query, key, value = torch.randn(3, 2, 4).unbind()
    inputs = [x.requires_grad_() for x in (query, key, value)]
    mask = torch.tensor([[True, True], [False, False]])
    output = masked_attention(query, key, value, mask)
    output = output[0] if isinstance(output, (tuple, list)) else output
    yield torch.autograd.grad(output.square().sum(), inputs)


def _reweighted(weigh: Callable) -> Callable:
    """Masked attention whose weights are made of scaled scores and the mask in another way."""

    def variant(query, key, value, mask):
        weights = weigh(query @ key.mT * query.shape[-1] ** -0.5, mask)
        return weights @ value, weights

    return variant


def _without_full_rows(query, key, value, mask):
    results = scaled_dot_product_attention(query, key, value, mask)
    return tuple(x * ~mask.all(-1, keepdim=True) for x in results)


MASKED_ATTENTION.mistakes |= {
    "forbidden weights are set to 0 behind the softmax, so that the others do not sum to 1; fill "
    "the forbidden scores with -inf": _reweighted(lambda scores, mask: scores.softmax(-1) * mask),
    "forbidden scores are set to 0, and the exponential of 0 is 1: use -inf; only rows that see "
    "nothing are right": _reweighted(
        lambda scores, mask: (scores * mask).softmax(-1) * mask.any(-1, keepdim=True)
    ),
    "a row that may attend to everything gives zeros; only one that may to nothing does": (
        _without_full_rows
    ),
    "the mask is inverted: True means 'may attend'": _masked(change=torch.logical_not),
    "the mask has no effect: forbidden keys are still looked at": _masked(change=torch.ones_like),
    "forbidden scores are set to 0, and the exponential of 0 is 1: use -inf": _masked(0.0),
    "the mask is added to the scores as 0 and 1; fill the forbidden scores with -inf": (
        lambda query, key, value, mask: (query @ key.mT / 2**0.5 + mask).softmax(-1) @ value
    ),
    "the mask is always causal; it is the one that is given": (
        _masked(change=lambda mask: torch.ones_like(mask).tril())
    ),
    "all is NaN, as 0 times infinity is: the forbidden scores are filled with -inf, and no "
    "multiple of it is added": (lambda query, key, value, mask: value * math.nan),
    "softmax over the queries: each row, the last axis, has to sum to 1, not each column": (
        _masked(dim=-2)
    ),
    "a causal mask is laid over the one that is given, which alone decides": (
        _masked(change=torch.tril)
    ),
    "the mask is transposed: its rows are queries, its columns keys": (
        lambda query, key, value, mask: scaled_dot_product_attention(query, key, value, mask.mT)
    ),
    "the row that may attend to nothing is NaN: a softmax of -inf alone is 0 / 0": _masked(),
    "the row that may attend to nothing gets the average of all values": _masked(-1e30),
}


@exercise
def broken_layers(answer) -> str:
    """Check `test_attention(attention)`, which has to tell a right function from five broken ones.

    It is given functions `attention(query, key, value, mask=None)` on torch tensors that return
    output and weights. On a broken one it raises (an `assert` that fails, say) or returns False.
    """
    for name, layer in 3 * [*RIGHT_LAYERS.items()]:  # the test may draw its inputs at random
        accepted, calls, reason = _judgement(answer, layer)
        if not accepted:
            others = {fault: _judgement(answer, _broken(fault)) for fault in BROKEN_LAYERS}
            instead = [x for x, (taken, there, _) in others.items() if taken and max(_off(there))]
            hidden = [text for text in _hidden(calls) if "weight" in text]
            why = f"; on its inputs {', and '.join(hidden)}" * bool(hidden)
            if instead:
                why = f"; and it accepts what is broken: {'; '.join(instead)}"
            if len(instead) == 1:
                why = f"; it accepts what has this fault, as if its formula had it: {instead[0]}"
            raise Mistake(
                f"the test rejects a right function: {name} ({reason.partition(chr(10))[0]}){why}",
                f"{reason}\n{_shown(calls)}",
            )
    for name in 3 * [*BROKEN_LAYERS]:
        accepted, calls, _ = _judgement(answer, _broken(name))
        if accepted:
            others = (x for x in BROKEN_LAYERS if x != name and _judgement(answer, _broken(x))[0])
            names = "; ".join([name, *others])
            raise Mistake(
                f"the test lets {'these' if ';' in names else 'this'} pass: {names}; {_why(calls)}",
                f"{name}:\ntest_attention({GIVEN} {BROKEN_LAYERS[name]})\n{_shown(calls)}",
            )
    return "four right functions and five broken ones, three times each"


def _broken(name: str) -> Callable:
    return eval(f"{GIVEN} {BROKEN_LAYERS[name]}", globals())


def _judgement(test: Callable, layer: Callable) -> tuple[bool, list, str]:
    """Whether the learner's test accepts the layer, its calls and their results, why it did not."""
    calls = []

    def recorded(query, key, value, mask=None):
        calls.append(((query, key, value, mask), layer(query, key, value, mask)))
        return calls[-1][1]

    try:
        with calling("test_attention(attention)"), undisturbed():
            given = test(recorded)
            # False also as numpy and torch have it
            given = bool(given.all()) if isinstance(given, torch.Tensor | np.bool_) else given
            accepted, reason = given is not False, "it returned False"
    except AssertionError as error:
        accepted, reason = False, f"it raised AssertionError {where(error)}\n{error}"
    except Exception as error:
        if isinstance(raised := mistake_of(error, _shown(calls)), NotAttempted):
            raise raised from error
        accepted, reason = False, f"{raised.mistake}\n{raised.example}"
    return accepted, calls, reason


def _shown(calls: list) -> str:
    names = "query", "key", "value", "mask"
    lines = [
        "called with "
        + ", ".join(
            f"{name} {tuple(x.shape)}"
            for name, x in zip(names, given, strict=True)
            if x is not None
        )
        for given, _ in calls
    ]
    return "\n".join(dict.fromkeys(lines)) or "it never called the function"


def _why(calls: list) -> str:
    """Why a test has not seen a fault: what its inputs hide, or what it allows."""
    if not calls:
        return "it never calls the function"
    if max(apart := _off(calls)):
        what = ["output", "weights"][apart.index(max(apart))]
        return (
            f"on the test's inputs the first of them differs from a right one in its {what} by "
            f"up to {max(apart):.2g}, and the test does not mind: it looks at something else, its "
            "tolerance hides this, or it says nothing of what it finds (`assert`, or False)"
        )
    hidden = _hidden(calls)
    return (
        "on the test's inputs the first of them gives what a right function gives, so that no "
        f"comparison can tell{': ' * bool(hidden)}{', and '.join(hidden)}"
    )


def _off(calls: list) -> list[float]:
    """By how much outputs and weights differ from right ones; 0 if that may be rounding."""
    right = [scaled_dot_product_attention(*asked) for asked, _ in calls]
    off = [
        max(
            (_apart(given[i], wanted[i]) for (_, given), wanted in zip(calls, right, strict=True)),
            default=0.0,
        )
        for i in range(2)
    ]
    return off if max(off) > 1e-3 else [0.0, 0.0]


def _hidden(calls: list) -> list[str]:
    """What all inputs of a test have in common that hides faults."""
    weights = [scaled_dot_product_attention(*asked)[1] for asked, _ in calls]
    return [
        text
        for text, holds in HIDES.items()
        if calls and all(holds(*asked, w) for (asked, _), w in zip(calls, weights, strict=True))
    ]


def _apart(x: torch.Tensor, y: torch.Tensor) -> float:
    return (x - y).abs().nan_to_num(torch.inf).max().item() if x.numel() else 0.0


HIDES = {
    "there is one key only, whose weight is 1": lambda q, k, v, mask, weights: k.shape[-2] == 1,
    "the queries are one number wide, and the root of 1 is 1": lambda q, k, v, mask, weights: (
        q.shape[-1] == 1
    ),
    "all keys that a query sees have the same weight, with any scale": (
        lambda q, k, v, mask, weights: torch.allclose(
            weights, (1 if mask is None else mask) * weights.amax(-1, True)
        )
    ),
    "each query has one weight of 1, with any scale": lambda q, k, v, mask, weights: bool(
        (weights.amax(-1) > 0.999).all()
    ),
    "keys and values are the same": lambda q, k, v, mask, weights: torch.equal(k, v),
    "no mask is given": lambda q, k, v, mask, weights: mask is None,
}


def _by_einsum(query, key, value, mask=None):
    scores = torch.einsum("...td,...sd->...ts", query, key) / math.sqrt(query.shape[-1])
    mask = torch.ones_like(scores).bool() if mask is None else mask
    scores = scores.masked_fill(~mask, -math.inf)
    powers = torch.exp(scores - scores.amax(dim=-1, keepdim=True).clamp_min(-1e30))
    weights = powers / powers.sum(dim=-1, keepdim=True).clamp_min(1e-30)
    return torch.einsum("...ts,...sv->...tv", weights, value), weights


def _in_double_precision(query, key, value, mask=None):
    results = scaled_dot_product_attention(query.double(), key.double(), value.double(), mask)
    return tuple(x.to(query.dtype) for x in results)


def _plain_formula(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = scores.softmax(dim=-1)
    weights = weights.masked_fill(weights.isnan(), 0.0)
    return weights @ value, weights


RIGHT_LAYERS = {
    "the formula of the chapter": _plain_formula,
    "companion's, which rounds a little differently": scaled_dot_product_attention,
    "one that computes the softmax by hand": _by_einsum,
    "one that computes in float64 and rounds at the end": _in_double_precision,
}


GIVEN = "lambda query, key, value, mask=None:"
BROKEN_LAYERS = {
    "no scaling": "scaled_dot_product_attention(query, key, value, mask, scale=1.0)",
    "scaling by d_k": (
        "scaled_dot_product_attention(query, key, value, mask, scale=1 / query.shape[-1])"
    ),
    "softmax over the queries": (
        "((weights := (query @ key.mT / query.shape[-1] ** 0.5"
        " + (0 if mask is None else mask.float().log())).softmax(dim=-2)) @ value, weights)"
    ),
    "values and keys swapped": "scaled_dot_product_attention(query, value, key, mask)",
    "mask inverted": (
        "scaled_dot_product_attention(query, key, value, None if mask is None else ~mask)"
    ),
}
