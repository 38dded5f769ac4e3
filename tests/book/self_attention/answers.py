"""Answers to the exercises of book/self_attention.ipynb."""

import math
import warnings

import numpy as np
import torch
import torch.nn.functional as F

from book.self_attention.checks import attention, broken_layers, masked_attention
from companion.nn import causal_mask, scaled_dot_product_attention
from tests.book.answers import right, wrong

# 1. The four steps in NumPy


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


@right(attention)
def scaled_queries(query, key, value):
    weights = softmax((key @ (query / query.shape[-1] ** 0.5).T).T, axis=1)
    return (value.T @ weights.T).T


@wrong(attention, "not scaled")
def no_scale(query, key, value):
    return softmax(query @ key.T) @ value


@wrong(attention, "divided by d_k; divide them by its square root")
def divided_by_d_k(query, key, value):
    return softmax(query @ key.T / query.shape[-1]) @ value


@wrong(attention, "multiplied by the square root")
def multiplied_by_root(query, key, value):
    return softmax(query @ key.T * np.sqrt(query.shape[-1])) @ value


@wrong(attention, "the width of a value")
def root_of_d_v(query, key, value):
    return softmax(query @ key.T / np.sqrt(value.shape[-1])) @ value


@wrong(attention, "square root of the number of queries")
def root_of_the_number_of_queries(query, key, value):
    return softmax(query @ key.T / np.sqrt(len(query))) @ value


@wrong(attention, "the number of keys")
def root_of_the_number_of_keys(query, key, value):
    return softmax(query @ key.T / np.sqrt(key.shape[0])) @ value


@wrong(attention, "softmax over the queries")
def softmax_over_queries(query, key, value):
    weights = softmax(query @ key.T / np.sqrt(query.shape[-1]), axis=0)
    return weights @ value, weights


@wrong(attention, "softmax over the whole matrix")
def softmax_over_everything(query, key, value):
    scores = np.exp(query @ key.T / np.sqrt(query.shape[-1]))
    return scores / scores.sum() @ value


@wrong(attention, "keepdims=True")
def sums_without_keepdims(query, key, value):
    scores = np.exp(query @ key.T / np.sqrt(query.shape[-1]))
    return scores / scores.sum(axis=-1) @ value


@wrong(attention, "keepdims=True")
def only_the_maximum_with_keepdims(query, key, value):
    scores = query @ key.T / np.sqrt(query.shape[-1])
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return scores / scores.sum(axis=-1) @ value


@wrong(attention, "large scores must not overflow")
def overflow(query, key, value):
    scores = np.exp(query @ key.T / np.sqrt(query.shape[-1]))
    return scores / scores.sum(axis=-1, keepdims=True) @ value


@wrong(attention, "subtracted is each row's own")
def one_maximum_for_all(query, key, value):
    scores = query @ key.T / np.sqrt(query.shape[-1])
    scores = np.exp(scores - scores.max())
    return scores / scores.sum(axis=-1, keepdims=True) @ value


@wrong(attention, "its best key only")
def hard_choice(query, key, value):
    return value[(query @ key.T).argmax(axis=-1)]


@wrong(attention, "the weights of a query sum to 1")
def forgot_the_sum(query, key, value):
    return np.exp(query @ key.T / np.sqrt(query.shape[-1])) @ value


@wrong(attention, "are not divided by their sum")
def forgot_the_sum_of_small_powers(query, key, value):
    scores = query @ key.T / np.sqrt(query.shape[-1])
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights @ value, weights


@wrong(attention, "are divided by the sum of the whole matrix")
def one_sum_for_all(query, key, value):
    scores = query @ key.T / np.sqrt(query.shape[-1])
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum() @ value


@wrong(attention, "the scores themselves are the weights")
def forgot_the_softmax(query, key, value):
    return query @ key.T / np.sqrt(query.shape[-1]) @ value


@wrong(attention, "these are powers of 2")
def powers_of_2(query, key, value):
    powers = 2 ** (query @ key.T / np.sqrt(query.shape[-1]))
    return powers / powers.sum(axis=-1, keepdims=True) @ value


@wrong(attention, "as in a cosine")
def cosines(query, key, value):
    query = query / np.sqrt((query**2).sum(axis=1, keepdims=True))
    key = key / np.sqrt((key**2).sum(axis=1, keepdims=True))
    return softmax(query @ key.T / np.sqrt(query.shape[1])) @ value


@wrong(attention, "without an exponential")
def forgot_the_exponential(query, key, value):
    scores = query @ key.T / np.sqrt(query.shape[-1])
    return scores / scores.sum(axis=-1, keepdims=True) @ value


@wrong(attention, "key and value have changed places")
def key_and_value_swapped(query, key, value):
    return softmax(query @ value.T / np.sqrt(query.shape[-1])) @ key


@wrong(attention, "the weights are transposed")
def transposed_weights(query, key, value):
    return softmax(query @ key.T / np.sqrt(query.shape[-1])).T @ value


@wrong(attention, "divides the weights, after the softmax")
def scaled_after_softmax(query, key, value):
    return softmax(query @ key.T) / np.sqrt(query.shape[-1]) @ value


@wrong(attention, "query and key have changed places")
def query_and_key_swapped(query, key, value):
    return softmax(key @ query.T / np.sqrt(query.shape[-1])) @ value


@wrong(attention, "weights were returned first")
def weights_first(query, key, value):
    weights = softmax(query @ key.T / np.sqrt(query.shape[-1]))
    return weights, weights @ value


@wrong(attention, "it raised ValueError: matmul")
def right_on_square_inputs_only(query, key, value):
    T = len(query)
    scores = np.array([[query[i] @ key[j] for j in range(T)] for i in range(T)])
    return softmax(scores / np.sqrt(query.shape[-1])) @ value


@wrong(attention, "expected (3, 2)")
def output_as_wide_as_the_query(query, key, value):
    output = np.zeros_like(query)
    output[:, : value.shape[1]] = four_steps(query, key, value)
    return output


@wrong(attention, "the keys are not transposed")
def forgot_to_transpose(query, key, value):
    return softmax(query @ key / np.sqrt(query.shape[-1])) @ value


@wrong(attention, "it changes its input query")
def scales_in_place(query, key, value):
    query /= np.sqrt(query.shape[-1])
    return softmax(query @ key.T) @ value


@right(attention)
def in_torch(query, key, value):
    return scaled_dot_product_attention(*map(torch.from_numpy, (query, key, value)))[0]


@wrong(attention, "it returned None")
def no_return(query, key, value):
    softmax(query @ key.T / np.sqrt(query.shape[-1])) @ value


@wrong(attention, "expected (1, 1)")
def one_column(query, key, value):
    return (softmax(query @ key.T / np.sqrt(query.shape[-1])) @ value)[:, 0]


@wrong(attention, "divided by the square root of d_k = 4")
def temperature_of_100(query, key, value):
    return softmax(query @ key.T / 100) @ value


@wrong(attention, "it returned 3 results")
def everything_it_has(query, key, value):
    scores = query @ key.T / np.sqrt(query.shape[-1])
    return softmax(scores) @ value, softmax(scores), scores


@wrong(attention, "with one key")
def rounded(query, key, value):
    return (softmax(query @ key.T / np.sqrt(query.shape[-1])) @ value).astype(int)


# 2. Mask it


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
def by_hand_with_a_safe_sum(query, key, value, mask):
    scores = query @ key.T / math.sqrt(key.shape[-1])
    largest = scores.masked_fill(~mask, -1e30).amax(-1, keepdim=True).detach()
    powers = torch.exp((scores - largest).masked_fill(~mask, -1e30))
    total = powers.sum(-1, keepdim=True)
    weights = powers * mask / torch.where(total > 0, total, 1.0)
    return weights @ value, weights


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


@wrong(masked_attention, "inplace operation")
def weights_mended_in_place(query, key, value, mask):
    scores = query @ key.T / math.sqrt(key.shape[-1])
    weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)
    weights[weights.isnan()] = 0.0
    return weights @ value


@wrong(masked_attention, "the gradients are finite too")
def nan_to_num_of_added_scores(query, key, value, mask):
    bias = torch.zeros_like(mask, dtype=query.dtype).masked_fill(~mask, -torch.inf)
    scores = query @ key.T / math.sqrt(key.shape[-1]) + bias
    return scores.softmax(dim=-1).nan_to_num(0.0) @ value


@wrong(masked_attention, "0 times infinity is NaN")
def infinity_times_mask(query, key, value, mask):
    scores = query @ key.T / math.sqrt(key.shape[-1]) + ~mask * -torch.inf
    return scores.softmax(dim=-1) @ value


@wrong(masked_attention, "added to the scores as 0 and 1")
def mask_added(query, key, value, mask):
    return (query @ key.T / math.sqrt(key.shape[-1]) + mask).softmax(dim=-1) @ value


@wrong(masked_attention, "a causal mask is laid over")
def causal_too(query, key, value, mask):
    return level_then_empty(query, key, value, mask & torch.ones_like(mask).tril())


@wrong(masked_attention, "the mask is transposed")
def transposed_mask(query, key, value, mask):
    return level_then_empty(query, key, value, mask.T)


@wrong(masked_attention, "gradients reach query, key and value")
def stops_the_gradient_of_the_keys_halfway(query, key, value, mask):
    return level_then_empty(query, (key + key.detach()) / 2, value, mask)


def filled(query, key, value, mask, fill):
    scores = query @ key.T / math.sqrt(key.shape[-1])
    return scores.masked_fill(~mask, fill).softmax(dim=-1) @ value


@wrong(masked_attention, "the mask is inverted: True")
def torch_multihead_polarity(query, key, value, mask):
    return level_then_empty(query, key, value, ~mask)


@wrong(masked_attention, "the mask is inverted: True")
def inverted_and_nan(query, key, value, mask):
    return filled(query, key, value, ~mask, -torch.inf)


@wrong(masked_attention, "the mask has no effect")
def fill_forgotten(query, key, value, mask):
    scores = query @ key.T / math.sqrt(key.shape[-1])
    scores.masked_fill(~mask, -torch.inf)
    return scores.softmax(dim=-1) @ value


@wrong(masked_attention, "exponential of 0 is 1")
def times_mask_before_softmax(query, key, value, mask):
    return (query @ key.T / math.sqrt(key.shape[-1]) * mask).softmax(dim=-1) @ value


@wrong(masked_attention, "applied after the softmax")
def times_mask_after_softmax(query, key, value, mask):
    return ((query @ key.T / math.sqrt(key.shape[-1])).softmax(dim=-1) * mask) @ value


@wrong(masked_attention, "the row that may attend to nothing is NaN")
def empty_row_is_nan(query, key, value, mask):
    return filled(query, key, value, mask, -torch.inf)


@wrong(masked_attention, "gets the average of all values")
def empty_row_is_average(query, key, value, mask):
    return filled(query, key, value, mask, -1e9)


@wrong(masked_attention, "the gradients are finite too")
def nan_mended_too_late(query, key, value, mask):
    output = filled(query, key, value, mask, -torch.inf)
    return torch.where(output.isnan(), 0.0, output)


@wrong(masked_attention, "has no weight at all")
def fill_of_minus_ten(query, key, value, mask):
    output = filled(query, key, value, mask, -10.0)
    return output * mask.any(dim=-1, keepdim=True)


@wrong(masked_attention, "use -inf")
def fill_of_minus_one_hundred(query, key, value, mask):
    output = filled(query, key, value, mask, -100.0)
    return output * mask.any(dim=-1, keepdim=True)


@wrong(masked_attention, "not scaled")
def mask_without_scale(query, key, value, mask):
    return level_then_empty(query * math.sqrt(key.shape[-1]), key, value, mask)


@wrong(masked_attention, "divided by d_k")
def mask_with_d_k(query, key, value, mask):
    return level_then_empty(query / math.sqrt(key.shape[-1]), key, value, mask)


@wrong(masked_attention, "softmax over the queries")
def mask_over_queries(query, key, value, mask):
    scores = query @ key.T / math.sqrt(key.shape[-1])
    weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=0)
    return torch.where(weights.isnan(), 0.0, weights) @ value


@wrong(masked_attention, "always causal")
def always_causal(query, key, value, mask):
    return level_then_empty(query, key, value, torch.ones_like(mask).tril(len(key) - len(query)))


@wrong(masked_attention, "changes its input mask")
def inverts_the_mask_in_place(query, key, value, mask):
    scores = query @ key.T / math.sqrt(key.shape[-1])
    empty = ~mask.any(dim=-1, keepdim=True)
    scores = scores.masked_fill(mask.logical_not_(), -torch.inf).masked_fill(empty, 0.0)
    return scores.softmax(dim=-1).masked_fill(empty, 0.0) @ value


@wrong(masked_attention, "gradients reach")
def without_gradient(query, key, value, mask):
    with torch.no_grad():
        return level_then_empty(query, key, value, mask)


@wrong(masked_attention, "gradients reach")
def detached_weights(query, key, value, mask):
    return level_then_empty(query, key, value, mask)[1].detach() @ value


@wrong(masked_attention, "it raised RuntimeError: Can't call numpy")
def in_numpy(query, key, value, mask):
    scores = query.numpy() @ key.numpy().T / np.sqrt(key.shape[-1])
    weights = np.where(mask.any(-1, keepdim=True), softmax(np.where(mask, scores, -1e9)), 0)
    return weights @ value.numpy()


@wrong(masked_attention, "it raised RuntimeError")
def square_masks_only(query, key, value, mask):
    return level_then_empty(query, key, value, mask | torch.zeros(len(query), len(query)).bool())


@wrong(masked_attention, "it raised RuntimeError")
def half_precision_fill(query, key, value, mask):
    scores = (query @ key.T / math.sqrt(key.shape[-1])).half()
    return scores.masked_fill(~mask, -1e9).softmax(dim=-1).to(value.dtype) @ value


# 3. Find the broken layer


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


@wrong(broken_layers, "pass: no scaling; scaling by d_k")
def saturated(attention):
    query, key, value = inputs()
    mask = torch.tensor([[True, False, True], [True, True, False]])
    expected = by_hand(100 * query, key, value, mask)
    assert torch.allclose(attention(100 * query, key, value, mask)[0], expected, atol=1e-4)


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


@wrong(attention, "each column's maximum is taken off")
def maximum_of_the_columns(query, key, value):
    scores = query @ key.T / np.sqrt(key.shape[-1])
    powers = np.exp(scores - scores.max(axis=0, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return weights @ value, weights


@wrong(attention, "the scores are cut off at a limit")
def scores_cut_off(query, key, value):
    powers = np.exp(np.clip(query @ key.T / np.sqrt(key.shape[-1]), -50, 50))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return weights @ value, weights


@wrong(attention, "a largest absolute value is taken off")
def largest_absolute_value(query, key, value):
    scores = query @ key.T / np.sqrt(key.shape[-1])
    with np.errstate(all="ignore"):
        powers = np.exp(scores - np.abs(scores).max(axis=-1, keepdims=True))
        weights = powers / powers.sum(axis=-1, keepdims=True)
    return weights @ value, weights


def softmax_of_masked(query, key, mask, forbidden=-torch.inf):
    scores = query @ key.mT / key.shape[-1] ** 0.5
    return scores.masked_fill(~mask, forbidden).softmax(-1)


@wrong(masked_attention, "a row is taken for empty if it may not look at the first key")
def first_key_decides(query, key, value, mask):
    weights = softmax_of_masked(query, key, mask).nan_to_num(0)
    return (weights * mask[:, :1]) @ value


@wrong(masked_attention, "the row that may attend to nothing is NaN")
def only_a_whole_empty_mask(query, key, value, mask):
    if not mask.any():
        return torch.zeros(len(query), value.shape[-1])
    return softmax_of_masked(query, key, mask) @ value


@wrong(masked_attention, "the whole output is zeros")
def all_or_nothing(query, key, value, mask):
    if not mask.any(-1).all():
        return torch.zeros(len(query), value.shape[-1])
    return softmax_of_masked(query, key, mask) @ value


@wrong(masked_attention, "gets the value of the first key")
def first_key_instead(query, key, value, mask):
    mask = mask.clone()
    mask[~mask.any(-1), 0] = True
    return softmax_of_masked(query, key, mask) @ value


@wrong(masked_attention, "gets the average of all values")
def far_below(query, key, value, mask):
    return softmax_of_masked(query, key, mask, -1e30) @ value
