"""A block of GPT cut by its heads and its hidden columns, so that each machine has a part of it."""

import copy
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from book.many_machines.network import Network, all_reduce
from companion.nn import EncoderBlock


def summed(net: Network, tensors: Sequence[Tensor]) -> list[Tensor]:
    """Every machine gets the sum of tensors of one shape."""
    totals = all_reduce(net, [tensor.flatten() for tensor in tensors])
    return [total.view_as(tensor) for total, tensor in zip(totals, tensors, strict=True)]


class Copy(torch.autograd.Function):
    """Into the parts. Forward nothing is sent; backward each machine knows a part of the sum."""

    @staticmethod
    def forward(ctx, net: Network, *x: Tensor) -> tuple[Tensor, ...]:
        ctx.net = net
        return tuple(own.view_as(own) for own in x)

    @staticmethod
    def backward(ctx, *gradients: Tensor) -> tuple:
        return None, *summed(ctx.net, gradients)


class Sum(torch.autograd.Function):
    """Out of the parts. Forward each machine knows a part of the sum; backward nothing is sent."""

    @staticmethod
    def forward(ctx, net: Network, *x: Tensor) -> tuple[Tensor, ...]:
        return tuple(summed(net, x))

    @staticmethod
    def backward(ctx, *gradients: Tensor) -> tuple:
        return None, *gradients


def cut(block: EncoderBlock, machines: int) -> list[EncoderBlock]:
    """What each machine keeps: some heads, some hidden columns, and all of the norms."""
    parts = [copy.deepcopy(block) for _ in range(machines)]
    for r, part in enumerate(parts):
        attention, network = part.self_attention, part.feed_forward
        for layer in (attention.q_proj, attention.k_proj, attention.v_proj, network.up_proj):
            keep(layer, r, machines, 0)  # rows of the matrix: outputs
        for layer in (attention.out_proj, network.down_proj):
            keep(layer, r, machines, 1)  # columns: inputs
            if r:
                nn.init.zeros_(layer.bias)  # which the sum would add once for each machine
        attention.num_heads //= machines
        attention.num_kv_heads //= machines
    return parts


@torch.no_grad()
def keep(layer: nn.Linear, r: int, machines: int, axis: int) -> None:
    """Part r of a layer: of its outputs (axis 0) or of its inputs (axis 1)."""
    layer.weight = nn.Parameter(layer.weight.chunk(machines, axis)[r].clone())
    layer.out_features, layer.in_features = layer.weight.shape
    if axis == 0:
        layer.bias = nn.Parameter(layer.bias.chunk(machines)[r].clone())


def parallel_block(
    net: Network, parts: Sequence[EncoderBlock], x: Sequence[Tensor], copied=Copy
) -> list[Tensor]:
    """A block on all machines: x (B, T, d) of each is the same before it, and after it."""
    both = (
        ("norm1", lambda part, h: part.self_attention(h, is_causal=True)[0]),
        ("norm2", lambda part, h: part.feed_forward(h)),
    )
    for norm, layer in both:
        h = [getattr(part, norm)(own) for part, own in zip(parts, x, strict=True)]
        h = copied.apply(net, *h)
        h = [layer(part, own) for part, own in zip(parts, h, strict=True)]
        h = Sum.apply(net, *h)
        x = [own + new for own, new in zip(x, h, strict=True)]
    return x
