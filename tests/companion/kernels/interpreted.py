"""Run by test_triton.py with TRITON_INTERPRET=1, which Triton reads when a kernel is defined."""

import itertools
import math

import torch
from torch.library import opcheck

from companion.kernels import tiled_attention, triton_attention
from companion.kernels.gpu import backward_op, forward_op
from companion.kernels.triton_backward import grad_key_value, grad_query
from companion.kernels.triton_forward import forward
from companion.nn import scaled_dot_product_attention

# query length, key length, d_k, d_v: ragged, a power of two, one query, none before the first key
SHAPES = ((37, 53, 5, 11), (53, 38, 16, 20), (1, 35, 16, 16), (32, 32, 32, 32), (5, 0, 3, 3))
TOLERANCE = {torch.float32: 2e-6, torch.float16: 2e-3, torch.bfloat16: 2e-2}


def check_output_and_gradients(dtype, is_causal, T, S, d_k, d_v) -> None:
    """Against the explicit function and, for gradients, the tiles in float64, which finite
    differences hold; of two heads, since what one head reads of another shows with two."""
    shapes = (T, d_k), (S, d_k), (S, d_v)
    inputs = [torch.randn(2, *shape).to(dtype) for shape in shapes]
    exact = [x.double().requires_grad_() for x in inputs]
    output, log_sum_exp = forward(*inputs, is_causal, BLOCK_T=16, BLOCK_S=16)
    check_forward(output, log_sum_exp, is_causal, *(x.detach() for x in exact))
    assert output.dtype == dtype

    upstream = torch.randn(2, T, d_v).to(dtype)
    expected = torch.autograd.grad(
        tiled_attention(*exact, is_causal=is_causal), exact, upstream.double()
    )
    for block_t, block_s in ((16, 32), (32, 16)):  # tiles of two forms
        tile = {"BLOCK_T": block_t, "BLOCK_S": block_s}
        grad_q, delta = grad_query(*inputs, output, log_sum_exp, upstream, is_causal, **tile)
        gradients = grad_key_value(*inputs, log_sum_exp, upstream, delta, is_causal, **tile)
        for gradient, right in zip((grad_q, *gradients), expected, strict=True):
            assert gradient.dtype == dtype
            size = right.abs().max().clamp(min=1) if right.numel() else 1
            torch.testing.assert_close(
                gradient / size, right / size, rtol=0, atol=TOLERANCE[dtype], check_dtype=False
            )
        if is_causal:
            assert (grad_q[:, : max(T - S, 0)] == 0).all()  # these queries see no key


def check_forward(output, log_sum_exp, is_causal, query, key, value) -> None:
    """The output and what the gradients need of it, from the same inputs in float64."""
    T, S = query.shape[-2], key.shape[-2]
    expected, _ = scaled_dot_product_attention(query, key, value, is_causal=is_causal)
    atol = TOLERANCE[output.dtype]
    torch.testing.assert_close(output.double(), expected, rtol=0, atol=atol)
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if is_causal:
        hidden = torch.arange(S) > torch.arange(T)[:, None] + S - T
        scores = scores.masked_fill(hidden, -math.inf)
    denominator = scores.logsumexp(-1, keepdim=True) if S else torch.full((2, T, 1), -math.inf)
    denominator = denominator.masked_fill(denominator == -math.inf, math.inf)
    torch.testing.assert_close(log_sum_exp, denominator.float(), rtol=0, atol=1e-5)


def results(attend, tensors, upstream, **arguments) -> list[torch.Tensor]:
    """The output, and the gradients of query, key and value."""
    inputs = [tensor.detach().requires_grad_() for tensor in tensors]
    output = attend(*inputs, **arguments)
    return [output, *torch.autograd.grad(output, inputs, upstream)]


def check_function(is_causal) -> None:
    """triton_attention with its own tiles, on inputs and a gradient that are not contiguous."""
    query, key, value = (
        torch.randn(1, n, 2, d).transpose(1, 2)  # as a layer splits its heads
        for n, d in ((150, 5), (270, 5), (270, 7))
    )
    upstream = torch.randn(1, 2, 150, 1).expand(-1, -1, -1, 7)  # as a sum gives it: stride 0
    expected = results(tiled_attention, (query, key, value), upstream, is_causal=is_causal)
    found = results(triton_attention, (query, key, value), upstream, is_causal=is_causal)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)
    with torch.autocast("cpu", torch.bfloat16):
        there = results(triton_attention, (query, key, value), upstream, is_causal=is_causal)
    assert all(torch.equal(x, y) for x, y in zip(found, there, strict=True))


def check_operators(dtype, is_causal) -> None:
    """Schema, fakes and gradients of what torch.compile sees, and a function compiled whole."""
    shapes = ((1, 3, 5), (1, 4, 5), (1, 4, 7))
    inputs = [torch.randn(shape).to(dtype).requires_grad_() for shape in shapes]
    opcheck(forward_op, (*inputs, is_causal, 16))
    fixed = [x.detach() for x in inputs]
    output, log_sum_exp = forward_op(*fixed, is_causal, 16)
    opcheck(backward_op, (*fixed, output, log_sum_exp, torch.randn_like(output), is_causal))

    compiled = torch.compile(triton_attention, fullgraph=True, backend="aot_eager")
    upstream = torch.randn_like(output)
    both = (results(f, inputs, upstream, is_causal=is_causal) for f in (triton_attention, compiled))
    assert all(torch.equal(x, y) for x, y in zip(*both, strict=True))


def check_gradients_where_exponentials_overflow() -> None:
    """Scores near -1000, in a tile that the keys do not fill: exp(0 - log_sum_exp) is inf there."""
    tensors = torch.full((20, 1), 30.0), torch.full((20, 1), -33.0), torch.randn(20, 1)
    upstream = torch.randn(20, 1)
    expected = results(tiled_attention, [x.double() for x in tensors], upstream.double())
    found = [x.double() for x in results(triton_attention, tensors, upstream)]
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


def check_empty_batches_and_sequences() -> None:
    for B, T, S in ((0, 5, 7), (2, 0, 7), (2, 5, 0), (2, 0, 0)):
        inputs = [torch.randn(B, n, 8, requires_grad=True) for n in (T, S, S)]
        output = triton_attention(*inputs)
        assert output.shape == (B, T, 8)
        output.sum().backward()
        assert all(x.grad.shape == x.shape and (x.grad == 0).all() for x in inputs)


def check_that_only_differences_of_scores_matter() -> None:
    key = torch.tensor([[-1000.0], [-1001.0]])
    output = triton_attention(torch.ones(1, 1), key, torch.tensor([[1.0], [0.0]]))
    torch.testing.assert_close(output.item(), math.e / (1 + math.e), rtol=1e-4, atol=0)


if __name__ == "__main__":
    torch.manual_seed(0)
    checks = 0
    for dtype, is_causal in itertools.product(TOLERANCE, (False, True)):
        for shape in SHAPES if dtype == torch.float32 else SHAPES[:1]:
            check_output_and_gradients(dtype, is_causal, *shape)
            checks += 1
    check_function(False)
    check_function(True)
    check_operators(torch.bfloat16, False)
    check_operators(torch.float32, True)
    check_gradients_where_exponentials_overflow()
    check_empty_batches_and_sequences()
    check_that_only_differences_of_scores_matter()
    print(checks)
