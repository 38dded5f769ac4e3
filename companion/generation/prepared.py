"""A decoding step for speed: what a GPT computes for one token in each row, and nothing else."""

from collections.abc import Callable
from functools import partial

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
    nn.Identity,
    nn.ModuleList,
}
# Of parts with these names a `PreparedStep` takes more for granted.
NAMED = {name: {nn.Linear} for name in ("q_proj", "k_proj", "v_proj")}
NAMED["dropout"] = {nn.Dropout, nn.Identity}


def is_plain(model: nn.Module) -> bool:
    """Whether a `PreparedStep` may stand in for the model, since nothing in it has been changed.

    Not so with a hook, a replaced method, a subclass, a quantised or parametrized layer, blocks
    that differ, autocast, or parts on several devices: then the model computes every token itself.
    """
    (_, whole), *parts = model.named_modules()
    if type(whole).__module__ != "companion.models.gpt" or any(
        type(part) not in NAMED.get(name.rpartition(".")[2], PLAIN) for name, part in parts
    ):
        return False
    tensors = list(model.parameters())
    device = tensors[0].device
    return (
        {type(tensor) for tensor in tensors} == {nn.Parameter}
        and len({(tensor.device, tensor.dtype) for tensor in tensors}) == 1
        and (device.type == "meta" or not torch.is_autocast_enabled(device.type))
        and not any(
            module._forward_hooks or module._forward_pre_hooks or "forward" in vars(module)
            for module in model.modules()
        )
        and {_shape_of(block, model.rope) for block in model.blocks} == {_shape_of_all(model)}
        and model.token_embedding.scale == 1
    )


def _shape_of(block: EncoderBlock, rope) -> tuple:
    """What a `PreparedStep` takes to be the same in all blocks."""
    layer = block.self_attention
    biases = {part.bias is None for part in (layer.q_proj, layer.k_proj, layer.v_proj)}
    heads = layer.num_heads, layer.num_kv_heads, layer.d_k, layer.d_v
    return *heads, layer.rope is rope, block.norm_first, len(biases)


def _shape_of_all(model: nn.Module) -> tuple:
    """The same, as the configuration has it."""
    config = model.config
    heads = config.num_heads, config.num_kv_heads or config.num_heads
    return *heads, config.key_width, config.value_width, True, config.norm_first, 1


class PreparedStep:
    """One step of a `GPT` after its prompt, with all that does not change between tokens made once.

    Queries, keys and values come from one product; the cache has its full size; rotations are those
    of all positions. Nothing is checked, and no module is called. It gives the model's own logits.
    On a CPU, matrices that widen their input are kept a second time, transposed, as the product of
    a few rows with them is faster then; not those of a model of 1 GiB or more.

    Args:
        model: a `GPT` in evaluation mode, none of its parts changed.
        caches: one for each block, filled by the prompt.
        stop: number of tokens, those of the prompt included, that there will be room for.
        mask: boolean (B, 1, 1, stop), or None.
        positions: integers (B, stop), or None.
    """

    def __init__(self, model, caches, stop, mask=None, positions=None) -> None:
        self.mask, self.rope, self.norm_first = mask, model.rope, model.config.norm_first
        embedding = model.token_embedding.weight
        at = torch.arange(stop, device=embedding.device) if positions is None else positions
        if self.rope is None:
            self.positions = model.positions.weight[at]  # (stop, d_model) or (B, stop, d_model)
        else:
            like = embedding.new_empty(*at.shape[:-1] or (1,), stop, 0)
            self.rotation = self.rope.rotation(like, at)
        size = sum(x.numel() * x.element_size() for x in model.parameters())
        made = partial(functional, transposes=embedding.device.type == "cpu" and size < 2**30)
        self.embed = partial(F.embedding, weight=embedding)
        self.final_norm, self.head = made(model.final_norm), made(model.head)
        self.heads = _shape_of_all(model)[:4]
        self.blocks = []
        for block, cache in zip(model.blocks, caches, strict=True):
            attention = block.self_attention
            qkv = [attention.q_proj, attention.k_proj, attention.v_proj]
            weight, bias = torch.cat([x.weight for x in qkv]), qkv[0].bias
            if bias is not None:
                bias = torch.cat([x.bias for x in qkv])
            parts = block.norm1, attention.out_proj, block.norm2, block.feed_forward
            project = linear(weight, bias, made.keywords["transposes"])
            kept = [_with_room(x, stop) for x in (cache.key, cache.value)]
            self.blocks.append((project, *kept, *map(made, parts)))

    def __call__(self, token: torch.Tensor, at: int) -> torch.Tensor:
        """The logits (B, vocab_size) after tokens (B,) at place `at`, behind all others."""
        x = self.embed(token)  # (B, d_model)
        if self.rope is None:
            x = x + self.positions[..., at, :]
        for project, key, value, norm1, out, norm2, feed_forward in self.blocks:
            if self.norm_first:
                x = x + out(self._attend(project(norm1(x)), key, value, at))
                x = x + feed_forward(norm2(x))
            else:
                x = norm1(x + out(self._attend(project(x), key, value, at)))
                x = norm2(x + feed_forward(x))
        return self.head(self.final_norm(x))

    def _attend(self, qkv, key, value, at: int) -> torch.Tensor:
        """Queries, keys and values (B, ...) of one token in each row -> heads (B, H * d_v)."""
        H, H_kv, d_k, d_v = self.heads
        B, turned = len(qkv), (H + H_kv) * d_k
        qk = qkv[:, :turned].view(B, H + H_kv, 1, d_k)
        if self.rope is not None:
            qk = self.rope(qk, Rotation(*(part[..., at : at + 1, :] for part in self.rotation)))
        key[:, :, at] = qk[:, H:, 0]
        value[:, :, at] = qkv[:, turned:].view(B, H_kv, d_v)
        # Query heads that share a key head are rows of one query: nothing need be repeated.
        heads = F.scaled_dot_product_attention(
            qk[:, :H].reshape(B, H_kv, H // H_kv, d_k),
            key[:, :, : at + 1],
            value[:, :, : at + 1],
            attn_mask=None if self.mask is None else self.mask[..., : at + 1],
        )
        return heads.reshape(B, H * d_v)


def functional(module: nn.Module, transposes: bool) -> Callable[[torch.Tensor], torch.Tensor]:
    """What a module computes in evaluation mode, as a function of tensors that calls no module."""
    if isinstance(module, nn.Linear):
        return linear(module.weight, module.bias, transposes)
    if isinstance(module, nn.LayerNorm):
        shape, options = module.normalized_shape, {"bias": module.bias, "eps": module.eps}
        return partial(F.layer_norm, normalized_shape=shape, weight=module.weight, **options)
    if isinstance(module, nn.RMSNorm):
        shape, eps = module.normalized_shape, module.eps
        return partial(F.rms_norm, normalized_shape=shape, weight=module.weight, eps=eps)
    if isinstance(module, nn.Identity):
        return lambda x: x
    up, down = functional(module.up_proj, transposes), functional(module.down_proj, transposes)
    activation = module.activation
    if module.gate_proj is None:
        return lambda x: down(activation(up(x)))
    gate = functional(module.gate_proj, transposes)
    return lambda x: down(activation(gate(x)) * up(x))


def linear(weight, bias, transposes: bool) -> Callable[[torch.Tensor], torch.Tensor]:
    """x (B, in) -> x weight^T + bias (B, out)."""
    if not transposes or weight.shape[0] <= weight.shape[1]:
        return partial(F.linear, weight=weight, bias=bias)
    weight = weight.T.contiguous()
    return (
        partial(torch.mm, mat2=weight) if bias is None else partial(torch.addmm, bias, mat2=weight)
    )


def _with_room(held: torch.Tensor, stop: int) -> torch.Tensor:
    """(B, H, T, width) -> (B, H, stop, width) that begins with it."""
    room = held.new_zeros(*held.shape[:2], stop, held.shape[-1])
    room[:, :, : held.shape[2]] = held
    return room
