"""The attention layer: project, split into heads, attend, merge; and the cache of keys and values.

Shapes: B batch, H heads, T query length, S key length, d_k width of a query and a key, d_v width of
a value.
"""

import torch
from torch import nn

from companion.nn.attention import (
    check_mask_and_bias,
    fused_attention,
    scaled_dot_product_attention,
)
from companion.validation import require_features, require_heads, require_probability


class KVCache:
    """Keys and values of the tokens that one attention layer has seen, so that each is made once.

    Attributes:
        key: (B, num_kv_heads, length, d_k), or None while empty.
        value: (B, num_kv_heads, length, d_v), or None while empty.
    """

    def __init__(self) -> None:
        self.key: torch.Tensor | None = None
        self.value: torch.Tensor | None = None
        self._key_room: torch.Tensor | None = None
        self._value_room: torch.Tensor | None = None

    @property
    def length(self) -> int:
        """Number of tokens held."""
        return 0 if self.key is None else self.key.shape[-2]

    def append(self, key: torch.Tensor, value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Add the keys and values of new tokens; return those of all tokens so far."""
        if self.key is None:
            self.key, self.value = key, value
        elif torch.is_grad_enabled():
            self.key = torch.cat([self.key, key], dim=-2)
            self.value = torch.cat([self.value, value], dim=-2)
            self._key_room = self._value_room = None
        else:
            self.key, self._key_room = _extended(self.key, key, self._key_room)
            self.value, self._value_room = _extended(self.value, value, self._value_room)
        return self.key, self.value

    def select(self, rows: torch.Tensor) -> None:
        """Keep these rows of the batch, in this order; a row may be taken more than once."""
        self.key, self.value = self.key[rows], self.value[rows]
        self._key_room = self._value_room = None


def _extended(
    past: torch.Tensor, new: torch.Tensor, room: torch.Tensor | None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Write `new` behind `past` into the room that begins with it, or into one of twice the size.

    So a token is copied about once in its life, where torch.cat would copy all of the past.
    """
    start, stop = past.shape[-2], past.shape[-2] + new.shape[-2]
    if room is None or room.shape[-2] < stop:
        room = past.new_empty(*past.shape[:-2], 2 * stop, past.shape[-1])
        room.narrow(-2, 0, start).copy_(past)
    room.narrow(-2, start, new.shape[-2]).copy_(new)
    return room.narrow(-2, 0, stop), room


class MemoryCache(KVCache):
    """Keys and values that one cross-attention made of its memory, to be read at every later step.

    It belongs to that memory: another one needs a new cache.
    """


class MultiHeadAttention(nn.Module):
    """Several attentions side by side, each on its own projection of the input.

    Torch's fused kernel does the work unless the weights are asked for.

    Args:
        d_model: width of input and output.
        num_heads: number of heads H.
        num_kv_heads: number of key and value heads, shared by groups of query heads (grouped-query
            attention); num_heads when left out.
        d_k: width of a query and a key per head; d_model // num_heads when left out.
        d_v: width of a value per head; d_model // num_heads when left out.
        bias: whether the four projections add a bias.
        dropout: probability with which an attention weight is dropped in training.
        rope: a `RotaryEmbedding` that turns query and key in self-attention.

    Raises:
        ValueError: heads do not divide, or a size or probability is out of range.

    Source: Vaswani et al. 2017, section 3.2.2 (https://arxiv.org/abs/1706.03762); grouped queries:
    Ainslie et al. 2023, section 2.2 (https://arxiv.org/abs/2305.13245).
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
        dropout: float = 0.0,
        rope: nn.Module | None = None,
    ) -> None:
        super().__init__()
        require_heads(d_model, num_heads, num_kv_heads, d_k, d_v)
        require_probability(dropout=dropout)
        self.d_model, self.num_heads = d_model, num_heads
        self.num_kv_heads = num_heads if num_kv_heads is None else num_kv_heads
        self.d_k = d_model // num_heads if d_k is None else d_k
        self.d_v = d_model // num_heads if d_v is None else d_v
        if rope is not None and rope.d_k != self.d_k:
            raise ValueError(f"rope turns vectors of width {rope.d_k}, but d_k = {self.d_k}")
        self.dropout = dropout
        self.rope = rope
        self.q_proj = nn.Linear(d_model, num_heads * self.d_k, bias=bias)
        self.k_proj = nn.Linear(d_model, self.num_kv_heads * self.d_k, bias=bias)
        self.v_proj = nn.Linear(d_model, self.num_kv_heads * self.d_v, bias=bias)
        self.out_proj = nn.Linear(num_heads * self.d_v, d_model, bias=bias)

    def forward(
        self,
        query: torch.Tensor,
        key: torch.Tensor | None = None,
        value: torch.Tensor | None = None,
        mask: torch.Tensor | None = None,
        *,
        is_causal: bool = False,
        score_bias: torch.Tensor | None = None,
        need_weights: bool = False,
        positions: torch.Tensor | None = None,
        cache: KVCache | None = None,
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Attend from every query position to the key positions.

        Args:
            query: (B, T, d_model).
            key: (B, S, d_model); the query itself when left out (self-attention).
            value: (B, S, d_model); the key when left out.
            mask: boolean (T, S), or four dimensions that broadcast to (B, H, T, S); True means "may
                attend". With a cache, S counts the cached tokens too.
            is_causal: no query sees a later key; the last query is aligned with the last key.
            score_bias: floating, broadcasts to (B, H, T, S); added to the scaled scores.
            need_weights: also return the weights, from the explicit computation.
            positions: integers (T,) or (B, T) for the rotary embedding; counted on from the cache
                when left out.
            cache: in self-attention a `KVCache`, filled in place with the new keys and values; in
                cross-attention a `MemoryCache`, filled by the first call and read by all others.

        Returns:
            output (B, T, d_model), and weights (B, H, T, S), or None unless `need_weights`.

        Raises:
            ValueError: shapes do not fit together, or an argument has nothing to act on.
            TypeError: the mask is not boolean, or an input is not floating.
        """
        if key is None and value is not None:
            raise ValueError(
                "value was given without key; give both, or neither for self-attention"
            )
        is_self_attention = key is None or key is query
        key = query if key is None else key
        value = key if value is None else value
        self._check_forward(
            query, key, value, mask, score_bias, positions, cache, is_self_attention
        )

        q = self._split_heads(self.q_proj(query), self.num_heads)  # (B, H, T, d_k)
        if isinstance(cache, MemoryCache) and cache.length:
            k, v = cache.key, cache.value
        else:
            k = self._split_heads(self.k_proj(key), self.num_kv_heads)  # (B, H_kv, S, d_k)
            v = self._split_heads(self.v_proj(value), self.num_kv_heads)  # (B, H_kv, S, d_v)
            if self.rope is not None and is_self_attention:
                past = 0 if cache is None else cache.length
                q, k = self.rope(q, positions, start=past), self.rope(k, positions, start=past)
            if cache is not None:
                k, v = cache.append(k, v)

        attend = {
            "mask": mask,
            "is_causal": is_causal,
            "score_bias": score_bias,
            "dropout_p": self.dropout if self.training else 0.0,
        }
        if need_weights:
            group = self.num_heads // self.num_kv_heads
            k, v = k.repeat_interleave(group, dim=1), v.repeat_interleave(group, dim=1)
            heads, weights = scaled_dot_product_attention(q, k, v, **attend)
        else:
            heads, weights = fused_attention(q, k, v, **attend), None
        merged = heads.transpose(1, 2).flatten(2)  # (B, T, H * d_v)
        return self.out_proj(merged), weights

    def _split_heads(self, x: torch.Tensor, num_heads: int) -> torch.Tensor:
        """(B, T, num_heads * width) -> (B, num_heads, T, width)."""
        B, T, width = x.shape
        return x.view(B, T, num_heads, width // num_heads).transpose(1, 2)

    def _check_forward(
        self, query, key, value, mask, score_bias, positions, cache, is_self_attention
    ) -> None:
        require_features("query", query, "(B, T, d_model)", self.d_model)
        if not is_self_attention or value is not key:
            require_features("key", key, "(B, T, d_model)", self.d_model)
            require_features("value", value, "(B, T, d_model)", self.d_model)
        if not query.shape[0] == key.shape[0] == value.shape[0]:
            raise ValueError(
                "query, key and value must have the same batch size, got "
                f"{query.shape[0]}, {key.shape[0]} and {value.shape[0]}"
            )
        if key.shape[1] != value.shape[1]:
            raise ValueError(
                f"key and value must have the same length, got {key.shape[1]} and {value.shape[1]}"
            )
        if positions is not None and (self.rope is None or not is_self_attention):
            raise ValueError(
                "positions only serve a rotary embedding in self-attention; "
                "build the layer with rope=RotaryEmbedding(d_k), or leave positions out"
            )
        S = key.shape[1]
        if cache is not None:
            self._check_cache(cache, query.shape[0], S, is_self_attention)
            if is_self_attention:
                S += cache.length
        if isinstance(mask, torch.Tensor) and mask.dim() not in (2, 4):
            raise ValueError(
                "mask must have shape (T, S) or four dimensions (B, H, T, S), "
                f"got {tuple(mask.shape)}; a mask per sequence (B, T, S) becomes mask[:, None]"
            )
        check_mask_and_bias(mask, score_bias, (query.shape[0], self.num_heads, query.shape[1], S))

    def _check_cache(self, cache, batch: int, S: int, is_self_attention: bool) -> None:
        if not isinstance(cache, KVCache):
            raise TypeError(f"cache must be a KVCache(), got {type(cache).__name__}")
        if is_self_attention and isinstance(cache, MemoryCache):
            raise TypeError("cache must be a KVCache() in self-attention, got MemoryCache")
        if not is_self_attention and not isinstance(cache, MemoryCache):
            raise ValueError(
                "a KVCache holds the keys of self-attention; leave key and value out, or give a "
                "MemoryCache() in cross-attention"
            )
        if cache.key is None:
            return
        B, H, cached, d_k = cache.key.shape
        found = (B, H, d_k, cache.value.shape[-1])
        expected = (batch, self.num_kv_heads, self.d_k, self.d_v)
        if found != expected:
            raise ValueError(
                f"the cache holds (batch, num_kv_heads, d_k, d_v) = {found}, but this call needs "
                f"{expected}; start a new {type(cache).__name__}() for each layer and each batch"
            )
        if not is_self_attention and cached != S:
            raise ValueError(
                f"the cache holds a memory of length {cached}, but key has length {S}; "
                "start a new MemoryCache() for each memory"
            )
