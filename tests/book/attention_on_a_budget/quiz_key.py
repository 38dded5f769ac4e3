"""Right options of the quiz on attention on a budget, computed."""

import torch
from torch.nn import functional as F

from book.attention_on_a_budget.checks import _bytes_held
from book.attention_on_a_budget.matrix import delta_rule, linear_attention

CAT, DOG = torch.tensor([1.0, 0]), torch.tensor([0.5, 0.75**0.5])
KEYS = torch.stack([CAT, DOG, CAT])
VALUES = torch.eye(3)  # 3, 5 and 7


def cat_says() -> str:
    first, second, third = linear_attention(CAT.expand(3, 2), KEYS, VALUES)[-1].tolist()
    return f"{first:g}, {second:g} and {third:g}"


def overwritten() -> str:
    *_, last = delta_rule(CAT.expand(3, 2), KEYS, VALUES, torch.ones(3))[-1].tolist()
    return f"{last:g}, "


def more_facts() -> str:
    """Which rule gives back more of 128 facts, with one draw of keys and symbols."""
    generator = torch.Generator().manual_seed(0)
    keys = F.normalize(torch.randn(128, 64, generator=generator), dim=1)
    symbols = torch.randint(64, (128,), generator=generator)
    values = F.one_hot(symbols, 64).float()
    silent = torch.zeros(128)  # after the facts, questions that write nothing

    def right(scores) -> float:
        return (scores[128:].argmax(1) == symbols).float().mean().item()

    query, written = torch.cat([keys, keys]), torch.cat([values, 0 * values])
    added = right(linear_attention(query, query, written))
    overwritten = right(delta_rule(query, query, written, torch.cat([silent + 1, silent])))
    return "Adding" if added > overwritten else "Overwriting"


def bytes_of_matrix() -> str:
    cache, matrix = (_bytes_held([kind], 96, 32, 2, 16) for kind in ("full", "matrix"))
    return f"{cache} and {matrix}"
