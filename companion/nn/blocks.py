"""The Transformer block: attention, then a feed-forward network, each with residual and norm."""

from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

import torch.nn.functional as F
from torch import Tensor, nn

from companion.nn.cache import KVCache
from companion.nn.multi_head_attention import AttentionOptions, MultiHeadAttention
from companion.validation import (
    require_choice,
    require_features,
    require_positive,
    require_positive_number,
    require_probability,
)

ACTIVATIONS = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": partial(F.gelu, approximate="tanh"),  # unlike a lambda, it can be pickled
    "swiglu": F.silu,  # of the gate
}


class FeedForward(nn.Module):
    """The same two-layer network at every position.

    With "swiglu" a third matrix gates the hidden layer: down(silu(gate(x)) * up(x)).

    Args:
        d_model: width of input and output.
        d_ff: width of the hidden layer, taken as given.
        activation: "relu", "gelu", "gelu_tanh" (GPT-2's approximation) or "swiglu".
        bias: whether the projections add a bias.
        dropout: probability with which a hidden entry is dropped in training.

    Source: Vaswani et al. 2017, section 3.3, equation 2 (https://arxiv.org/abs/1706.03762); SwiGLU:
    Shazeer 2020, equation 6 (https://arxiv.org/abs/2002.05202).
    """

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        *,
        activation: str = "relu",
        bias: bool = True,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        require_positive(d_model=d_model, d_ff=d_ff)
        require_choice("activation", activation, ACTIVATIONS)
        require_probability(dropout=dropout)
        self.d_model = d_model
        self.activation = ACTIVATIONS[activation]
        self.up_proj = nn.Linear(d_model, d_ff, bias=bias)
        self.gate_proj = nn.Linear(d_model, d_ff, bias=bias) if activation == "swiglu" else None
        self.down_proj = nn.Linear(d_ff, d_model, bias=bias)
        self.dropout = make_dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, d_model) -> (B, T, d_model)."""
        require_features("x", x, "(B, T, d_model)", self.d_model)
        if self.gate_proj is None:
            hidden = self.activation(self.up_proj(x))
        else:
            hidden = self.activation(self.gate_proj(x)) * self.up_proj(x)
        return self.down_proj(self.dropout(hidden))


class Block(nn.Module):
    """What the encoder's block and the decoder's share: their parts, and where the norms act.

    Post-norm is the original: the sum of input and sub-layer is normed, and so is every path back
    through the stack; training deep stacks that way needs a warm-up. Pre-norm leaves the sum alone
    and norms what a sub-layer reads: from the loss to every block there is a path without a norm.
    """

    has_cross_attention = False

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_ff: int,
        *,
        norm_first: bool = False,
        norm: str = "layer",
        norm_eps: float = 1e-5,
        activation: str = "relu",
        bias: bool = True,
        qkv_bias: bool | None = None,
        dropout: float = 0.0,
        num_kv_heads: int | None = None,
        d_k: int | None = None,
        d_v: int | None = None,
        rope: nn.Module | None = None,
        qk_norm: bool = False,
        sliding_window: int | None = None,
    ) -> None:
        super().__init__()
        # Post-norm at a high learning rate needs a warm-up, pre-norm does not:
        # book/transformer_block/transformer_block.ipynb#cell-claim-warm-up
        self.norm_first = norm_first
        attention = partial(
            MultiHeadAttention,
            d_model,
            num_heads,
            num_kv_heads=num_kv_heads,
            d_k=d_k,
            d_v=d_v,
            bias=bias,
            qkv_bias=qkv_bias,
            dropout=dropout,
            qk_norm=qk_norm,
            norm_eps=norm_eps,
        )
        self.self_attention = attention(rope=rope, sliding_window=sliding_window)
        if self.has_cross_attention:
            self.cross_attention = attention()
        self.feed_forward = FeedForward(
            d_model, d_ff, activation=activation, bias=bias, dropout=dropout
        )
        self.norm1 = make_norm(norm, d_model, norm_eps, bias)
        self.norm2 = make_norm(norm, d_model, norm_eps, bias)
        if self.has_cross_attention:
            self.norm3 = make_norm(norm, d_model, norm_eps, bias)
        self.dropout = make_dropout(dropout)


class EncoderBlock(Block):
    """Self-attention and a feed-forward network. With `is_causal` this is the block of GPT.

    Args:
        d_model: width of the sequence.
        num_heads: number of attention heads.
        d_ff: width of the feed-forward network's hidden layer.
        norm_first: pre-norm.
        norm: "layer" or "rms".
        norm_eps: added to the variance inside the norm.
        activation: of the feed-forward network.
        bias: whether projections and layer norms add a bias.
        dropout: on attention weights, hidden layer and the output of each sub-layer.
        num_kv_heads, d_k, d_v, qkv_bias, qk_norm: see `MultiHeadAttention`.
        rope, sliding_window: likewise; they act in the self-attention only.

    Source: Vaswani et al. 2017, section 3.1 (https://arxiv.org/abs/1706.03762); pre-norm: Xiong et
    al. 2020, figure 1 (https://arxiv.org/abs/2002.04745).
    """

    @overload
    def forward(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        *,
        need_weights: Literal[False] = False,
        **options: Unpack[AttentionOptions],
    ) -> Tensor: ...
    @overload
    def forward(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        *,
        need_weights: Literal[True],
        **options: Unpack[AttentionOptions],
    ) -> tuple[Tensor, Tensor]: ...
    def forward(self, x, mask=None, *, need_weights=False, **options):
        """Return x (B, T, d_model) after the block; with `need_weights` also weights (B, H, T, S).

        The other arguments are `AttentionOptions`, as in `MultiHeadAttention.forward`.
        """
        attention = partial(self.self_attention, mask=mask, need_weights=need_weights, **options)
        if self.norm_first:
            attended, weights = attention(self.norm1(x))
            x = x + self.dropout(attended)
            x = x + self.dropout(self.feed_forward(self.norm2(x)))
        else:
            attended, weights = attention(x)
            x = self.norm1(x + self.dropout(attended))
            x = self.norm2(x + self.dropout(self.feed_forward(x)))
        return (x, weights) if need_weights else x

    if TYPE_CHECKING:
        __call__ = forward


class DecoderBlock(Block):
    """Causal self-attention, attention to an encoder's output, and a feed-forward network.

    Arguments are those of `EncoderBlock`.

    Source: Vaswani et al. 2017, section 3.1 (https://arxiv.org/abs/1706.03762).
    """

    has_cross_attention = True

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        *,
        is_causal: bool = True,
        cache: KVCache | None = None,
        need_weights: bool = False,
    ) -> Any:
        """Return x after the block; with `need_weights` (x, self weights, cross weights).

        Args:
            x: (B, T, d_model), the target so far; with a cache, its new tokens only.
            memory: (B, S, d_model), the encoder's output.
            mask: which target positions may be attended to, as in `MultiHeadAttention.forward`.
            memory_mask: which source positions may be attended to, likewise.
            is_causal: no target position sees a later one.
            cache: takes in keys and values of the self-attention, and `cache.memory` those of the
                cross-attention, which are made by the first call only.
            need_weights: also return weights (B, H, T, T) and (B, H, T, S).
        """
        both = {"need_weights": need_weights}
        attention = partial(
            self.self_attention, mask=mask, is_causal=is_causal, cache=cache, **both
        )
        cached = None if cache is None else cache.memory
        cross_attention = partial(self.cross_attention, mask=memory_mask, cache=cached, **both)
        if self.norm_first:
            attended, weights = attention(self.norm1(x))
            x = x + self.dropout(attended)
            attended, cross_weights = cross_attention(self.norm2(x), memory)
            x = x + self.dropout(attended)
            x = x + self.dropout(self.feed_forward(self.norm3(x)))
        else:
            attended, weights = attention(x)
            x = self.norm1(x + self.dropout(attended))
            attended, cross_weights = cross_attention(x, memory)
            x = self.norm2(x + self.dropout(attended))
            x = self.norm3(x + self.dropout(self.feed_forward(x)))
        return (x, weights, cross_weights) if need_weights else x

    if TYPE_CHECKING:
        __call__ = forward


def run_blocks(
    blocks: nn.ModuleList, x: Tensor, *arguments, caches=None, **options
) -> tuple[Tensor, list]:
    """Return x after all blocks, each with its own of `caches`, and a list of weights asked for."""
    weights = []
    for i, block in enumerate(blocks):
        if caches is not None:
            options["cache"] = caches[i]
        x = block(x, *arguments, **options)
        if options.get("need_weights"):
            x, *given = x
            weights.append(given if len(given) > 1 else given[0])
    return x, weights


def make_norm(norm: str, d_model: int, eps: float, bias: bool) -> nn.Module:
    """Torch's LayerNorm ("layer") or RMSNorm ("rms") over the last dimension."""
    require_choice("norm", norm, ("layer", "rms"))
    require_positive_number(norm_eps=eps)
    if norm == "rms":
        return nn.RMSNorm(d_model, eps=eps)
    return nn.LayerNorm(d_model, eps=eps, bias=bias)


def make_dropout(p: float) -> nn.Module:
    """Torch's Dropout; where nothing is dropped nothing is computed, not even a mask of ones."""
    return nn.Dropout(p) if p > 0 else nn.Identity()
