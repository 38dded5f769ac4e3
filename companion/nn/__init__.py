"""The parts of a Transformer.

A mask is boolean; True means "may attend"; it broadcasts to the scores (..., T, S). Batch first,
always.
"""

from companion.nn.attention import scaled_dot_product_attention
from companion.nn.blocks import DecoderBlock, EncoderBlock, FeedForward
from companion.nn.cache import KVCache
from companion.nn.embeddings import LearnedPositions, TokenEmbedding
from companion.nn.experts import Experts
from companion.nn.latent import LatentAttention
from companion.nn.masks import causal_mask, padding_mask
from companion.nn.multi_head_attention import AttentionOptions, MultiHeadAttention
from companion.nn.patches import PatchEmbedding
from companion.nn.positions import SinusoidalPositions, alibi_bias, sinusoidal_encoding
from companion.nn.rotary import RotaryEmbedding, RotaryScaling, Rotation

__all__ = [
    "AttentionOptions",
    "DecoderBlock",
    "EncoderBlock",
    "Experts",
    "FeedForward",
    "KVCache",
    "LatentAttention",
    "LearnedPositions",
    "MultiHeadAttention",
    "PatchEmbedding",
    "RotaryEmbedding",
    "RotaryScaling",
    "Rotation",
    "SinusoidalPositions",
    "TokenEmbedding",
    "alibi_bias",
    "causal_mask",
    "padding_mask",
    "scaled_dot_product_attention",
    "sinusoidal_encoding",
]
