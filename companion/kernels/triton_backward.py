"""The backward kernels of attention in Triton. Imported on first use: they need Triton.

With weights P = exp(scores - log_sum_exp), computed again tile by tile, and delta = rowsum(dO * O),
the derivative of the softmax is dS = P * (dO V^T - delta). From it

    dQ = dS K / sqrt(d_k)       dK = dS^T Q / sqrt(d_k)       dV = P^T dO.

A sum over keys belongs to a block of queries, a sum over queries to a block of keys: so there are
two kernels, in each of which one program alone writes its rows. That computes P and dS twice, and
avoids atomic additions, whose order, and so whose rounding, would change from run to run.

Source: Dao 2023, algorithm 2 (https://arxiv.org/abs/2307.08691), where one loop does both.
"""

import math

import torch
import triton
import triton.language as tl

from companion.kernels.triton_forward import (
    LOG2_E,
    bound,
    launch,
    load_rows,
    product,
    query_block,
    store_rows,
    visible,
)


@triton.jit
def grad_query_kernel(
    query, key, value, output, log_sum_exp, grad_output, grad_query, delta,  # contiguous
    T, S, scale,
    d_k: tl.constexpr, d_v: tl.constexpr, D_K: tl.constexpr, D_V: tl.constexpr,
    BLOCK_T: tl.constexpr, BLOCK_S: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    """dQ and delta of one block of queries of one head: the loop of the forward kernel."""
    head, row, whole, seen = query_block(T, S, BLOCK_T, BLOCK_S, CAUSAL)
    grad_o = load_rows(grad_output + head * T * d_v, row, T, d_v, D_V, True)
    o = load_rows(output + head * T * d_v, row, T, d_v, D_V, True)
    delta_of_row = tl.sum(grad_o.to(tl.float32) * o.to(tl.float32), 1)
    tl.store(delta + head * T + row, delta_of_row, mask=row < T)
    q = load_rows(query + head * T * d_k, row, T, d_k, D_K, True)
    # Of a query that sees no key the sum is inf, so that its weights are 0.
    log2_sum = tl.load(log_sum_exp + head * T + row, mask=row < T, other=0.0) * LOG2_E

    grad_q = tl.zeros([BLOCK_T, D_K], tl.float32)
    zeros = tl.zeros([BLOCK_T, BLOCK_S], tl.float32)
    for EDGE in tl.static_range(2):  # first the blocks without a mask, then the others
        for start in tl.range(whole if EDGE else 0, seen if EDGE else whole, BLOCK_S):
            column = start + tl.arange(0, BLOCK_S)
            k = load_rows(key + head * S * d_k, column, S, d_k, D_K, EDGE)
            v = load_rows(value + head * S * d_v, column, S, d_v, D_V, EDGE)
            scores = product(q, tl.trans(k), zeros) * (scale * LOG2_E)
            weights = tl.exp2(scores - log2_sum[:, None])
            if EDGE:
                weights = tl.where(visible(row, column, T, S, CAUSAL), weights, 0.0)
            grad_weights = product(grad_o, tl.trans(v), zeros)
            grad_scores = weights * (grad_weights - delta_of_row[:, None])
            grad_q = product(grad_scores.to(k.dtype), k, grad_q)
    store_rows(grad_query + head * T * d_k, row, T, d_k, D_K, grad_q * scale)


@triton.jit
def grad_key_value_kernel(
    query, key, value, log_sum_exp, grad_output, delta, grad_key, grad_value,  # contiguous
    T, S, scale,
    d_k: tl.constexpr, d_v: tl.constexpr, D_K: tl.constexpr, D_V: tl.constexpr,
    BLOCK_T: tl.constexpr, BLOCK_S: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    """dK and dV of one block of keys of one head. Its tiles are transposed: keys by queries."""
    blocks = tl.cdiv(S, BLOCK_S)
    head = (tl.program_id(0) // blocks).to(tl.int64)
    # Under a causal mask the first keys have the most to do, and start first.
    first_column = tl.program_id(0) % blocks * BLOCK_S
    column = first_column + tl.arange(0, BLOCK_S)
    k = load_rows(key + head * S * d_k, column, S, d_k, D_K, True)
    v = load_rows(value + head * S * d_v, column, S, d_v, D_V, True)

    # The blocks of queries from `first` to `whole` see some of these keys, later ones see all.
    first, whole, end = 0, 0, bound(T)
    if CAUSAL:
        first = tl.maximum(first_column + T - S, 0) // BLOCK_T * BLOCK_T
        whole = tl.cdiv(tl.maximum(first_column + BLOCK_S - 1 + T - S, 0), BLOCK_T) * BLOCK_T
        first, whole = bound(first), bound(tl.minimum(whole, T))
    grad_k = tl.zeros([BLOCK_S, D_K], tl.float32)
    grad_v = tl.zeros([BLOCK_S, D_V], tl.float32)
    zeros = tl.zeros([BLOCK_S, BLOCK_T], tl.float32)
    for EDGE in tl.static_range(2):  # first the blocks without a mask, then the others
        for start in tl.range(first if EDGE else whole, whole if EDGE else end, BLOCK_T):
            # Rows from T on are zeros and add nothing, so that they need no mask of their own.
            row = start + tl.arange(0, BLOCK_T)
            q = load_rows(query + head * T * d_k, row, T, d_k, D_K, True)
            grad_o = load_rows(grad_output + head * T * d_v, row, T, d_v, D_V, True)
            at_row, inside = head * T + row, row < T
            log2_sum = tl.load(log_sum_exp + at_row, mask=inside, other=0.0) * LOG2_E
            delta_of_row = tl.load(delta + at_row, mask=inside, other=0.0)
            scores = product(k, tl.trans(q), zeros) * (scale * LOG2_E)
            weights = tl.exp2(scores - log2_sum[None, :])
            if EDGE:
                weights = tl.where(column[:, None] <= row[None, :] + S - T, weights, 0.0)
            grad_v = product(weights.to(grad_o.dtype), grad_o, grad_v)
            grad_weights = product(v, tl.trans(grad_o), zeros)
            grad_scores = weights * (grad_weights - delta_of_row[None, :])
            grad_k = product(grad_scores.to(q.dtype), q, grad_k)
    store_rows(grad_key + head * S * d_k, column, S, d_k, D_K, grad_k * scale)
    store_rows(grad_value + head * S * d_v, column, S, d_v, D_V, grad_v)


# Largest width: BLOCK_T, BLOCK_S, num_warps and num_stages (blocks loaded ahead) of the kernel for
# queries, then of that for keys and values. All fit a Hopper GPU, and only float32 beyond a width
# of 128 spills registers; `benchmarks/kernels.py --sweep` looks for faster ones.
HALF_PRECISION = {
    64: ((128, 64, 8, 2), (64, 128, 8, 3)),
    128: ((128, 64, 8, 2), (32, 128, 8, 2)),
    256: ((128, 32, 8, 2), (64, 32, 8, 2)),
    math.inf: ((32, 16, 8, 2), (32, 16, 8, 2)),
}
FLOAT32 = {
    64: ((64, 32, 4, 2), (16, 64, 4, 2)),
    128: ((32, 16, 8, 2), (32, 16, 8, 2)),
    math.inf: ((16, 16, 8, 1), (16, 16, 8, 1)),
}


def backward_settings(dtype: torch.dtype, width: int) -> tuple[dict[str, int], dict[str, int]]:
    """Those of the kernel for queries, and of that for keys and values."""
    table = FLOAT32 if dtype == torch.float32 else HALF_PRECISION
    names = "BLOCK_T", "BLOCK_S", "num_warps", "num_stages"
    both = next(both for widest, both in table.items() if width <= widest)
    return tuple(dict(zip(names, numbers, strict=True)) for numbers in both)


def grad_query(query, key, value, output, log_sum_exp, grad_output, is_causal, **settings: int):
    """Return the gradient of query and delta (..., T, 1), from contiguous tensors.

    `settings` replace those of `backward_settings`.
    """
    gradient, delta = torch.empty_like(query), torch.empty_like(log_sum_exp)
    widest = max(query.shape[-1], value.shape[-1])
    settings = backward_settings(query.dtype, widest)[0] | settings
    tensors = query, key, value, output, log_sum_exp, grad_output, gradient, delta
    launch(grad_query_kernel, tensors, query.shape[-2], "BLOCK_T", is_causal, settings)
    return gradient, delta


def grad_key_value(query, key, value, log_sum_exp, grad_output, delta, is_causal, **settings: int):
    """Return the gradients of key and value, from contiguous tensors.

    `settings` replace those of `backward_settings`.
    """
    gradients = torch.empty_like(key), torch.empty_like(value)
    widest = max(query.shape[-1], value.shape[-1])
    settings = backward_settings(query.dtype, widest)[1] | settings
    tensors = query, key, value, log_sum_exp, grad_output, delta, *gradients
    launch(grad_key_value_kernel, tensors, key.shape[-2], "BLOCK_S", is_causal, settings)
    return gradients
