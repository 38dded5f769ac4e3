"""Right options of the quiz on folklore about a real model, computed."""

import math

import torch
from torch import nn

from companion.models import GPT, GPTConfig


def even() -> str:
    guess = math.log(49_152)
    return "It is worse than an even" if guess < 14 else "It has lost"


def sink() -> str:
    weights = torch.stack([nn.functional.softmax(10 * torch.randn(6), 0) for _ in range(50)])
    zero = (weights.sum(1) < 0.5).any()
    return "Give every token" if zero else "Put its weight on a token"


def left_to_right() -> str:
    """In which rows do the maps of two texts differ that part at the adjective?"""
    torch.manual_seed(0)
    sizes = {"vocab_size": 20, "d_model": 16, "num_layers": 2, "num_heads": 2, "d_ff": 32}
    model = GPT(GPTConfig(**sizes, max_len=16)).eval()
    noun, it, adjective, length = 1, 8, 11, 13
    texts = torch.arange(length).repeat(2, 1)
    texts[1, adjective] = 19
    with torch.no_grad():
        _, maps = model(texts, need_weights=True)
    change = torch.stack([(m[0] - m[1]).abs().amax((0, 2)) for m in maps]).amax(0)  # (length,)
    differs = [t for t in range(length) if change[t] > 1e-6]
    if differs == list(range(length)):
        return "In all rows"
    if differs == list(range(adjective, length)):
        return "Only in rows from the adjective on"
    return "In the row of 'it'" if it in differs and noun not in differs else "In those"


def doubled() -> str:
    x = torch.ones(576)
    x[507] = 10_000
    y = x.clone()
    y[507] *= 2
    before, after = (nn.RMSNorm(576, elementwise_affine=False)(v) for v in (x, y))
    large, others = (after / before)[507].item(), (after / before)[0].item()
    if abs(large - 1) < 0.01:
        return "All numbers" if abs(others - 1) < 0.01 else "The large number as before"
    return "Twice the large number"
