"""Attention by kernels of its own, written in Triton: the tiles of `companion.kernels.tiled`."""

import torch
from torch.autograd.function import once_differentiable

from companion.validation import check_query_key_value, require_positive


class TritonAttention(torch.autograd.Function):
    """What joins the kernels, which take contiguous tensors; it keeps O(T + S) numbers."""

    @staticmethod
    def forward(ctx, query, key, value, is_causal: bool, block_size: int):
        from companion.kernels.triton_forward import forward

        query, key, value = query.contiguous(), key.contiguous(), value.contiguous()
        output, log_sum_exp = forward(query, key, value, is_causal, BLOCK_T=block_size)
        ctx.save_for_backward(query, key, value, output, log_sum_exp)
        ctx.is_causal = is_causal
        return output

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_o):
        from companion.kernels.triton_backward import grad_key_value, grad_query

        query, key, value, output, log_sum_exp = ctx.saved_tensors
        tensors, grad_o = (query, key, value), grad_o.contiguous()
        grad_q, delta = grad_query(*tensors, output, log_sum_exp, grad_o, ctx.is_causal)
        grad_k, grad_v = grad_key_value(*tensors, log_sum_exp, grad_o, delta, ctx.is_causal)
        return grad_q, grad_k, grad_v, None, None


def triton_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    *,
    is_causal: bool = False,
    block_size: int = 128,
) -> torch.Tensor:
    """What `tiled_attention` computes, in Triton: one kernel forward and two backward.

    The kernels run compiled on a CUDA device, or anywhere in Triton's interpreter, which is slow
    and is chosen by TRITON_INTERPRET=1 in the environment before Python starts. Sums run in
    float32; of half precision the weights, and their gradients, are rounded before they are
    multiplied, as in every fused kernel. Memory grows with T + S, forward and backward, and the
    gradients are the same from run to run.

    Args:
        query, key, value, is_causal, what is returned: as for `tiled_attention`; of float16,
            bfloat16 or float32.
        block_size: number of queries in a tile of the forward kernel, a power of two, at least 16;
            smaller, as in the backward kernels, where a GPU has not the shared memory for it.

    Raises:
        ValueError: shapes do not fit together, the block size is none that the kernel takes, or the
            tensors are on a device that it cannot run on.
        TypeError: dtypes differ, or are none that the kernel takes.
        ImportError: Triton is not installed.

    Source: Dao 2023, algorithms 1 and 2 (https://arxiv.org/abs/2307.08691).
    """
    check_query_key_value(query, key, value)
    require_positive(block_size=block_size)
    if block_size < 16 or block_size & (block_size - 1):
        raise ValueError(
            f"block_size must be a power of two and at least 16 in the kernel, got {block_size}; "
            "128 is a good one, and tiled_attention takes any"
        )
    if query.dtype not in (torch.float16, torch.bfloat16, torch.float32):
        raise TypeError(
            f"the kernel takes float16, bfloat16 or float32, got {query.dtype}; "
            "use tiled_attention for others"
        )
    try:
        from companion.kernels.triton_forward import INTERPRETED
    except ModuleNotFoundError as error:
        raise ImportError(
            "triton_attention needs Triton (pip install triton, on Linux), which is not installed; "
            "tiled_attention computes the same everywhere"
        ) from error
    device = query.device.type
    if device != "cuda" and not (INTERPRETED and device == "cpu"):
        raise ValueError(
            f"triton_attention needs its tensors on a CUDA device, got {device};"
            " move them, use tiled_attention, or set TRITON_INTERPRET=1 before Python starts, which"
            " runs the kernel on a CPU, slowly"
        )
    return TritonAttention.apply(query, key, value, is_causal, block_size)
