"""Attention as a function: step by step with its weights, and by torch's fused kernels.

Shapes: B batch, H heads, T query length, S key length, d_k width of a query and a key, d_v width of
a value. A mask is boolean, True means "may attend", and it broadcasts to the scores (..., T, S).
"""

import math

import torch
import torch.nn.functional as F

from companion.kernels.tiled import full_precision
from companion.nn.masks import causal, causal_mask
from companion.validation import (
    check_mask_and_bias,
    check_query_key_value,
    require_finite,
    require_probability,
)


def scaled_dot_product_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: torch.Tensor | None = None,
    *,
    is_causal: bool = False,
    score_bias: torch.Tensor | None = None,
    scale: float | None = None,
    dropout_p: float = 0.0,
) -> tuple[torch.Tensor, torch.Tensor]:
    """softmax(Q K^T / sqrt(d_k)) V, step by step, with the weights returned.

    >>> query, key, value = torch.zeros(2, 4), torch.ones(3, 4), torch.arange(3.0)[:, None]
    >>> output, weights = scaled_dot_product_attention(query, key, value, causal_mask(2, 3))
    >>> output.flatten()  # the first query sees the values 0 and 1, the second 2 as well
    tensor([0.5000, 1.0000])

    Half precision is computed in float32, under autocast too, and float64 stays float64; results
    come back in the dtype of the query. A query that may attend to nothing gets zeros, as output
    and as weights.

    Args:
        query: (..., T, d_k).
        key: (..., S, d_k).
        value: (..., S, d_v).
        mask: boolean, broadcasts to (..., T, S) without enlarging it; True means "may attend".
        is_causal: no query sees a later key; the last query is aligned with the last key. Together
            with a mask it means both.
        score_bias: floating, broadcasts like the mask; added to the scaled scores, in the dtype of
            the query: what overflows there downwards is -inf, and upwards its largest number.
        scale: replaces 1 / sqrt(d_k).
        dropout_p: probability with which a weight is dropped.

    Returns:
        output (..., T, d_v) and weights (..., T, S); every row of weights sums to 1, or to 0 where
        nothing may be attended to.

    Raises:
        ValueError: shapes do not fit together.
        TypeError: dtypes differ, the mask is not boolean, the bias is not floating.

    Source: Vaswani et al. 2017, section 3.2.1, equation 1 (https://arxiv.org/abs/1706.03762).
    """
    check_query_key_value(query, key, value)
    T, S, d_k = query.shape[-2], key.shape[-2], query.shape[-1]
    check_mask_and_bias(mask, score_bias, (*query.shape[:-1], S))
    require_probability(dropout_p=dropout_p)
    if scale is not None:
        require_finite(scale=scale)

    # What bfloat16 moves even so:
    # book/running_a_language_model/running_a_language_model.ipynb#cell-claim-precision
    dtype = torch.promote_types(query.dtype, torch.float32)
    # Undivided, wide vectors leave the softmax hardly any slope:
    # book/self_attention/self_attention.ipynb#cell-57f806b7
    scale = 1 / math.sqrt(d_k) if scale is None else scale
    with full_precision(query.device.type):
        scores = query.to(dtype) @ key.to(dtype).transpose(-2, -1) * scale  # (..., T, S)
        if score_bias is not None:
            scores = scores + _in_dtype(score_bias, query.dtype)
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        if is_causal:
            scores = scores.masked_fill(~causal_mask(T, S, device=scores.device), -math.inf)

        # The softmax of a row of -inf would be NaN: such a row is levelled first, emptied after.
        empty = (scores == -math.inf).all(dim=-1, keepdim=True)  # (..., T, 1)
        weights = scores.masked_fill(empty, 0.0).softmax(dim=-1).masked_fill(empty, 0.0)
        weights = F.dropout(weights, dropout_p)
        output = weights @ value.to(dtype)  # (..., T, d_v)
    return output.to(query.dtype), weights.to(query.dtype)


def fused_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: torch.Tensor | None = None,
    *,
    is_causal: bool = False,
    score_bias: torch.Tensor | None = None,
    dropout_p: float = 0.0,
) -> torch.Tensor:
    """The output (B, H, T, d_v) of `scaled_dot_product_attention` by torch's fused kernels.

    The (T, S) weights are never stored. Arguments mean what they mean there, have four dimensions
    (B, H, T, d_k), and are not checked; key and value may have fewer heads, each of which serves
    several query heads in a row.
    """
    T, S = query.shape[-2], key.shape[-2]
    if is_causal:
        mask = causal(mask, T, S, device=query.device)
        if mask is None and score_bias is not None:  # torch takes is_causal or a mask, not both
            mask = causal_mask(T, S, device=query.device)
        if mask is not None or T == 1:
            is_causal = False

    # The kernels do not agree on a query without a key, so none of them is given one.
    attn_mask, empty = mask, None
    if score_bias is not None:
        attn_mask = _in_dtype(score_bias, query.dtype)[(None,) * (4 - score_bias.dim())]
        if mask is not None:
            attn_mask = torch.where(mask, attn_mask, -math.inf)
        empty = (attn_mask == -math.inf).all(dim=-1, keepdim=True)
        attn_mask = attn_mask.masked_fill(empty, 0.0)
    elif mask is not None:
        empty = ~mask.any(dim=-1, keepdim=True)
        attn_mask = mask | empty
    if attn_mask is not None:
        attn_mask = attn_mask.expand(*attn_mask.shape[:-1], S)

    heads, is_grouped = query.shape[1], False
    if key.shape[1] != heads:
        query, key, value, is_grouped = _with_shared_keys(query, key, value, attn_mask)
    output = F.scaled_dot_product_attention(
        query, key, value, attn_mask, dropout_p, is_causal, enable_gqa=is_grouped
    )
    if T == 1:  # groups of heads may be its rows
        output = output.reshape(output.shape[0], heads, 1, output.shape[-1])  # (B, H, 1, d_v)
    return output if empty is None else output.masked_fill(empty, 0.0)


def _with_shared_keys(query, key, value, attn_mask) -> tuple:
    """Query, key and value whose heads go together, and whether the kernel is to group them."""
    has_mask_by_head = attn_mask is not None and attn_mask.dim() > 2 and attn_mask.shape[-3] > 1
    if query.shape[-2] == 1 and not has_mask_by_head:  # heads that share keys become rows
        return query[:, :, 0].unflatten(1, (key.shape[1], -1)), key, value, False
    # Only the flash kernel takes grouped heads; torch would turn to the one that stores (T, S)
    # scores, so every query head gets its own keys and values.
    is_half = query.dtype in (torch.float16, torch.bfloat16)
    if query.is_cuda and is_half and attn_mask is None and query.shape[-1] == value.shape[-1]:
        return query, key, value, True
    key, value = (for_every_query_head(x, query.shape[1]) for x in (key, value))
    return query, key, value, False


def for_every_query_head(x: torch.Tensor, num_heads: int) -> torch.Tensor:
    """Keys or values (B, H_kv, S, width), repeated for the query heads that share them."""
    # Behind S: where heads that lie S apart are merged, torch 2.11 fixes S in an export.
    return x.transpose(1, 2).repeat_interleave(num_heads // x.shape[1], dim=2).transpose(1, 2)


def _in_dtype(bias: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The bias in a dtype that may be narrower; +inf there would make the softmax NaN."""
    largest = min(torch.finfo(dtype).max, torch.finfo(bias.dtype).max)
    return bias.clamp(max=largest).to(dtype)
