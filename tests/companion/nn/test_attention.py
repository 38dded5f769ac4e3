"""The attention function, explicit and fused, against torch's."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.attention import SDPBackend, sdpa_kernel

from companion.nn import (
    alibi_bias,
    causal_mask,
    scaled_dot_product_attention,
)
from companion.nn.attention import fused_attention


def explicit_attention(*args, **kwargs):
    return scaled_dot_product_attention(*args, **kwargs)[0]


both_paths = pytest.mark.parametrize(
    "attend", [explicit_attention, fused_attention], ids=["explicit", "fused"]
)


def random(*shape, requires_grad=False):
    return torch.randn(shape, dtype=torch.float64, requires_grad=requires_grad)


def reference(query, key, value, mask=None, **kwargs):
    """Torch's attention, with the rows that may attend to nothing emptied by hand."""
    output = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, **kwargs)
    if mask is None:
        return output
    may_attend = mask if mask.dtype == torch.bool else mask > -math.inf
    return output.masked_fill(~may_attend.any(-1, keepdim=True), 0.0)


@st.composite
def problems(draw):
    """query, key, value, and a mask whose dimensions are whole or 1; every size another prime."""
    B, H, T, S, d_k, d_v = draw(st.permutations((2, 3, 5, 7, 11, 13)))
    shape = [draw(st.sampled_from((1, size))) for size in (B, H, T, S)]
    density = draw(st.sampled_from((0.0, 0.2, 0.8)))
    return (
        random(B, H, T, d_k),
        random(B, H, S, d_k),
        random(B, H, S, d_v),
        torch.rand(shape) < density,
    )


# One argument at a time against torch.


@both_paths
@given(problems())
def test_no_argument(attend, problem):
    query, key, value, _ = problem
    torch.testing.assert_close(attend(query, key, value), reference(query, key, value))


@both_paths
@given(problems())
def test_mask(attend, problem):
    torch.testing.assert_close(attend(*problem), reference(*problem))


@both_paths
@given(problems())
def test_is_causal(attend, problem):
    query, key, value, _ = problem
    key, value = random(*query.shape), random(*query.shape[:3], value.shape[3])
    expected = reference(query, key, value, is_causal=True)
    torch.testing.assert_close(attend(query, key, value, is_causal=True), expected)


@both_paths
@given(problems(), st.integers(0, 4))
def test_score_bias(attend, problem, dims):
    query, key, value, mask = problem
    bias = random(*mask.shape[4 - dims :])  # of any number of dimensions, down to one number
    full = bias.expand(*query.shape[:3], key.shape[2])
    expected = reference(query, key, value, full)
    torch.testing.assert_close(attend(query, key, value, score_bias=bias), expected)


@given(problems(), st.floats(0.01, 3.0))
def test_scale(problem, scale):
    query, key, value, mask = problem
    output, _ = scaled_dot_product_attention(query, key, value, mask, scale=scale)
    torch.testing.assert_close(output, reference(query, key, value, mask, scale=scale))


@both_paths
@given(problems(), st.booleans())
def test_all_arguments_together(attend, problem, is_causal):
    query, key, value, mask = problem
    T, S = query.shape[2], key.shape[2]
    bias = random(*mask.shape)
    allowed = mask & causal_mask(T, S) if is_causal else mask
    full = torch.where(allowed, bias, -math.inf).expand(*query.shape[:3], S)
    output = attend(query, key, value, mask, is_causal=is_causal, score_bias=bias)
    torch.testing.assert_close(output, reference(query, key, value, full))


@pytest.mark.parametrize("dims", [2, 3, 5])
def test_explicit_attention_takes_any_leading_dimensions(dims):
    leading = (2, 3, 5)[: dims - 2]
    query, key, value = random(*leading, 7, 11), random(*leading, 13, 11), random(*leading, 13, 17)
    output, weights = scaled_dot_product_attention(query, key, value)
    torch.testing.assert_close(output, F.scaled_dot_product_attention(query, key, value))
    assert weights.shape == (*leading, 7, 13)


# Answers that can be worked out by hand.


@both_paths
def test_two_keys_by_hand(attend):
    # Scores 0 and 1 (= 1 * 2 / sqrt(4)): weights 1 / (1 + e) and e / (1 + e).
    query = torch.tensor([[[[1.0, 0.0, 0.0, 0.0]]]], dtype=torch.float64)
    key = torch.tensor([[[[0.0, 5.0, 0.0, 0.0], [2.0, 0.0, 7.0, 0.0]]]], dtype=torch.float64)
    value = torch.tensor([[[[1.0, 0.0], [0.0, 1.0]]]], dtype=torch.float64)
    expected = [1 / (1 + math.e), math.e / (1 + math.e)]
    assert attend(query, key, value).flatten().tolist() == pytest.approx(expected)
    _, weights = scaled_dot_product_attention(query, key, value)
    assert weights.flatten().tolist() == pytest.approx(expected)


@both_paths
def test_equal_scores_average_what_the_mask_leaves(attend):
    value = torch.tensor([3.0, 5.0, 7.0, 100.0], dtype=torch.float64).reshape(1, 1, 4, 1)
    zeros = torch.zeros(1, 1, 4, 1, dtype=torch.float64)
    mask = torch.tensor([True, True, True, False])[None, :]
    assert attend(zeros, zeros, value, mask).flatten().tolist() == pytest.approx([5.0] * 4)
    output = attend(zeros, zeros, value, mask, is_causal=True)
    assert output.flatten().tolist() == pytest.approx([3.0, 4.0, 5.0, 5.0])


# Masks and causality.


@both_paths
@pytest.mark.parametrize("T, S", [(1, 7), (3, 7), (7, 3), (1, 1), (5, 5)])
def test_causal_aligns_the_last_query_with_the_last_key(attend, T, S):
    query, key, value = random(2, 3, T, 11), random(2, 3, S, 11), random(2, 3, S, 13)
    allowed = torch.tensor([[j - i <= S - T for j in range(S)] for i in range(T)])
    torch.testing.assert_close(
        attend(query, key, value, is_causal=True), reference(query, key, value, allowed)
    )


@pytest.mark.parametrize("is_causal", [True, False])
@given(problems())
def test_rows_of_weights_sum_to_one_or_zero_and_make_the_output(is_causal, problem):
    *_, value, mask = problem
    output, weights = scaled_dot_product_attention(*problem, is_causal=is_causal)
    allowed = mask.expand_as(weights)
    if is_causal:
        allowed = allowed & causal_mask(*weights.shape[-2:])
    torch.testing.assert_close(weights.sum(-1), allowed.any(-1).double())
    assert (weights[~allowed] == 0).all()
    torch.testing.assert_close(output, weights @ value)


def empty_rows(how):
    """Arguments under which query 2 of 5 may attend to nothing, others to something."""
    may_attend = torch.ones(5, 5, dtype=torch.bool)
    may_attend[2] = False
    bias = torch.zeros(5, 5, dtype=torch.float64).masked_fill(~may_attend, -math.inf)
    only_key_3 = torch.arange(5) == 3
    return {
        "mask": {"mask": may_attend},
        "bias": {"score_bias": bias},
        "mask and bias": {"mask": may_attend | True, "score_bias": bias},
        "half by mask, half by bias": {
            "mask": may_attend | only_key_3,
            "score_bias": bias.masked_fill(~only_key_3 & ~may_attend, 0.0),
        },
        "mask and causal": {"mask": may_attend | (torch.arange(5) > 2), "is_causal": True},
    }[how]


@both_paths
@pytest.mark.parametrize(
    "how", ["mask", "bias", "mask and bias", "half by mask, half by bias", "mask and causal"]
)
def test_a_query_that_may_attend_to_nothing_gets_zeros_and_finite_gradients(attend, how):
    inputs = [random(2, 3, 5, width, requires_grad=True) for width in (7, 7, 11)]
    arguments = empty_rows(how)
    output = attend(*inputs, **arguments)
    assert (output[:, :, 2] == 0).all()
    assert (output[:, :, [0, 1, 3, 4]] != 0).all()
    if attend is explicit_attention:
        _, weights = scaled_dot_product_attention(*inputs, **arguments)
        assert (weights[:, :, 2] == 0).all()
    gradients = torch.autograd.grad((output - 1).square().sum(), inputs)
    assert all(gradient.isfinite().all() for gradient in gradients)
    assert (gradients[0][:, :, 2] == 0).all()


@both_paths
def test_queries_before_the_first_key_get_zeros_and_finite_gradients(attend):
    inputs = [random(2, 3, length, 11, requires_grad=True) for length in (7, 5, 5)]
    output = attend(*inputs, is_causal=True)
    assert (output[:, :, :2] == 0).all()
    assert (output[:, :, 2:] != 0).all()
    for gradient in torch.autograd.grad(output.square().sum(), inputs):
        assert gradient.isfinite().all()


@both_paths
def test_a_batch_in_which_nothing_may_be_attended_to(attend):
    query, key, value = random(2, 3, 5, 7), random(2, 3, 11, 7), random(2, 3, 11, 13)
    assert (attend(query, key, value, torch.zeros(1, 1, dtype=torch.bool)) == 0).all()
    no_way = torch.full((1, 1), -math.inf, dtype=torch.float64)
    assert (attend(query, key, value, score_bias=no_way) == 0).all()


@both_paths
@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("B, T, S", [(0, 5, 7), (2, 0, 7), (2, 5, 0), (2, 1, 0), (2, 0, 0)])
def test_empty_batch_and_empty_sequence(attend, is_causal, B, T, S):
    query, key, value = random(B, 3, T, 11), random(B, 3, S, 11), random(B, 3, S, 13)
    for mask in (None, torch.ones(T, S, dtype=torch.bool)):
        output = attend(query, key, value, mask, is_causal=is_causal)
        assert output.shape == (B, 3, T, 13)
        assert S > 0 or (output == 0).all()


@given(problems(), st.booleans(), st.booleans())
def test_gradients_of_both_paths_are_equal(problem, is_causal, with_bias):
    *tensors, mask = problem
    bias = random(*mask.shape)

    def gradients(attend):
        inputs = [tensor.clone().requires_grad_() for tensor in (*tensors, bias)]
        score_bias = inputs[3] if with_bias else None
        output = attend(*inputs[:3], mask, is_causal=is_causal, score_bias=score_bias)
        return torch.autograd.grad(output.square().sum(), inputs[: 3 + with_bias])

    for explicit, fused in zip(
        gradients(explicit_attention), gradients(fused_attention), strict=True
    ):
        torch.testing.assert_close(fused, explicit)


def test_gradients_are_those_of_finite_differences():
    mask = torch.rand(3, 5) < 0.7
    mask[1] = False
    inputs = [random(2, 3, 7), random(2, 5, 7), random(2, 5, 2), random(3, 5)]
    inputs = [tensor.requires_grad_() for tensor in inputs]
    torch.autograd.gradcheck(
        lambda q, k, v, bias: scaled_dot_product_attention(q, k, v, mask, score_bias=bias), inputs
    )


@pytest.mark.parametrize(
    ("scale", "error", "message"),
    [
        (math.nan, ValueError, "scale must be finite, got nan"),
        (math.inf, ValueError, "scale must be finite, got inf"),
        ("1", TypeError, "scale must be a number, got '1'"),
    ],
)
def test_scale_is_a_finite_number(scale, error, message):
    x = torch.randn(2, 3, 5)
    with pytest.raises(error, match=message):
        scaled_dot_product_attention(x, x, x, scale=scale)


def test_dropout_drops_weights_and_scales_up_the_rest():
    query, key, value = random(2, 3, 50, 7), random(2, 3, 60, 7), random(2, 3, 60, 11)
    _, kept = scaled_dot_product_attention(query, key, value)
    output, weights = scaled_dot_product_attention(query, key, value, dropout_p=0.25)
    dropped = weights == 0
    assert dropped.double().mean().item() == pytest.approx(0.25, abs=0.02)
    torch.testing.assert_close(weights[~dropped], kept[~dropped] / 0.75)
    torch.testing.assert_close(output, weights @ value)


@pytest.mark.filterwarnings("ignore:Flash attention kernel not used")
@pytest.mark.parametrize("how", ["nothing", "causal", "padding", "mask and causal", "alibi"])
def test_the_fused_path_never_falls_back_to_the_score_matrix(how):
    arguments = {
        "nothing": {},
        "causal": {"is_causal": True},
        "padding": {"mask": torch.rand(2, 1, 1, 7) < 0.5},
        "mask and causal": {"mask": torch.rand(2, 3, 7, 7) < 0.5, "is_causal": True},
        "alibi": {"score_bias": alibi_bias(3, 7)},
    }[how]
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):  # or torch raises
        fused_attention(*(torch.randn(2, 3, 7, 11) for _ in range(3)), **arguments)


@pytest.mark.parametrize("shape", [None, (1, 7), (6, 1, 7), (2, 1, 1, 7), (2, 6, 1, 7)])
def test_a_single_query_of_heads_that_share_keys(shape):
    """They are rows of one query, unless each head has a mask of its own."""
    query, key, value = (torch.randn(2, heads, T, 4) for heads, T in ((6, 1), (2, 7), (2, 7)))
    mask = None if shape is None else torch.rand(shape) < 0.6
    everyone = [x.repeat_interleave(3, dim=1) for x in (key, value)]
    expected = explicit_attention(query, *everyone, mask, is_causal=True)
    torch.testing.assert_close(fused_attention(query, key, value, mask, is_causal=True), expected)
