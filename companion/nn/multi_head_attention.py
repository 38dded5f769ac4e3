"""The attention layer: project, split into heads, attend, merge.

Shapes: B batch, H heads, T query length, S key length, d_k width of a query and a key, d_v width of
a value.
"""

from typing import TYPE_CHECKING, Literal, TypedDict, Unpack, overload

from torch import Tensor, nn

from companion.nn.attention import (
    for_every_query_head,
    fused_attention,
    scaled_dot_product_attention,
)
from companion.nn.cache import KVCache
from companion.nn.masks import causal
from companion.nn.rotary import Rotation
from companion.validation import (
    check_attention_call,
    check_mask_of_layer,
    require_heads,
    require_positive,
    require_positive_number,
    require_probability,
)


class AttentionOptions(TypedDict, total=False):
    """What a block passes on to its attention as it is: `**options: Unpack[AttentionOptions]`.

    is_causal, score_bias, positions, rotation and cache, as in `MultiHeadAttention.forward`.
    """

    is_causal: bool
    score_bias: Tensor | None
    positions: Tensor | None
    rotation: Rotation | None
    cache: KVCache | None


class MultiHeadAttention(nn.Module):
    """Several attentions side by side, each on its own projection of the input.

    Torch's fused kernel does the work unless the weights are asked for.

    >>> layer, x = MultiHeadAttention(d_model=12, num_heads=3), torch.randn(2, 5, 12)
    >>> output, weights = layer(x, is_causal=True, need_weights=True)
    >>> output.shape, weights.shape
    (torch.Size([2, 5, 12]), torch.Size([2, 3, 5, 5]))

    Args:
        d_model: width of input and output.
        num_heads: number of heads H.
        num_kv_heads: number of key and value heads, shared by groups of query heads (grouped-query
            attention); num_heads when left out.
        d_k: width of a query and a key per head; d_model // num_heads when left out.
        d_v: width of a value per head; d_model // num_heads when left out.
        bias: whether the four projections add a bias.
        qkv_bias: whether those of query, key and value do; as `bias` when left out.
        dropout: probability with which an attention weight is dropped in training.
        rope: a `RotaryEmbedding` that turns query and key in self-attention.
        qk_norm: whether an RMSNorm over each head's query and key comes before the rotation.
        norm_eps: added to the mean square inside it.
        sliding_window: with is_causal, a query sees itself and the sliding_window - 1 keys before.

    Raises:
        ValueError: heads do not divide, or a size or probability is out of range.

    Source: Vaswani et al. 2017, section 3.2.2 (https://arxiv.org/abs/1706.03762); grouped queries:
    Ainslie et al. 2023, section 2.2 (https://arxiv.org/abs/2305.13245); norm of queries and keys:
    Henry et al. 2020 (https://arxiv.org/abs/2010.04245); sliding window: Jiang et al. 2023,
    section 2 (https://arxiv.org/abs/2310.06825).
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        *,
        num_kv_heads: int | None = None,
        d_k: int | None = None,
        d_v: int | None = None,
        bias: bool = True,
        qkv_bias: bool | None = None,
        dropout: float = 0.0,
        rope: nn.Module | None = None,
        qk_norm: bool = False,
        norm_eps: float = 1e-5,
        sliding_window: int | None = None,
    ) -> None:
        super().__init__()
        require_heads(d_model, num_heads, num_kv_heads, d_k, d_v)
        require_probability(dropout=dropout)
        self.d_model, self.num_heads = d_model, num_heads
        self.num_kv_heads = num_heads if num_kv_heads is None else num_kv_heads
        self.d_k = d_model // num_heads if d_k is None else d_k
        self.d_v = d_model // num_heads if d_v is None else d_v
        if rope is not None and not hasattr(rope, "rotation"):
            raise TypeError(f"rope must be a module like RotaryEmbedding(d_k), got {rope!r}")
        if rope is not None and rope.d_k != self.d_k:
            raise ValueError(f"rope turns vectors of width {rope.d_k}, but d_k = {self.d_k}")
        if sliding_window is not None:
            require_positive(sliding_window=sliding_window)
        self.dropout, self.rope, self.sliding_window = dropout, rope, sliding_window
        qkv_bias = bias if qkv_bias is None else qkv_bias
        self.q_proj = nn.Linear(d_model, num_heads * self.d_k, bias=qkv_bias)
        self.k_proj = nn.Linear(d_model, self.num_kv_heads * self.d_k, bias=qkv_bias)
        self.v_proj = nn.Linear(d_model, self.num_kv_heads * self.d_v, bias=qkv_bias)
        self.q_norm = self.k_norm = None
        if qk_norm:
            require_positive_number(norm_eps=norm_eps)
            self.q_norm = nn.RMSNorm(self.d_k, eps=norm_eps)
            self.k_norm = nn.RMSNorm(self.d_k, eps=norm_eps)
        self.out_proj = nn.Linear(num_heads * self.d_v, d_model, bias=bias)

    @overload
    def forward(
        self,
        query: Tensor,
        key: Tensor | None = None,
        value: Tensor | None = None,
        mask: Tensor | None = None,
        *,
        need_weights: Literal[False] = False,
        **options: Unpack[AttentionOptions],
    ) -> tuple[Tensor, None]: ...
    @overload
    def forward(
        self,
        query: Tensor,
        key: Tensor | None = None,
        value: Tensor | None = None,
        mask: Tensor | None = None,
        *,
        need_weights: Literal[True],
        **options: Unpack[AttentionOptions],
    ) -> tuple[Tensor, Tensor]: ...
    def forward(
        self,
        query,
        key=None,
        value=None,
        mask=None,
        *,
        is_causal=False,
        score_bias=None,
        need_weights=False,
        positions=None,
        rotation=None,
        cache=None,
    ):
        """Attend from every query position to the key positions.

        Args:
            query: (B, T, d_model).
            key: (B, S, d_model); the query itself when left out (self-attention).
            value: (B, S, d_model); the key when left out.
            mask: boolean (T, S), or four dimensions that broadcast to (B, H, T, S); True means "may
                attend". With a cache, S counts the cached tokens too, or is its capacity.
            is_causal: no query sees a later key; the last query is aligned with the last key.
            score_bias: floating, broadcasts to (B, H, T, S); added to the scaled scores.
            need_weights: also return the weights, from the explicit computation.
            positions: integers (T,) or (B, T), of the queries, for the rotary embedding; counted on
                from the cache when left out.
            rotation: what a `RotaryEmbedding` makes of the positions, if that is done already.
            cache: a `KVCache`. In self-attention it takes the new keys and values in; in
                cross-attention the first call fills it and all others read it.

        Returns:
            output (B, T, d_model), and weights (B, H, T, S), or None unless `need_weights`.

        Raises:
            ValueError: shapes do not fit together, an argument has nothing to act on, or a layer
                that rotates is given a key that is not the query: its position would be unknown.
            TypeError: the mask is not boolean, or an input is not floating.
        """
        is_self_attention = key is None or key is query
        if key is None and value is not None:
            raise ValueError("value was given without key; give both, or none for self-attention")
        key = query if key is None else key
        value = key if value is None else value
        check_attention_call(self, query, key, value, positions, rotation, cache, is_self_attention)
        (B, T), S = query.shape[:2], key.shape[1]
        if mask is not None or score_bias is not None:
            keys = cache.num_keys(T) if cache is not None and is_self_attention else S
            check_mask_of_layer(mask, score_bias, (B, self.num_heads, T, keys))

        q, memory = self.q_proj(query).view(B, T, self.num_heads, self.d_k).transpose(1, 2), None
        q = q if self.q_norm is None else self.q_norm(q)  # (B, H, T, d_k)
        if cache is not None and not is_self_attention:
            memory = cache.held_memory(S, B, self.num_kv_heads, self.d_k, self.d_v)
        if memory is None:  # (B, H_kv, S, d_k) and (B, H_kv, S, d_v)
            k = self.k_proj(key).view(B, S, self.num_kv_heads, self.d_k).transpose(1, 2)
            k = k if self.k_norm is None else self.k_norm(k)
            v = self.v_proj(value).view(B, S, self.num_kv_heads, self.d_v).transpose(1, 2)
        else:
            k, v = memory
        if rotation is None and self.rope is not None:
            rotation = self.rope.rotation(q, positions, start=0 if cache is None else cache.length)
        if rotation is not None:
            q, k = rotation.turn(q), rotation.turn(k)
        if cache is not None and memory is None:
            k, v = cache.append(k, v) if is_self_attention else cache.hold(k, v)

        if cache is not None and cache.capacity is not None:
            visible = cache.visible(T, is_causal=is_causal, window=self.sliding_window)
            mask, is_causal = visible if mask is None else mask & visible, False
        elif is_causal and self.sliding_window is not None:
            mask = causal(mask, T, k.shape[-2], window=self.sliding_window, device=q.device)
            is_causal = mask is None

        attend = {"mask": mask, "is_causal": is_causal, "score_bias": score_bias}
        attend["dropout_p"] = self.dropout if self.training else 0.0
        if need_weights:
            k, v = (for_every_query_head(x, self.num_heads) for x in (k, v))
            heads, weights = scaled_dot_product_attention(q, k, v, **attend)
        else:
            heads, weights = fused_attention(q, k, v, **attend), None
        merged = heads.transpose(1, 2).flatten(2)  # (B, T, H * d_v)
        return self.out_proj(merged), weights

    if TYPE_CHECKING:
        __call__ = forward
