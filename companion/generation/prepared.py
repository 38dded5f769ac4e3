"""A decoding step for speed: what a GPT computes for one token in each row, and nothing else."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import nn

from companion.nn import (
    EncoderBlock,
    FeedForward,
    LearnedPositions,
    MultiHeadAttention,
    RotaryEmbedding,
    Rotation,
    TokenEmbedding,
)

PLAIN = {EncoderBlock, FeedForward, LearnedPositions, MultiHeadAttention, RotaryEmbedding}
PLAIN |= {
    TokenEmbedding,
    nn.Linear,
    nn.LayerNorm,
    nn.RMSNorm,
    nn.Dropout,
    nn.Identity,
    nn.ModuleList,
}


def is_plain(model: nn.Module) -> bool:
    """Whether a `PreparedStep` may stand in for the model, since nothing in it has been changed.

    Not so with a hook, a replaced method, a subclass, a quantised or parametrized layer, autocast,
    or parts on several devices: then the model itself computes every token.
    """
    whole, *parts = model.modules()
    if type(whole).__module__ != "companion.models.gpt" or not {type(p) for p in parts} <= PLAIN:
        return False
    tensors = list(model.parameters())
    return (
        {type(tensor) for tensor in tensors} == {nn.Parameter}
        and len({(tensor.device, tensor.dtype) for tensor in tensors}) == 1
        and not torch.is_autocast_enabled(tensors[0].device.type)
        and not any(
            module._forward_hooks or module._forward_pre_hooks or "forward" in vars(module)
            for module in model.modules()
        )
    )


class PreparedStep:
    """One step of a `GPT` after its prompt, with all that does not change between tokens made once.

    Queries, keys and values come from one product; the cache has its full size; rotations are those
    of all positions. Nothing is checked, and no module is called. It gives the model's own logits.

    Args:
        model: a `GPT` in evaluation mode, none of its parts changed.
        caches: one for each block, filled by the prompt.
        stop: number of tokens, those of the prompt included, that there will be room for.
        mask: boolean (B, 1, 1, stop), or None.
        positions: integers (B, stop), or None.
    """

    def __init__(self, model, caches, stop, mask=None, positions=None) -> None:
        self.model, self.mask = model, mask
        at = torch.arange(stop, device=caches[0].key.device) if positions is None else positions
        if model.rope is None:
            self.added = model.positions.weight[at]  # (stop, d_model) or (B, stop, d_model)
        else:
            like = model.token_embedding.weight.new_empty(len(at) if at.dim() == 2 else 1, stop, 0)
            self.rotation = model.rope.rotation(like, at)
        self.norms = [(functional(b.norm1), functional(b.norm2)) for b in model.blocks]
        self.norms.append(functional(model.final_norm))
        self.qkv, self.kept = [], []
        for block, cache in zip(model.blocks, caches, strict=True):
            projections = [getattr(block.self_attention, f"{name}_proj") for name in "qkv"]
            weight = torch.cat([projection.weight for projection in projections])
            bias = projections[0].bias
            if bias is not None:
                bias = torch.cat([projection.bias for projection in projections])
            self.qkv.append((weight, bias))
            self.kept.append([_with_room(x, stop) for x in (cache.key, cache.value)])

    def __call__(self, token: torch.Tensor, at: int) -> torch.Tensor:
        """The logits (B, vocab_size) after tokens (B,) at place `at` behind all others."""
        model = self.model
        x = F.embedding(token, model.token_embedding.weight)  # (B, d_model)
        if model.rope is None:
            x = x + self.added[..., at, :]
        mask = None if self.mask is None else self.mask[..., : at + 1]
        for i, block in enumerate(model.blocks):
            norm1, norm2 = self.norms[i]
            attended = self._attend(i, norm1(x) if block.norm_first else x, at, mask)
            x = x + attended if block.norm_first else norm1(x + attended)
            made = feed_forward(block.feed_forward, norm2(x) if block.norm_first else x)
            x = x + made if block.norm_first else norm2(x + made)
        return linear(model.head, self.norms[-1](x))

    def _attend(self, i: int, x: torch.Tensor, at: int, mask) -> torch.Tensor:
        """The self-attention of block i for one token in each row: (B, d_model) -> (B, d_model)."""
        layer, (key, value) = self.model.blocks[i].self_attention, self.kept[i]
        H, H_kv, d_k = layer.num_heads, layer.num_kv_heads, layer.d_k
        qk, v = F.linear(x, *self.qkv[i]).split([(H + H_kv) * d_k, H_kv * layer.d_v], dim=1)
        qk = qk.view(-1, H + H_kv, 1, d_k)
        if self.model.rope is not None:
            now = Rotation(*(part[..., at : at + 1, :] for part in self.rotation))
            qk = self.model.rope(qk, now)
        key[:, :, at] = qk[:, H:, 0]
        value[:, :, at] = v.view(-1, H_kv, layer.d_v)
        # Query heads that share a key head are rows of one query: nothing need be repeated.
        q = qk[:, :H].reshape(-1, H_kv, H // H_kv, d_k)
        key, value = key[:, :, : at + 1], value[:, :, : at + 1]
        heads = F.scaled_dot_product_attention(q, key, value, attn_mask=mask)
        return linear(layer.out_proj, heads.flatten(1))


def linear(layer: nn.Linear, x: torch.Tensor) -> torch.Tensor:
    return F.linear(x, layer.weight, layer.bias)


def functional(norm: nn.Module) -> Callable[[torch.Tensor], torch.Tensor]:
    """What a norm computes, without the call of a module."""
    if isinstance(norm, nn.LayerNorm):
        shape, eps = norm.normalized_shape, norm.eps
        return lambda x: F.layer_norm(x, shape, norm.weight, norm.bias, eps)
    if isinstance(norm, nn.RMSNorm):
        return lambda x: F.rms_norm(x, norm.normalized_shape, norm.weight, norm.eps)
    return lambda x: x  # nn.Identity


def feed_forward(network: FeedForward, x: torch.Tensor) -> torch.Tensor:
    """What a `FeedForward` computes, without the call of a module."""
    hidden = linear(network.up_proj, x)
    if network.gate_proj is None:
        hidden = network.activation(hidden)
    else:
        hidden = network.activation(linear(network.gate_proj, x)) * hidden
    return linear(network.down_proj, hidden)


def _with_room(held: torch.Tensor, stop: int) -> torch.Tensor:
    """(B, H, T, width) -> (B, H, stop, width) that begins with it."""
    room = held.new_zeros(*held.shape[:2], stop, held.shape[-1])
    room[:, :, : held.shape[2]] = held
    return room
