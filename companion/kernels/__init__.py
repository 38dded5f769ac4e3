"""Attention computed another way: by tiles, in plain PyTorch and in Triton.

Both give what `companion.nn.scaled_dot_product_attention` gives, and never hold a (T, S) matrix.
"""

from companion.kernels.gpu import triton_attention
from companion.kernels.tiled import tiled_attention

__all__ = ["tiled_attention", "triton_attention"]
