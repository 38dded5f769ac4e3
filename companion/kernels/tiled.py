"""Attention tile by tile: FlashAttention's arithmetic in plain PyTorch.

Shapes: T query length, S key length, d_k width of a query and a key, d_v width of a value; any
leading dimensions. A tile is a block of queries against a block of keys.
"""

import math
from contextlib import AbstractContextManager, nullcontext

import torch
from torch.autograd.function import once_differentiable

from companion.validation import check_query_key_value, require_positive


def blocks(length: int, block_size: int) -> list[slice]:
    """The slices that cut a length into blocks; the last may be shorter."""
    starts = range(0, length, block_size)
    return [slice(start, min(start + block_size, length)) for start in starts]


def keys_in_sight(rows: slice, T: int, S: int, is_causal: bool) -> int:
    """How many keys, counted from the first, the last query of these rows may attend to."""
    return min(max(rows.stop + S - T, 0), S) if is_causal else S


def tile_of_scores(q, k, rows: slice, columns: slice, ahead: int, is_causal: bool):
    """Scaled scores (..., rows, columns), -inf at keys more than `ahead` after the query."""
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if is_causal and columns.stop - 1 > rows.start + ahead:  # the tile reaches over the diagonal
        query_at = torch.arange(rows.start, rows.stop, device=q.device)[:, None] + ahead
        key_at = torch.arange(columns.start, columns.stop, device=q.device)
        scores = scores.masked_fill(key_at > query_at, -math.inf)
    return scores


def tiled_forward(query, key, value, is_causal: bool, block_size: int):
    """Return output (..., T, d_v) and log_sum_exp (..., T, 1), the log of sum_j exp(score_ij).

    A query that may attend to nothing has log_sum_exp = inf, so that exp(score - inf) is 0.
    """
    T, S, dtype = query.shape[-2], key.shape[-2], torch.promote_types(query.dtype, torch.float32)
    output = query.new_empty(*query.shape[:-1], value.shape[-1])
    log_sum_exp = query.new_empty(*query.shape[:-1], 1, dtype=dtype)
    for rows in blocks(T, block_size):
        q = query[..., rows, :].to(dtype)
        # Of the keys seen so far: the largest score; relative to it, the sum of the exponentials
        # and of the values that they weight. A finite start avoids -inf - (-inf).
        largest = q.new_full((*q.shape[:-1], 1), torch.finfo(dtype).min)
        total = torch.zeros_like(largest)
        accumulator = q.new_zeros(*q.shape[:-1], value.shape[-1])
        for columns in blocks(keys_in_sight(rows, T, S, is_causal), block_size):
            k, v = key[..., columns, :].to(dtype), value[..., columns, :].to(dtype)
            scores = tile_of_scores(q, k, rows, columns, S - T, is_causal)
            previous, largest = largest, largest.maximum(scores.amax(dim=-1, keepdim=True))
            weights = (scores - largest).exp()  # (..., rows, columns), not yet divided by their sum
            rescale = (previous - largest).exp()  # of what was summed relative to the previous one
            total = total * rescale + weights.sum(dim=-1, keepdim=True)
            accumulator = accumulator * rescale + weights @ v
        empty = total == 0
        output[..., rows, :] = accumulator / total.masked_fill(empty, 1.0)
        log_sum_exp[..., rows, :] = (largest + total.log()).masked_fill(empty, math.inf)
    return output, log_sum_exp


def tiled_backward(
    query, key, value, output, log_sum_exp, grad_output, is_causal: bool, block_size: int
):
    """Return the gradients of query, key and value, from tiles of weights computed again."""
    T, S, dtype = query.shape[-2], key.shape[-2], torch.promote_types(query.dtype, torch.float32)
    scale = 1 / math.sqrt(query.shape[-1])
    grad_query = torch.empty_like(query)
    grad_key, grad_value = (torch.zeros_like(x, dtype=dtype) for x in (key, value))
    for rows in blocks(T, block_size):
        q, grad_o = query[..., rows, :].to(dtype), grad_output[..., rows, :].to(dtype)
        # What the derivative of the softmax subtracts, sum_j weight_ij grad_weight_ij, is this:
        mean = (grad_o * output[..., rows, :].to(dtype)).sum(dim=-1, keepdim=True)
        grad_q = torch.zeros_like(q)
        for columns in blocks(keys_in_sight(rows, T, S, is_causal), block_size):
            k, v = key[..., columns, :].to(dtype), value[..., columns, :].to(dtype)
            scores = tile_of_scores(q, k, rows, columns, S - T, is_causal)
            weights = (scores - log_sum_exp[..., rows, :]).exp()  # (..., rows, columns)
            grad_value[..., columns, :] += weights.transpose(-2, -1) @ grad_o
            grad_weights = grad_o @ v.transpose(-2, -1)
            grad_scores = weights * (grad_weights - mean) * scale
            grad_q += grad_scores @ k
            grad_key[..., columns, :] += grad_scores.transpose(-2, -1) @ q
        grad_query[..., rows, :] = grad_q
    return grad_query, grad_key.to(key.dtype), grad_value.to(value.dtype)


def full_precision(device_type: str) -> AbstractContextManager:
    """A context in which autocast is off, so that float32 stays float32, on any kind of device."""
    try:
        enabled = torch.is_autocast_enabled(device_type)
    except RuntimeError:  # no autocast there; torch 2.6 cannot compile is_autocast_available
        enabled = False
    return torch.autocast(device_type, enabled=False) if enabled else nullcontext()


class TiledAttention(torch.autograd.Function):
    """What joins `tiled_forward` and `tiled_backward`; it keeps O(T + S) numbers in between."""

    @staticmethod
    def forward(ctx, query, key, value, is_causal: bool, block_size: int):
        with full_precision(query.device.type):
            output, log_sum_exp = tiled_forward(query, key, value, is_causal, block_size)
        ctx.save_for_backward(query, key, value, output, log_sum_exp)
        ctx.tiles = is_causal, block_size
        return output

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        with full_precision(grad_output.device.type):
            return *tiled_backward(*ctx.saved_tensors, grad_output, *ctx.tiles), None, None


def tiled_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    *,
    is_causal: bool = False,
    block_size: int = 128,
) -> torch.Tensor:
    """softmax(Q K^T / sqrt(d_k)) V, without ever holding more than one tile of the scores.

    Memory grows with T + S, forward and backward. The backward pass computes each tile's weights
    again, from the scores and one number kept per query: the log of its softmax's denominator. Half
    precision is computed in float32 and float64 stays float64; the result has the dtype of the
    query. A query that may attend to nothing gets zeros.

    Args:
        query: (..., T, d_k).
        key: (..., S, d_k).
        value: (..., S, d_v).
        is_causal: no query sees a later key; the last query is aligned with the last key.
        block_size: number of queries, and of keys, in a tile.

    Returns:
        output (..., T, d_v).

    Raises:
        ValueError: shapes do not fit together, or the block size is not positive.
        TypeError: dtypes differ or are not floating, or the block size is not an int.

    Source: Dao et al. 2022, algorithms 1 and 4 (https://arxiv.org/abs/2205.14135), in the order of
    loops of Dao 2023, algorithm 1 (https://arxiv.org/abs/2307.08691); online softmax: Milakov and
    Gimelshein 2018, algorithm 3 (https://arxiv.org/abs/1805.02867).
    """
    check_query_key_value(query, key, value)
    require_positive(block_size=block_size)
    return TiledAttention.apply(query, key, value, is_causal, block_size)
