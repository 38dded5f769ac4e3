"""Checks for the exercises of book/self_attention.ipynb."""

import math
from collections.abc import Callable

import numpy as np
import torch

from companion.checks.exercise import (
    Mistake,
    NotAttempted,
    call,
    close,
    compare,
    exercise,
    show,
    where,
)
from companion.checks.undisturbed import undisturbed
from companion.nn import causal_mask, scaled_dot_product_attention


@exercise
def attention(answer) -> str:
    """Check `attention(query, key, value)` in NumPy: the output, or output and weights.

    query is (T, d_k), key (S, d_k), value (S, d_v).
    """
    cases = [
        _numpy_case([[1, 2], [0, 1]], [[1, 0], [0.5, 1]], [[3, 0], [1, 4]]),
        _numpy_case([[1, 0, 2]], [[0.5, 1, 1], [1, 2, 0]], [[1], [5]]),  # T, S, d_k, d_v = 1 2 3 1
        _numpy_case([[1, 1], [2, 0], [0, 3]], [[1, 0], [0, 1]], [[1, 2, 0], [0, 4, 5]]),
        _random_numpy_case(T=3, S=5, d_k=7, d_v=2),
    ]
    compare(answer, cases, _attention_by_torch, ATTENTION_MISTAKES, kind=np.ndarray, optional=1)
    large = _numpy_case([[1000, 0], [-1000, 0]], [[1, 0], [2, 1]], [[3, 0], [1, 4]])
    compare(
        answer, [large], _attention_by_torch, LARGE_SCORES_MISTAKES, kind=np.ndarray, optional=1
    )
    return "square and other shapes, one query, random numbers, and scores of 1000 and -1000"


def _numpy_case(query, key, value) -> dict:
    arrays = (np.array(x, dtype=np.float64) for x in (query, key, value))
    return dict(zip(("query", "key", "value"), arrays, strict=True))


def _random_numpy_case(*, T: int, S: int, d_k: int, d_v: int) -> dict:
    random = np.random.default_rng(0)
    return _numpy_case(*(random.normal(size=shape) for shape in ((T, d_k), (S, d_k), (S, d_v))))


def _attention_by_torch(query, key, value) -> tuple[np.ndarray, np.ndarray]:
    tensors = (torch.from_numpy(x) for x in (query, key, value))
    output, weights = scaled_dot_product_attention(*tensors)
    return output.numpy(), weights.numpy()


def _numpy_variant(scale=lambda query, value: query.shape[-1] ** -0.5, weigh=None) -> Callable:
    """Attention in NumPy with another scale, or another way from scores to weights."""

    def variant(query, key, value):
        weights = (weigh or _softmax)(query @ key.T * scale(query, value))
        return weights @ value, weights

    return variant


def _softmax(scores, axis=-1):
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def _over_queries(scores):
    return _softmax(scores, axis=0)


def _over_everything(scores):
    return _softmax(scores, axis=None)


def _no_maximum(scores):
    return np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)


def _one_maximum(scores):
    powers = np.exp(scores - scores.max())
    return powers / powers.sum(axis=-1, keepdims=True)


def _sums_of_columns(scores):
    return np.exp(scores) / np.exp(scores).sum(axis=-1)


def _no_keepdims(scores):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1)


def _hard_choice(scores):
    return np.eye(scores.shape[-1])[scores.argmax(axis=-1)]


def _not_normalised(scores):
    return np.exp(scores)


def _no_exponential(scores):
    return scores / scores.sum(axis=-1, keepdims=True)


OVER_QUERIES = "softmax over the queries: each row, the last axis, has to sum to 1, not each column"
NO_SCALE = "the scores are not scaled: divide them by the square root of d_k before the softmax"
BY_D_K = "the scores are divided by d_k; divide them by its square root"
MASK_INVERTED = "the mask is inverted: True means 'may attend'"

ATTENTION_MISTAKES = {
    NO_SCALE: _numpy_variant(lambda query, value: 1.0),
    BY_D_K: _numpy_variant(lambda query, value: 1 / query.shape[-1]),
    "the scores are multiplied by the square root of d_k; divide them by it": _numpy_variant(
        lambda query, value: query.shape[-1] ** 0.5
    ),
    "the scores are divided by the square root of d_v, the width of a value; "
    "d_k is the width of a query and a key": _numpy_variant(
        lambda query, value: value.shape[-1] ** -0.5
    ),
    "the scores are divided by the square root of T, the number of queries; "
    "d_k is their width": _numpy_variant(lambda query, value: len(query) ** -0.5),
    "the scores are divided by the square root of S, the number of keys; "
    "d_k is their width": _numpy_variant(lambda query, value: len(value) ** -0.5),
    OVER_QUERIES: _numpy_variant(weigh=_over_queries),
    "softmax over the whole matrix: each row has to sum to 1 by itself": _numpy_variant(
        weigh=_over_everything
    ),
    "the sums of the rows lose an axis and divide the columns: sum with keepdims=True": (
        _numpy_variant(weigh=_sums_of_columns)
    ),
    "the sums of the rows lose an axis and divide the columns: keepdims=True for the sum, too": (
        _numpy_variant(weigh=_no_keepdims)
    ),
    "each query takes the value of its best key only: blend all values, by softmax": (
        _numpy_variant(weigh=_hard_choice)
    ),
    "the exponentials are not divided by their sum": _numpy_variant(weigh=_not_normalised),
    "the scores are divided by their sum, without an exponential": (
        _numpy_variant(weigh=_no_exponential)
    ),
    "the keys are not transposed: a score is the product of a row of query and a row of key": (
        lambda query, key, value: _attention_by_torch(query, key.T, value)
    ),
    "the weights are transposed before they meet the values: row i holds the weights of query i": (
        lambda query, key, value: (_attention_by_torch(query, key, value)[1].T @ value,)
    ),
    "the square root of d_k divides the weights, after the softmax; divide the scores, before it": (
        lambda query, key, value: _numpy_variant(lambda *_: 1.0)(
            query, key, value / query.shape[-1] ** 0.5
        )[:1]
    ),
    "key and value have changed places: compare with the keys, average the values": (
        lambda query, key, value: _attention_by_torch(query, value, key)
    ),
    "query and key have changed places": lambda query, key, value: _attention_by_torch(
        key, query, value
    ),
    "the weights were returned, the output was expected first": (
        lambda query, key, value: _attention_by_torch(query, key, value)[::-1]
    ),
}
LARGE_SCORES_MISTAKES = {
    "np.exp overflows where scores are large: subtract each row's maximum first": (
        _numpy_variant(weigh=_no_maximum)
    ),
    "one maximum is subtracted from all rows, and rows far below it become 0/0: "
    "subtract each row's own": _numpy_variant(weigh=_one_maximum),
}


@exercise
def masked_attention(answer) -> str:
    """Check `masked_attention(query, key, value, mask)` in torch: output, or output and weights.

    query is (T, d_k), key (S, d_k), value (S, d_v), mask boolean (T, S) with True for "may attend".
    """
    query, key, value = torch.tensor([[[1.0, 2], [0, 1]], [[1, 0], [0.5, 1]], [[3, 0], [1, 4]]])
    wide = [torch.randn(size, dtype=torch.float64) for size in ((3, 7), (5, 7), (5, 2))]
    cases = [
        {"query": query, "key": key, "value": value, "mask": torch.ones(2, 2, dtype=torch.bool)},
        {"query": query, "key": key, "value": value, "mask": causal_mask(2)},
        dict(zip(("query", "key", "value", "mask"), [*wide, causal_mask(3, 5)], strict=True)),
    ]
    compare(answer, cases, scaled_dot_product_attention, MASK_MISTAKES, optional=1)
    nobody = {**cases[0], "mask": torch.tensor([[True, False], [False, False]])}
    compare(answer, [nobody], scaled_dot_product_attention, EMPTY_ROW_MISTAKES, optional=1)
    low = {**cases[1], "query": 200 * query, "key": -key}
    compare(answer, [low], scaled_dot_product_attention, {}, otherwise=FILL_TOO_HIGH, optional=1)
    for case in [*cases, nobody, low]:
        _check_gradients(answer, case)
    return "full, causal and empty rows, T different from S, scores far below 0, and all gradients"


def _check_gradients(answer, case: dict) -> None:
    slopes = [_slopes(function, case) for function in (answer, scaled_dot_product_attention)]
    for name, slope, expected in zip(("query", "key", "value"), *slopes, strict=True):
        if slope is None:
            raise Mistake(f"no gradient reaches {name}: something detaches it", show(case))
        compared = f"{show(case)}\n{show({'expected gradient': expected, 'yours': slope})}"
        if not slope.isfinite().all():
            raise Mistake(
                f"the gradient of {name} is not finite: a row of -inf went into the softmax, "
                "and mending its NaN afterwards does not mend the gradient",
                compared,
            )
        if not close(slope, expected):
            raise Mistake(f"the output is right, but the gradient of {name} is not", compared)


def _slopes(function: Callable, case: dict) -> tuple:
    """The gradients of the sum of the squared output for query, key and value."""
    leaves = {name: x.clone().requires_grad_(name != "mask") for name, x in case.items()}
    output = call(function, **leaves)
    output = output[0] if isinstance(output, tuple | list) else output
    if not output.requires_grad:
        return None, None, None
    inputs = [leaves[name] for name in ("query", "key", "value")]
    try:
        return torch.autograd.grad(output.square().sum(), inputs, allow_unused=True)
    except RuntimeError as error:
        raise Mistake(
            "the output is right, but its gradient cannot be computed: was something that the "
            "backward pass needs overwritten in place?",
            f"{show(case)}\n{error}",
        ) from error


def _masked_variant(fill: float, *, after: bool = False) -> Callable:
    """Masked attention that fills with a number, before the softmax or after it."""

    def variant(query, key, value, mask):
        scores = query @ key.T / math.sqrt(key.shape[-1])
        if after:
            weights = scores.softmax(dim=-1).masked_fill(~mask, fill)
        else:
            weights = scores.masked_fill(~mask, fill).softmax(dim=-1)
        return weights @ value, weights

    return variant


def _added_infinity(query, key, value, mask):
    weights = (query @ key.T / math.sqrt(key.shape[-1]) - ~mask * math.inf).softmax(dim=-1)
    return weights @ value, weights


def _masked_then_scaled_by(scale: Callable) -> Callable:
    return lambda query, key, value, mask: scaled_dot_product_attention(
        query, key, value, mask, scale=scale(key.shape[-1])
    )


def _softmax_over_queries(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = scores.softmax(dim=-2)
    return weights @ value, weights


FILL_TOO_HIGH = (
    "what is forbidden still gets weight where the allowed scores are low: the number that marks "
    "it is not far enough below them; use -inf"
)
MASK_MISTAKES = {
    MASK_INVERTED: lambda query, key, value, mask: scaled_dot_product_attention(
        query, key, value, ~mask
    ),
    f"{MASK_INVERTED}; and a row without any True gives NaN": (
        lambda query, key, value, mask: _masked_variant(-math.inf)(query, key, value, ~mask)
    ),
    "the mask is transposed: its rows are queries, its columns keys": (
        lambda query, key, value, mask: scaled_dot_product_attention(query, key, value, mask.T)
    ),
    "all is NaN, even where nothing is forbidden: 0 times infinity is NaN, so fill the forbidden "
    "scores instead of adding a multiple of -inf": _added_infinity,
    "the mask has no effect: forbidden keys are still looked at": (
        lambda query, key, value, mask: scaled_dot_product_attention(query, key, value)
    ),
    "forbidden scores are set to 0, and the exponential of 0 is 1: use -inf": _masked_variant(0.0),
    FILL_TOO_HIGH: _masked_variant(-10.0),
    "the mask is applied after the softmax, so that rows no longer sum to 1": _masked_variant(
        0.0, after=True
    ),
    NO_SCALE: _masked_then_scaled_by(lambda d_k: 1.0),
    BY_D_K: _masked_then_scaled_by(lambda d_k: 1 / d_k),
    OVER_QUERIES: _softmax_over_queries,
    "the mask is ignored: it is always causal": (
        lambda query, key, value, mask: scaled_dot_product_attention(
            query, key, value, is_causal=True
        )
    ),
}
EMPTY_ROW_MISTAKES = {
    "a row that may attend to nothing gives NaN; it should give zeros": _masked_variant(-math.inf),
    "a row that may attend to nothing gives the average of all values; it should give zeros": (
        _masked_variant(-1e9)
    ),
}


@exercise
def broken_layers(answer) -> str:
    """Check `test_attention(attention)`, which has to tell a right function from five broken ones.

    It is given functions `attention(query, key, value, mask=None)` on torch tensors that return
    output and weights. On a broken one it raises (an `assert` that fails, say) or returns False.
    """
    for name, layer in 3 * [*RIGHT_LAYERS.items()]:  # the test may draw its inputs at random
        accepted, called, reason = _judgement(answer, layer)
        if not accepted:
            raise Mistake(f"the test rejects a right function: {name}", f"{reason}\n{called}")
    passed = {}
    for name, layer in 3 * [*BROKEN_LAYERS.items()]:
        accepted, called, _ = _judgement(answer, layer)
        if accepted:
            passed.setdefault(name, called)
    if passed:
        names = [name for name in BROKEN_LAYERS if name in passed]
        raise Mistake(
            f"the test lets {'these' if len(names) > 1 else 'this'} pass: {'; '.join(names)}",
            f"{names[0]}:\n{passed[names[0]]}",
        )
    return "four right functions and five broken ones, three times each"


def _judgement(test: Callable, layer: Callable) -> tuple[bool, str, str]:
    """Whether the learner's test accepts the layer, what it called it with, why it did not."""
    calls = []

    def recorded(query, key, value, mask=None):
        shapes = {"query": query, "key": key, "value": value, "mask": mask}
        given = (f"{name} {tuple(x.shape)}" for name, x in shapes.items() if x is not None)
        calls.append(f"called with {', '.join(given)}")
        output, weights = layer(query, key, value, mask)
        if weights.numel():
            calls[-1] += f"; each query's largest weight is {weights.amax(-1).min():.2f} or more"
        return output, weights

    try:
        with undisturbed():
            accepted, reason = test(recorded) is not False, "it returned False"
    except NotImplementedError as error:
        raise NotAttempted from error
    except Exception as error:
        accepted, reason = False, f"it raised {type(error).__name__} {where(error)}"
    return accepted, "\n".join(dict.fromkeys(calls)) or "it never called the function", reason


def _by_einsum(query, key, value, mask=None):
    scores = torch.einsum("...td,...sd->...ts", query, key) / math.sqrt(query.shape[-1])
    mask = torch.ones_like(scores).bool() if mask is None else mask
    powers = torch.exp(scores - scores.amax(dim=-1, keepdim=True)) * mask
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
    "one that computes the softmax by hand, with other rounding": _by_einsum,
    "one that computes in float64 and rounds at the end": _in_double_precision,
}


BROKEN_LAYERS = {
    "no scaling": lambda query, key, value, mask=None: scaled_dot_product_attention(
        query, key, value, mask, scale=1.0
    ),
    "scaling by d_k": lambda query, key, value, mask=None: scaled_dot_product_attention(
        query, key, value, mask, scale=1 / query.shape[-1]
    ),
    "softmax over the queries": _softmax_over_queries,
    "values and keys swapped": lambda query, key, value, mask=None: scaled_dot_product_attention(
        query, value, key, mask
    ),
    "mask inverted": lambda query, key, value, mask=None: scaled_dot_product_attention(
        query, key, value, None if mask is None else ~mask
    ),
}
