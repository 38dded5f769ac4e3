"""Attention computed another way: by tiles, in plain PyTorch and in Triton; and with a matrix.

The first two give what `companion.nn.scaled_dot_product_attention` gives, and never hold a (T, S)
matrix. The matrix rules are other layers: what they remember has one size, however long the text.
"""

from companion.kernels.gpu import triton_attention
from companion.kernels.matrix import delta_rule, linear_attention
from companion.kernels.tiled import tiled_attention

__all__ = ["delta_rule", "linear_attention", "tiled_attention", "triton_attention"]
