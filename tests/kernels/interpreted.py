"""Run by test_triton.py with TRITON_INTERPRET=1, which Triton reads when a kernel is defined."""

import itertools
import math

import torch

from companion.kernels import tiled_attention, triton_attention
from companion.kernels.triton_kernel import launch
from companion.nn import scaled_dot_product_attention

# query length, key length, d_k, d_v: ragged, a power of two, one query, none before the first key
SHAPES = ((37, 53, 5, 11), (53, 37, 16, 20), (1, 35, 16, 16), (32, 32, 32, 32), (5, 0, 3, 3))
TOLERANCE = {torch.float32: 2e-6, torch.float16: 2e-3, torch.bfloat16: 2e-2}


def check_output_and_log_sum_exp(dtype, is_causal, T, S, d_k, d_v) -> None:
    query, key, value = (torch.randn(3, n, d).to(dtype) for n, d in ((T, d_k), (S, d_k), (S, d_v)))
    output, log_sum_exp = launch(query, key, value, is_causal, 16, BLOCK_S=16)
    exact = [x.double() for x in (query, key, value)]
    expected, _ = scaled_dot_product_attention(*exact, is_causal=is_causal)
    torch.testing.assert_close(output.double(), expected, rtol=0, atol=TOLERANCE[dtype])
    assert output.dtype == dtype
    scores = exact[0] @ exact[1].transpose(-2, -1) / math.sqrt(d_k)
    if is_causal:
        hidden = torch.arange(S) > torch.arange(T)[:, None] + S - T
        scores = scores.masked_fill(hidden, -math.inf)
    denominator = scores.logsumexp(-1, keepdim=True) if S else torch.full((3, T, 1), -math.inf)
    denominator = denominator.masked_fill(denominator == -math.inf, math.inf)
    torch.testing.assert_close(log_sum_exp, denominator.float(), rtol=0, atol=1e-5)


def check_gradients(is_causal) -> None:
    upstream = torch.randn(2, 3, 21, 7)
    tensors = [torch.randn(2, 3, n, d) for n, d in ((21, 5), (19, 5), (19, 7))]
    results = []
    for attend in (triton_attention, tiled_attention):
        inputs = [tensor.clone().requires_grad_() for tensor in tensors]
        output = attend(*inputs, is_causal=is_causal, block_size=16)
        results.append([output, *torch.autograd.grad(output, inputs, upstream)])
    torch.testing.assert_close(*results, rtol=0, atol=1e-5)


def check_strides_and_empty_batches() -> None:
    query = torch.randn(2, 18, 3, 8).transpose(1, 2)  # as a layer splits its heads
    expected, _ = scaled_dot_product_attention(query, query, query)
    torch.testing.assert_close(triton_attention(query, query, query), expected)
    for shape in ((0, 5, 8), (2, 0, 8)):
        empty = torch.randn(shape)
        assert triton_attention(empty, empty, empty).shape == shape


def check_that_only_differences_of_scores_matter() -> None:
    key = torch.tensor([[-1000.0], [-1001.0]])
    output = triton_attention(torch.ones(1, 1), key, torch.tensor([[1.0], [0.0]]))
    torch.testing.assert_close(output.item(), math.e / (1 + math.e), rtol=1e-4, atol=0)


if __name__ == "__main__":
    torch.manual_seed(0)
    checks = 0
    for arguments in itertools.product(TOLERANCE, (False, True), SHAPES):
        check_output_and_log_sum_exp(*arguments[:2], *arguments[2])
        checks += 1
    check_gradients(False)
    check_gradients(True)
    check_strides_and_empty_batches()
    check_that_only_differences_of_scores_matter()
    print(checks)
