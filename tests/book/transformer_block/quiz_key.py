"""Right options of the quiz on the block, computed."""

import torch
from torch import nn

from companion.nn import EncoderBlock


def layer_norm() -> str:
    norm, word = nn.LayerNorm(4), torch.tensor([1.0, 3, 3, 9])
    others = torch.randn(2, 5, 4)
    others[0, 0] = word
    assert torch.allclose(norm(word), torch.tensor([-1, -1 / 3, -1 / 3, 5 / 3]), atol=1e-4)
    alone = torch.allclose(norm(others)[0, 0], norm(word))
    return "From the four numbers of this word" if alone else "From all numbers"


def who_mixes() -> str:
    """Which parts of a block notice, at another position, that one word has changed?"""
    block = EncoderBlock(12, num_heads=2, d_ff=20)
    x = torch.randn(1, 5, 12)
    changed = x.clone()
    changed[0, 3] = torch.randn(12)
    parts = {
        "Attention": lambda x: block.self_attention(x)[0],
        "the feed-forward network": block.feed_forward,
        "the norms": lambda x: block.norm2(block.norm1(x)),
    }
    mixing = [
        name
        for name, part in parts.items()
        if not torch.allclose(part(x)[0, 0], part(changed)[0, 0])
    ]
    return {1: f"{mixing[0]} alone", 3: "All of them"}.get(len(mixing), " and ".join(mixing))


def gradients_are_not_enough() -> str:
    """The share of the vectors that is difference between words, after six stacked averages."""

    def difference(x: torch.Tensor) -> float:
        return ((x - x.mean(1, keepdim=True)).norm() / x.norm()).item()

    torch.manual_seed(7)
    x = torch.randn(2, 8, 24)
    before, norm = difference(x), nn.LayerNorm(24)
    for _ in range(6):
        block = EncoderBlock(24, num_heads=4, d_ff=96)
        x = norm(block.feed_forward(norm(block.self_attention(x)[0])))
    first = "On the way forward all words become the same"
    return first if difference(x) < 1e-2 < 0.9 < before else "Norms made the gradients vanish"


def two_thirds() -> str:
    block = EncoderBlock(512, num_heads=8, d_ff=2048)
    attention, feed_forward, whole = (
        sum(parameter.numel() for parameter in part.parameters())
        for part in (block.self_attention, block.feed_forward, block)
    )
    if abs(feed_forward / whole - 2 / 3) < 0.01:
        return "The feed-forward network, with about two thirds"
    return "The attention, with" if attention > feed_forward else "Both have about the same"


def padding() -> str:
    block, words = EncoderBlock(12, num_heads=2, d_ff=20), torch.randn(1, 3, 12)
    padded = torch.cat([words, torch.randn(1, 2, 12)], dim=1)
    moved = not torch.allclose(block(padded)[:, :3], block(words), atol=1e-3)
    return "The vectors of the real words change" if moved else "Only the outputs"
