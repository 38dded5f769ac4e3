"""Right options of the quiz on what dropping recurrence bought, computed."""

import math

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from companion.nn import EncoderBlock, MultiHeadAttention, scaled_dot_product_attention


def flops(layer: nn.Module, n: int, d: int) -> int:
    """Operations that torch counts in one forward pass, matrix products alone."""
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        layer(torch.randn(1, n, d), need_weights=True)  # the counter does not see fused kernels
    return counter.get_total_flops()


def operations() -> str:
    n, d = 7, 12
    layer = MultiHeadAttention(d, num_heads=2)
    matrices = [module for module in layer.modules() if isinstance(module, nn.Linear)]
    assert len(matrices) == 4 and flops(layer, n, d) == 8 * n * d**2 + 4 * n**2 * d
    of_matrices = sum(2 * n * module.weight.numel() for module in matrices)
    return "From the four matrices" if of_matrices == 8 * n * d**2 else "From the scores"


def when_pairs_dominate() -> str:
    d = 16
    block = EncoderBlock(d, num_heads=1, d_ff=4 * d)
    per_word = 24 * d**2
    share = {n: 1 - n * per_word / flops(block, n, d) for n in (d, 2 * d, 6 * d - 1, 6 * d)}
    crossing = math.ceil(next(n for n, pairs in share.items() if pairs >= 0.5) / d)
    return f"From n = {crossing * 512}"


def longest_chain(output: torch.Tensor) -> int:
    """Operations that wait for each other, along the longest path of autograd's graph."""
    if output.grad_fn is None:
        return 0
    depth, todo = {}, [output.grad_fn]
    while todo:
        inputs = [node for node, _ in todo[-1].next_functions if node is not None]
        if missing := [node for node in inputs if node not in depth]:
            todo += missing
        else:
            depth[todo.pop()] = 1 + max((depth[node] for node in inputs), default=0)
    return depth[output.grad_fn]


def dependent_steps() -> str:
    lstm = nn.LSTM(5, 5, batch_first=True).double()  # in 32 bits a fused kernel hides the steps
    attention = MultiHeadAttention(5, num_heads=1).double()
    convolution = nn.Conv1d(5, 5, 3, padding=1).double()
    layers = {
        "Self-attention": lambda x: attention(x, need_weights=True)[0],
        "The LSTM": lambda x: lstm(x)[0],
        "A convolution": lambda x: convolution(x.mT),
    }
    growing = []
    for name, layer in layers.items():
        short, long = (
            longest_chain(layer(torch.randn(1, n, 5, dtype=torch.float64))) for n in (11, 22)
        )
        growing += [name] * (long > short > 0)
    (grows,) = growing
    return grows


def ignorant_gradient() -> str:
    slopes = []
    for n in (13, 52):
        value = torch.randn(n, 1, requires_grad=True)
        output, _ = scaled_dot_product_attention(torch.zeros(1, 3), torch.randn(n, 3), value)
        output.sum().backward()
        slopes.append(value.grad[0].item())
    parts = {1: "It stays the same", 4: "It becomes about a quarter"}
    return parts.get(round(slopes[0] / slopes[1]), "It vanishes")
