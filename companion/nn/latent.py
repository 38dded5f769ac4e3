"""Multi-head latent attention: the keys and values of all heads are made of one short vector."""

import torch
from torch import Tensor, nn

from companion.nn.attention import fused_attention, scaled_dot_product_attention
from companion.nn.cache import KVCache
from companion.nn.rotary import Rotation
from companion.validation import (
    check_attention_call,
    check_mask_of_layer,
    require_heads,
    require_positive,
    require_probability,
)


class LatentAttention(nn.Module):
    """Self-attention whose cache holds a latent of each token, and no key or value of any head.

    Every head makes its key and its value of the latent. A few more numbers, a key that all heads
    share, are turned to the token's position and kept beside it; queries have a part for each.

    >>> from companion.nn import RotaryEmbedding
    >>> layer = LatentAttention(12, 3, d_latent=5, rope=RotaryEmbedding(2))
    >>> cache, x = KVCache(), torch.randn(1, 6, 12)
    >>> output, _ = layer(x, is_causal=True, cache=cache)
    >>> output.shape, cache.key.shape
    (torch.Size([1, 6, 12]), torch.Size([1, 1, 6, 7]))

    Args:
        d_model: width of input and output.
        num_heads: number of heads H.
        d_latent: width of the latent c, of which keys and values are made, after an RMSNorm.
        d_k: width of a query and a key per head, without the part that is turned.
        d_v: width of a value per head; like d_k it is d_model // num_heads when left out.
        dropout: probability with which an attention weight is dropped in training.
        rope: a `RotaryEmbedding` of the width r that is turned; without it no position is seen.
        norm_eps: added to the mean square inside the norm.

    Raises:
        ValueError: heads do not divide, or a size or probability is out of range.

    Source: DeepSeek-AI 2024, section 2.1 (https://arxiv.org/abs/2405.04434), without the latent of
    the queries, which no cache holds.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_latent: int,
        *,
        d_k: int | None = None,
        d_v: int | None = None,
        dropout: float = 0.0,
        rope: nn.Module | None = None,
        norm_eps: float = 1e-5,
    ) -> None:
        super().__init__()
        require_heads(d_model, num_heads, None, d_k, d_v)
        require_positive(d_latent=d_latent)
        require_probability(dropout=dropout)
        if rope is not None and not hasattr(rope, "rotation"):
            raise TypeError(f"rope must be a module like RotaryEmbedding(r), got {rope!r}")
        self.d_model, self.num_heads, self.d_latent = d_model, num_heads, d_latent
        self.d_k = d_model // num_heads if d_k is None else d_k
        self.d_v = d_model // num_heads if d_v is None else d_v
        self.dropout, self.rope, r = dropout, rope, 0 if rope is None else rope.d_k
        self.q_proj = nn.Linear(d_model, num_heads * (self.d_k + r), bias=False)
        self.down_proj = nn.Linear(d_model, d_latent + r, bias=False)
        self.latent_norm = nn.RMSNorm(d_latent, eps=norm_eps)
        self.k_proj = nn.Linear(d_latent, num_heads * self.d_k, bias=False)
        self.v_proj = nn.Linear(d_latent, num_heads * self.d_v, bias=False)
        self.out_proj = nn.Linear(num_heads * self.d_v, d_model, bias=False)

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        *,
        is_causal: bool = False,
        need_weights: bool = False,
        positions: Tensor | None = None,
        rotation: Rotation | None = None,
        cache: KVCache | None = None,
        absorb: bool | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        """Output (B, T, d_model) for x (B, T, d_model), and weights (B, H, T, S) if asked for.

        Args:
            mask, is_causal, need_weights, positions, rotation: as in `MultiHeadAttention.forward`.
            cache: a `KVCache`; its keys (B, 1, length, c + r) are what is kept, its values empty.
            absorb: whether heads read the latents themselves, their matrices multiplied into query
                and output, rather than keys and values made of all latents: the same result. With
                a cache they do when left out; a long prompt takes less arithmetic without.
        """
        check_attention_call(self, x, x, x, positions, rotation, cache, True)
        (B, T), H, r = x.shape[:2], self.num_heads, 0 if self.rope is None else self.rope.d_k
        keys = T if cache is None else cache.num_keys(T)
        check_mask_of_layer(mask, None, (B, H, T, keys))

        q = self.q_proj(x).unflatten(-1, (H, -1)).transpose(1, 2)  # (B, H, T, d_k + r)
        q, q_turned = q.split((self.d_k, r), dim=-1)
        latent, k_turned = self.down_proj(x)[:, None].split((self.d_latent, r), dim=-1)
        if rotation is None and self.rope is not None:
            rotation = self.rope.rotation(x, positions, start=0 if cache is None else cache.length)
        if rotation is not None:
            q_turned, k_turned = rotation.turn(q_turned), rotation.turn(k_turned)
        latent = self.latent_norm(latent).to(k_turned.dtype)  # autocast leaves the norm wider
        kept = torch.cat([latent, k_turned], dim=-1)  # (B, 1, T, c + r)
        if cache is not None:
            kept, _ = cache.append(kept, kept[..., :0])
            if cache.capacity is not None:
                visible = cache.visible(T, is_causal=is_causal)
                mask, is_causal = visible if mask is None else mask & visible, False

        latent, k_turned = kept.split((self.d_latent, r), dim=-1)
        absorb = cache is not None if absorb is None else absorb
        if absorb:  # one key, as wide as what is kept, serves all heads
            q, k, v = q @ self.k_proj.weight.unflatten(0, (H, -1)), kept, latent
        else:
            k, v = (  # (B, H, S, d_k) and (B, H, S, d_v)
                layer(latent[:, 0]).unflatten(-1, (H, -1)).transpose(1, 2)
                for layer in (self.k_proj, self.v_proj)
            )
            k = torch.cat([k, k_turned.expand(-1, H, -1, -1)], dim=-1)
        q = torch.cat([q, q_turned], dim=-1)
        q = q * (q.shape[-1] / (self.d_k + r)) ** 0.5  # what follows divides by the width it sees
        attend = {"mask": mask, "is_causal": is_causal}
        attend["dropout_p"] = self.dropout if self.training else 0.0
        if need_weights:
            k, v = k.expand(-1, H, -1, -1), v.expand(-1, H, -1, -1)
            heads, weights = scaled_dot_product_attention(q, k, v, **attend)
        else:
            heads, weights = fused_attention(q, k, v, **attend), None
        if absorb:
            heads = heads @ self.v_proj.weight.unflatten(0, (H, -1)).mT  # (B, H, T, d_v)
        return self.out_proj(heads.transpose(1, 2).flatten(2)), weights
