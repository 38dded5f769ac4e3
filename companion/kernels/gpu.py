"""Attention by kernels of its own, written in Triton: the tiles of `companion.kernels.tiled`."""

import torch

from companion.validation import check_query_key_value, require_positive


@torch.library.custom_op("companion::triton_attention", mutates_args=())
def forward_op(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, is_causal: bool, block_size: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Output (..., T, d_v) and log_sum_exp (..., T, 1), by an operator that torch.compile calls.

    Torch could look into the kernels, but would compile them in its own way, and cannot.
    """
    from companion.kernels.triton_forward import forward

    tensors = (x.contiguous() for x in (query, key, value))
    return forward(*tensors, is_causal, BLOCK_T=block_size)


@forward_op.register_fake
def _(query, key, value, is_causal, block_size):
    output = query.new_empty(*query.shape[:-1], value.shape[-1])
    return output, query.new_empty(*query.shape[:-1], 1, dtype=torch.float32)


@torch.library.custom_op("companion::triton_attention_backward", mutates_args=())
def backward_op(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    output: torch.Tensor,
    log_sum_exp: torch.Tensor,
    grad_output: torch.Tensor,
    is_causal: bool,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The gradients of query, key and value."""
    from companion.kernels.triton_backward import grad_key_value, grad_query

    saved = (query, key, value, output, log_sum_exp, grad_output)
    *tensors, output, log_sum_exp, grad_o = (x.contiguous() for x in saved)
    grad_q, delta = grad_query(*tensors, output, log_sum_exp, grad_o, is_causal)
    return grad_q, *grad_key_value(*tensors, log_sum_exp, grad_o, delta, is_causal)


@backward_op.register_fake
def _(query, key, value, output, log_sum_exp, grad_output, is_causal):
    return tuple(x.new_empty(x.shape) for x in (query, key, value))


def _save(ctx, inputs, output) -> None:
    """What the gradients need: O(T + S) numbers."""
    query, key, value, ctx.is_causal, _ = inputs
    ctx.save_for_backward(query, key, value, *output)


def _gradients(ctx, grad_output, _):
    return *backward_op(*ctx.saved_tensors, grad_output, ctx.is_causal), None, None


forward_op.register_autograd(_gradients, setup_context=_save)


def triton_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    *,
    is_causal: bool = False,
    block_size: int = 128,
) -> torch.Tensor:
    """What `tiled_attention` computes, in Triton: one kernel forward and two backward.

    The kernels run on a CUDA device, or anywhere in Triton's interpreter, which is slow and is
    chosen by TRITON_INTERPRET=1 in the environment before Python starts. Sums run in float32; in
    half precision the weights and their gradients are rounded before they are multiplied, as in
    every fused kernel. Memory grows with T + S, forward and backward, and the gradients are the
    same from run to run. Code that torch.compile compiles calls the kernels as they are.

    Args:
        query, key, value, is_causal, what is returned: as for `tiled_attention`; of float16,
            bfloat16 or float32.
        block_size: number of queries in a tile of the forward kernel: a power of two, at least 16.
            Where a GPU lacks the shared memory, this and the backward kernels take smaller tiles.

    Raises:
        ValueError: shapes do not fit together, the kernel does not take this block size, or it
            cannot run where the tensors are.
        TypeError: dtypes differ, or the kernel does not take this one.
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
    tensors = (x.contiguous() for x in (query, key, value))  # these are kept for the gradients
    return forward_op(*tensors, is_causal, block_size)[0]
