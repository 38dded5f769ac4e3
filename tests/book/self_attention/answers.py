"""Answers to the exercises of book/self_attention.ipynb."""

import math
import warnings

import numpy as np
import torch
import torch.nn.functional as F

from book.self_attention.checks import attention, broken_layers, masked_attention
from companion.nn import causal_mask, scaled_dot_product_attention
from tests.book.answers import right, wrong

# The four steps in NumPy


def softmax(x, axis=-1):
    x = np.exp(x - x.max(axis=axis, keepdims=True))
    return x / x.sum(axis=axis, keepdims=True)


@right(attention)
def four_steps(query, key, value):
    weights = softmax(query @ key.T / np.sqrt(query.shape[1]))
    return weights @ value


@right(attention)
def einsum_with_weights(query, key, value):
    scores = np.einsum("td,sd->ts", query, key) / np.sqrt(key.shape[-1])
    weights = softmax(scores)
    return np.einsum("ts,sv->tv", weights, value), weights


@right(attention)
def query_by_query_in_float32(query, key, value):
    rows = []
    for q in query.astype(np.float32):
        scores = np.array([q @ k for k in key.astype(np.float32)]) / np.float32(len(q) ** 0.5)
        powers = np.exp(scores - max(scores))
        rows.append(sum(p * v for p, v in zip(powers, value, strict=True)) / powers.sum())
    return np.array(rows, dtype=np.float32)


@wrong(attention, "if `key` and `value` had changed places")
def key_and_value_swapped(query, key, value):
    return softmax(query @ value.T / np.sqrt(query.shape[-1])) @ key


@right(attention)
def in_torch(query, key, value):
    return scaled_dot_product_attention(*map(torch.from_numpy, (query, key, value)))[0]


# Mask it


@right(masked_attention)
def level_then_empty(query, key, value, mask):
    scores = query @ key.T / math.sqrt(key.shape[-1])
    empty = ~mask.any(dim=-1, keepdim=True)
    scores = scores.masked_fill(~mask, -torch.inf).masked_fill(empty, 0.0)
    weights = scores.softmax(dim=-1).masked_fill(empty, 0.0)
    return weights @ value, weights


@right(masked_attention)
def finite_fill_then_empty(query, key, value, mask):
    scores = torch.einsum("td,sd->ts", query, key) / key.shape[-1] ** 0.5
    weights = torch.where(mask, scores, torch.finfo(scores.dtype).min).softmax(dim=-1)
    return torch.where(mask.any(dim=-1, keepdim=True), weights @ value, 0.0)


@right(masked_attention)
def fill_of_ten_thousand_times_mask(query, key, value, mask):
    scores = query @ key.T / math.sqrt(key.shape[-1]) - 1e4 * ~mask
    return (scores.softmax(-1) * mask) @ value


@right(masked_attention)
def only_the_rows_that_see(query, key, value, mask):
    output = value.new_zeros(len(query), value.shape[-1])
    some = mask.any(dim=-1)
    output[some] = F.scaled_dot_product_attention(query[some], key, value, mask[some])
    return output


@right(masked_attention)
def nan_to_num_of_filled_scores(query, key, value, mask):
    """The gradient of masked_fill is 0 where it fills, so that no NaN gets through."""
    scores = query @ key.T / math.sqrt(key.shape[-1])
    return scores.masked_fill(~mask, -torch.inf).softmax(dim=-1).nan_to_num(0.0) @ value


@wrong(masked_attention, "gradients reach query, key and value")
def stops_the_gradient_of_the_keys_halfway(query, key, value, mask):
    return level_then_empty(query, (key + key.detach()) / 2, value, mask)


# Find the broken layer


def by_hand(query, key, value, mask=None):
    scores = query @ key.T / math.sqrt(key.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return scores.softmax(dim=-1) @ value


def inputs(T=2, S=3, d_k=5, d_v=7):
    return torch.randn(T, d_k), torch.randn(S, d_k), torch.randn(S, d_v)


@right(broken_layers)
def against_my_own(attention):
    query, key, value = inputs()
    mask = torch.ones(2, 3).tril().bool()
    warnings.warn("an old function somewhere in the test", DeprecationWarning, stacklevel=1)
    for given in (None, mask):
        expected = by_hand(query, key, value, given)
        torch.testing.assert_close(attention(query, key, value, given)[0], expected)


@right(broken_layers)
def says_false(attention):
    query, key, value = inputs()
    mask = torch.tensor([[True, False, True], [True, True, False]])
    expected = F.scaled_dot_product_attention(query, key, value, mask)
    try:
        output, _ = attention(query, key, value, mask)
    except RuntimeError:
        return False
    return bool((output - expected).abs().max() < 1e-4)


@right(broken_layers)
def says_false_as_a_tensor(attention):
    query, key, value = inputs()
    mask = torch.tensor([[True, False, True], [True, True, False]])
    expected = F.scaled_dot_product_attention(query, key, value, mask)
    return (attention(query, key, value, mask)[0] - expected).abs().max() < 1e-4


@right(broken_layers)
def by_its_properties(attention):
    query, key, value = torch.tensor([[2.0, 0, 0, 0]]), torch.eye(4)[:2], torch.tensor([[1.0], [0]])
    output, weights = attention(query, key, value)
    assert weights.shape == (1, 2) and abs(weights.sum() - 1) < 1e-5
    assert abs(output.item() - math.e / (1 + math.e)) < 1e-5  # the score is 2 / sqrt(4)
    _, weights = attention(query, key, value, torch.tensor([[True, False]]))
    assert weights.tolist() == [[1, 0]]


@wrong(broken_layers, "lets these pass: no scaling; scaling by d_k; ")
def shapes_only(attention):
    output, weights = attention(*inputs(3, 3, 4, 4))
    assert output.shape == (3, 4) and weights.shape == (3, 3)


@wrong(broken_layers, "each query has one weight of 1")
def scores_in_the_thousands(attention):
    torch.manual_seed(0)
    query, key, value = 1000 * torch.randn(5, 4), torch.randn(5, 4), torch.randn(5, 4)
    scores = (query @ key.T / 2).masked_fill(~causal_mask(5), -torch.inf)
    output, _ = attention(query, key, value, causal_mask(5))
    assert torch.allclose(output, scores.softmax(-1) @ value, atol=1e-3)


@wrong(broken_layers, "lets this pass: mask inverted")
def a_mask_now_and_then(attention):
    query, key, value = inputs()
    mask = torch.tensor([[True, False, True], [True, True, False]])
    given = mask if torch.rand(()) < 0.5 else None
    expected = by_hand(query, key, value, given)
    assert torch.allclose(attention(query, key, value, given)[0], expected, atol=1e-5)


@wrong(broken_layers, "lets this pass: mask inverted")
def no_mask(attention):
    query, key, value = inputs()
    assert torch.allclose(attention(query, key, value)[0], by_hand(query, key, value), atol=1e-5)


@wrong(broken_layers, "so that no comparison can tell: no mask is given")
def a_batch_of_one_text(attention):
    query, key, value = (x[None] for x in inputs(3, 5, 6, 6))
    expected = F.scaled_dot_product_attention(query, key, value)
    assert torch.allclose(attention(query, key, value)[0], expected, atol=1e-5)


@wrong(broken_layers, "and it accepts what is broken: no scaling; scaling by d_k; ")
def the_other_way_round(attention):
    query, key, value = inputs()
    expected = by_hand(query, key, value, causal_mask(2, 3))
    assert not torch.allclose(attention(query, key, value, causal_mask(2, 3))[0], expected)


@wrong(broken_layers, "pass: no scaling; scaling by d_k; values and keys swapped; mask inverted")
def only_sums_of_rows(attention):
    _, weights = attention(*inputs(3, 3, 4, 4))
    assert torch.allclose(weights.sum(-1), torch.ones(3))


@wrong(broken_layers, "no scaling; scaling by d_k; softmax over the queries")
def forgot_to_assert(attention):
    query, key, value = inputs()
    torch.allclose(attention(query, key, value)[0], by_hand(query, key, value))


@wrong(broken_layers, "these pass: no scaling; scaling by d_k")
def width_of_one(attention):
    query, key, value = inputs(d_k=1)
    mask = torch.tensor([[True, False, True], [True, True, False]])
    output = attention(query, key, value, mask)[0]
    assert torch.allclose(output, by_hand(query, key, value, mask), atol=1e-5)
    sharp = attention(*inputs(1, 3, 4, 7))[1]
    assert sharp.shape == (1, 3)


@wrong(broken_layers, "rejects a right function: companion's, which rounds")
def equal_to_the_last_bit(attention):
    query, key, value = inputs(11, 13, 17, 19)
    assert torch.equal(attention(query, key, value)[0], by_hand(query, key, value))


@wrong(broken_layers, "rejects a right function")
def wrong_itself(attention):
    query, key, value = inputs()
    assert torch.allclose(attention(query, key, value)[0], (query @ key.T).softmax(-1) @ value)


@wrong(broken_layers, "rejects a right function")
def says_false_always(attention):
    return False
