"""Right options of the quiz on today's block on trial, computed."""

from statistics import mean

import torch

from book.experts import trials
from companion.nn import Experts, FeedForward


def active() -> str:
    layer, plain = Experts(6, 10, 8, k=2), FeedForward(6, 10)

    def size(module) -> int:
        return sum(weight.numel() for weight in module.parameters())

    seen = []
    for expert in layer.experts:
        expert.register_forward_hook(lambda module, args, output: seen.append(args[0].shape[1]))
    layer(torch.randn(1, 30, 6))
    return f"{size(layer.experts) // size(plain)} times the weights, {sum(seen) // 30} times"


def collapsed() -> str:
    layer = Experts(4, 3, 8)
    torch.nn.init.zeros_(layer.router.weight)
    with torch.no_grad():
        layer.router.weight[5] = 50.0
    layer(torch.ones(1, 9, 4))
    return f"{layer.balance_loss.item():.0f}"


def shift() -> str:
    found = trials.stored()["changes"]
    zero = mean(map(mean, found["the base"]["gaps"]))
    gains = {name: zero - mean(found[name]["gaps"][0]) for name in found}
    whole = gains["LayerNorm for RMSNorm"]
    alone = {
        "The learned": gains["RMSNorm with a shift"] / whole,
        "Taking away": gains["LayerNorm without its shift"] / whole,
    }
    best = max(alone, key=alone.get)
    return best if alone[best] > 0.7 else "Both together"
