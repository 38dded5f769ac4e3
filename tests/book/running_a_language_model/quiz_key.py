"""Right options of the quiz on running a language model, computed."""

import torch

from companion.generation import generate
from companion.models import GPT, GPTConfig

SMALL = {"vocab_size": 8, "d_model": 4, "num_layers": 1, "num_heads": 1, "d_ff": 8}


def positions_computed() -> str:
    """Counted while a small model writes."""
    model = GPT(GPTConfig(**SMALL, max_len=400))
    positions = []
    hook = model.token_embedding.register_forward_pre_hook(
        lambda _, args: positions.append(args[0].shape[1])
    )
    generate(model, torch.zeros(1, 300, dtype=torch.long), 20, temperature=0)
    hook.remove()
    return f"{sum(positions)}"


def smallest_scale() -> str:
    weights = torch.tensor([[0.1, -0.2, 0.3, 7.0]])
    scale = weights.abs().max() / (2 ** (4 - 1) - 1)
    rounded = (weights / scale).round() * scale
    small = rounded[0, :3].abs()
    if torch.equal(rounded, weights):
        return "They are exact"
    return f"They all become {small.max():.0f}" if (small == small[0]).all() else "They differ"


def bits_with_scale() -> str:
    codes, scale = 32 * 4, 16
    return f"{(codes + scale) / 32:g}"


def which_is_right() -> str:
    """A long sum of products in bfloat16, in one order and in the other, against float64."""
    random = torch.Generator().manual_seed(0)
    apart = {"one": 0.0, "other": 0.0, "between": 0.0}
    for _ in range(50):
        products = torch.randn(256, generator=random).bfloat16()
        exact = products.double().sum()
        sums = []
        for order in (products, products.flip(0)):
            total = torch.zeros((), dtype=torch.bfloat16)
            for product in order:
                total = total + product
            sums.append(total.double())
        apart["one"] += (sums[0] - exact).abs().item()
        apart["other"] += (sums[1] - exact).abs().item()
        apart["between"] += (sums[0] - sums[1]).abs().item()
    if apart["one"] < apart["other"] / 2:
        return "Those without a cache"
    return "Those with a cache" if apart["other"] < apart["one"] / 2 else "Neither"
