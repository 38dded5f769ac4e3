"""Attention by tiles against the explicit function, and what it never holds in memory."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from companion.kernels import tiled_attention, triton_attention
from companion.kernels.tiled import full_precision
from companion.nn import scaled_dot_product_attention
from tests.companion.nn.test_attention import random


def explicit(query, key, value, is_causal=False):
    return scaled_dot_product_attention(query, key, value, is_causal=is_causal)[0]


@st.composite
def problems(draw):
    """query, key, value, is_causal and a block size: every size another prime."""
    B, H, T, S, d_k, d_v = draw(st.permutations((2, 3, 5, 7, 11, 13)))
    tensors = random(B, H, T, d_k), random(B, H, S, d_k), random(B, H, S, d_v)
    return tensors, draw(st.booleans()), draw(st.sampled_from((1, 2, 3, 4, 5, 100)))


@given(problems())
def test_equals_the_explicit_function(problem):
    tensors, is_causal, block_size = problem
    output = tiled_attention(*tensors, is_causal=is_causal, block_size=block_size)
    torch.testing.assert_close(output, explicit(*tensors, is_causal))


@given(problems())
def test_gradients_equal_those_of_the_explicit_function(problem):
    tensors, is_causal, block_size = problem
    upstream = random(*tensors[0].shape[:-1], tensors[2].shape[-1])

    def gradients(attend):
        inputs = [tensor.clone().requires_grad_() for tensor in tensors]
        return torch.autograd.grad(attend(*inputs), inputs, upstream)

    tiled = gradients(lambda *x: tiled_attention(*x, is_causal=is_causal, block_size=block_size))
    torch.testing.assert_close(tiled, gradients(lambda *x: explicit(*x, is_causal)))


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("T, S", [(3, 5), (5, 3)])
def test_gradients_are_those_of_finite_differences(T, S, is_causal):
    inputs = [random(2, T, 7), random(2, S, 7), random(2, S, 2)]
    inputs = [tensor.requires_grad_() for tensor in inputs]
    torch.autograd.gradcheck(
        lambda *x: tiled_attention(*x, is_causal=is_causal, block_size=2), inputs
    )


@pytest.mark.parametrize("leading", [(), (2,), (2, 3), (2, 3, 5)])
def test_any_leading_dimensions(leading):
    tensors = random(*leading, 7, 11), random(*leading, 13, 11), random(*leading, 13, 17)
    torch.testing.assert_close(tiled_attention(*tensors, block_size=3), explicit(*tensors))


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_scores_whose_exponential_overflows(order):
    # exp(1000) is inf: only what is relative to the largest score so far may be summed.
    query, key = torch.tensor([[1.0]]), torch.tensor([[1000.0], [-1000.0]])[order]
    value = torch.tensor([[3.0], [5.0]])[order]
    assert tiled_attention(query, key, value, block_size=1).item() == 3


@pytest.mark.parametrize("high", [-1000.0, 1000.0])
def test_only_differences_of_scores_matter(high):
    query, key = torch.tensor([[1.0]]), torch.tensor([[high], [high - 1]])
    value = torch.tensor([[1.0], [0.0]])
    output = tiled_attention(query, key, value, block_size=1)
    assert output.item() == pytest.approx(math.e / (1 + math.e))


def test_queries_before_the_first_key_get_zeros_and_finite_gradients():
    inputs = [random(2, 3, length, 11, requires_grad=True) for length in (7, 5, 5)]
    output = tiled_attention(*inputs, is_causal=True, block_size=3)  # tile 0 holds both kinds
    assert (output[:, :, :2] == 0).all()
    assert (output[:, :, 2:] != 0).all()
    gradients = torch.autograd.grad(output.square().sum(), inputs)
    assert all(gradient.isfinite().all() for gradient in gradients)
    assert (gradients[0][:, :, :2] == 0).all()


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("B, T, S", [(0, 5, 7), (2, 0, 7), (2, 5, 0), (2, 1, 0), (2, 0, 0)])
def test_empty_batch_and_empty_sequence(is_causal, B, T, S):
    inputs = [random(B, n, d, requires_grad=True) for n, d in ((T, 11), (S, 11), (S, 13))]
    output = tiled_attention(*inputs, is_causal=is_causal)
    assert output.shape == (B, T, 13)
    assert S > 0 or (output == 0).all()
    output.sum().backward()
    assert all(x.grad.shape == x.shape and (x.grad == 0).all() for x in inputs[:2])


# Precision.


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_exact_to_its_own_rounding(dtype):
    tensors = [torch.randn(2, 3, n, d).to(dtype) for n, d in ((50, 7), (70, 7), (70, 11))]
    inputs = [tensor.clone().requires_grad_() for tensor in tensors]
    exact_inputs = [tensor.double().requires_grad_() for tensor in tensors]
    output, exact = tiled_attention(*inputs, block_size=16), explicit(*exact_inputs)
    assert output.dtype == dtype
    torch.testing.assert_close(output.double(), exact, rtol=0, atol=2 * torch.finfo(dtype).eps)
    upstream = torch.randn_like(output)
    gradients = torch.autograd.grad(output, inputs, upstream)
    exact_gradients = torch.autograd.grad(exact, exact_inputs, upstream.double())
    for gradient, exact_gradient in zip(gradients, exact_gradients, strict=True):
        assert gradient.dtype == dtype
        error = (gradient.double() - exact_gradient).abs().max() / exact_gradient.abs().max()
        assert error < 2 * torch.finfo(dtype).eps


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_sums_of_half_precision_run_in_float32(dtype):
    # 3000 equal scores: a sum in half precision would stop growing at 2048 or 256.
    query, key = torch.ones(1, 4, dtype=dtype), torch.ones(3000, 4, dtype=dtype)
    value = torch.ones(3000, 1, dtype=dtype, requires_grad=True)
    output = tiled_attention(query, key, value, block_size=7)
    assert output.item() == 1
    output.backward()
    assert value.grad[0].item() == pytest.approx(1 / 3000, rel=torch.finfo(dtype).eps)


def test_autocast_changes_nothing():
    tensors = [torch.randn(7, 5, requires_grad=True) for _ in range(3)]
    expected = tiled_attention(*tensors, block_size=3)
    gradients = torch.autograd.grad(expected.sum(), tensors)
    with torch.autocast("cpu", torch.bfloat16):
        output = tiled_attention(*tensors, block_size=3)
        gradients_there = torch.autograd.grad(output.sum(), tensors)
    assert torch.equal(output, expected)
    for here, there in zip(gradients, gradients_there, strict=True):
        assert torch.equal(here, there)


@pytest.mark.parametrize("device_type", ["cpu", "meta", "privateuseone"])
def test_full_precision_on_any_kind_of_device(device_type):
    # meta has no autocast, and privateuseone says that it has one, which no backend has made.
    x = torch.randn(3, 3)
    with torch.autocast("cpu", torch.bfloat16), full_precision(device_type):
        assert (x @ x).dtype == (torch.float32 if device_type == "cpu" else torch.bfloat16)


# Memory.


class LargestTensor(TorchDispatchMode):
    """Notes the number of entries of the largest tensor that any operation inside gives."""

    def __init__(self) -> None:
        super().__init__()
        self.entries = 0

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        result = operation(*args, **(kwargs or {}))
        tensors = [x for x in tree_leaves(result) if isinstance(x, torch.Tensor)]
        self.entries = max(self.entries, *(x.numel() for x in tensors), 0)
        return result


@pytest.mark.parametrize("is_causal", [False, True])
def test_no_operation_gives_a_matrix_of_all_scores(is_causal):
    n, width, block_size = 101, 4, 8

    def largest(attend):
        inputs = [random(n, width, requires_grad=True) for _ in range(3)]
        with LargestTensor() as forward:
            output = attend(*inputs)
        with LargestTensor() as backward:
            output.backward(output.detach())
        return forward.entries, backward.entries

    assert largest(lambda *x: explicit(*x, is_causal)) == (n * n, n * n)  # the probe sees both
    tiled = largest(lambda *x: tiled_attention(*x, is_causal=is_causal, block_size=block_size))
    assert tiled == (n * width, n * width)


def test_what_is_kept_for_the_backward_pass():
    kept = []
    inputs = [random(101, 4, requires_grad=True) for _ in range(3)]
    with torch.autograd.graph.saved_tensors_hooks(
        lambda x: kept.append(x.numel()) or x, lambda x: x
    ):
        tiled_attention(*inputs, block_size=8)
    assert sorted(kept) == [101, *[101 * 4] * 4]  # one number per query; query, key, value, output


def test_a_causal_mask_spares_the_tiles_above_the_diagonal():
    class Products(TorchDispatchMode):
        made = 0

        def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
            self.made += operation in (torch.ops.aten.mm.default, torch.ops.aten.bmm.default)
            return operation(*args, **(kwargs or {}))

    query = random(12, 5)
    with Products() as all_tiles:
        tiled_attention(query, query, query, block_size=3)
    with Products() as causal_tiles:
        tiled_attention(query, query, query, is_causal=True, block_size=3)
    assert (all_tiles.made, causal_tiles.made) == (2 * 16, 2 * 10)


# Where it runs, and what it refuses.


def test_meta_tensors():
    inputs = [torch.randn(2, n, d, device="meta", requires_grad=True) for n, d in ((7, 5), (11, 5))]
    value = torch.randn(2, 11, 3, device="meta", requires_grad=True)
    output = tiled_attention(*inputs, value, is_causal=True, block_size=4)
    assert output.is_meta and output.shape == (2, 7, 3)
    output.sum().backward()
    assert value.grad.shape == value.shape


def test_a_second_derivative_is_refused():
    query = random(5, 3, requires_grad=True)
    output = tiled_attention(query, query, query)
    (gradient,) = torch.autograd.grad(output.square().sum(), query, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        gradient.sum().backward()


@pytest.mark.parametrize(
    "shapes, message",
    [
        (((2, 5, 7), (2, 11, 6), (2, 11, 3)), "width d_k, got 7 and 6"),
        (((2, 5, 7), (2, 11, 7), (2, 10, 3)), "length S, got 11 and 10"),
        (((2, 5, 7), (1, 11, 7), (1, 11, 3)), r"leading .* got \(2,\), \(1,\) and \(1,\)"),
        (((5,), (11, 7), (11, 3)), r"query must have shape \(\.\.\., length, width\), got \(5,\)"),
        (((5, 0), (11, 0), (11, 3)), "width d_k must be at least 1, got 0"),
    ],
)
def test_shapes_that_do_not_fit(shapes, message):
    with pytest.raises(ValueError, match=message):
        tiled_attention(*(torch.randn(shape) for shape in shapes))


@pytest.mark.parametrize("attend", [tiled_attention, explicit, triton_attention])
def test_tensors_on_different_devices(attend):
    x = torch.randn(5, 3)
    with pytest.raises(ValueError, match="on the same device, got cpu, cpu and meta; move them"):
        attend(x, x, x.to("meta"))


def test_dtypes_and_types():
    x = torch.randn(5, 3)
    with pytest.raises(TypeError, match=r"same floating dtype, got torch.float32, torch.float64"):
        tiled_attention(x, x.double(), x)
    with pytest.raises(TypeError, match=r"same floating dtype, got torch.int64"):
        tiled_attention(x.long(), x.long(), x.long())
    with pytest.raises(TypeError, match=r"value must be a torch.Tensor, got list"):
        tiled_attention(x, x, x.tolist())


@pytest.mark.parametrize(
    "block_size, error", [(0, ValueError), (2.0, TypeError), (True, TypeError)]
)
def test_block_sizes_that_are_none(block_size, error):
    x = torch.randn(5, 3)
    with pytest.raises(error, match=f"block_size must be .* got {block_size}"):
        tiled_attention(x, x, x, block_size=block_size)
