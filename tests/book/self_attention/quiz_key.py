"""Right options of the quiz on self-attention, computed."""

import torch

from companion.nn import scaled_dot_product_attention


def row(scores: torch.Tensor, mask: torch.Tensor | None = None) -> list[str]:
    """The weights of one query whose scaled scores are given, as text."""
    count = len(scores)
    query, key = scores[None], torch.eye(count)
    _, weights = scaled_dot_product_attention(query, key, key, mask, scale=1.0)
    return [f"{weight:.2f}" for weight in weights[0].tolist()]


def question_of_zeros() -> str:
    weights = row(torch.zeros(4))
    return f"{', '.join(weights[:3])} and {weights[3]}"


def how_many_scores() -> str:
    words = torch.randn(5, 3)
    _, weights = scaled_dot_product_attention(words, words, words)
    assert (weights > 0).all()
    return str(weights.numel())


def forbidden_key() -> str:
    first, second, third = row(torch.tensor([2.0, 0, 0]), torch.tensor([True, True, False]))
    assert row(torch.tensor([2.0, 0, 0])) == ["0.79", "0.11", "0.11"]
    return f"{first}, {second} and {float(third):g}"


def spread_of_scores() -> str:
    random = torch.Generator().manual_seed(7)
    query, key = torch.randn(2, 20_000, 64, generator=random)
    return f"{(query * key).sum(-1).std():.0f}"
