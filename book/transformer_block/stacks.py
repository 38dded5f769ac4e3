"""Norm order and warm-up at four rates, and what a feed-forward network is for at three.

    python -m book.transformer_block.stacks {5301..5310} > stacks.json

made the table, which lies beside this file. A seed draws starts, rows and the facts: 40 seconds.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from book import runs
from companion.nn import FeedForward, LearnedPositions, MultiHeadAttention, TokenEmbedding

LENGTH = 8
RATES = (0.001, 0.003, 0.015, 0.03)
ORDERS = {
    "post-norm": ("post", 0),
    "post-norm, warm-up": ("post", 60),
    "pre-norm": ("pre", 0),
    "pre-norm, warm-up": ("pre", 60),
}
FACTS_RATES = (0.003, 0.006, 0.012)
MODELS = {
    "with FFN": {},
    "without FFN": {"feed_forward": False},
    "without FFN, wider": {"feed_forward": False, "d_model": 52},
}


class Block(nn.Module):
    """The chapter's block with switches."""

    def __init__(self, norm: str, feed_forward: bool, d_model: int):
        super().__init__()
        self.norm = norm
        attention = MultiHeadAttention(d_model, num_heads=2)
        self.sub_layers = nn.ModuleList([attention])
        if feed_forward:
            self.sub_layers.append(FeedForward(d_model, 4 * d_model))
        self.norms = nn.ModuleList(nn.LayerNorm(d_model) for _ in self.sub_layers)

    def forward(self, x: Tensor) -> Tensor:
        """The vectors (B, T, d_model), every part added."""
        for sub_layer, norm in zip(self.sub_layers, self.norms, strict=True):
            found = sub_layer(norm(x) if self.norm == "pre" else x)
            x = x + (found[0] if isinstance(sub_layer, MultiHeadAttention) else found)
            x = norm(x) if self.norm == "post" else x
        return x


class Mirror(nn.Module):
    """The chapter's stack, which reads rows of eight symbols."""

    def __init__(
        self,
        depth: int,
        norm: str,
        symbols: int = 16,
        d_model: int = 32,
        feed_forward: bool = True,
    ):
        super().__init__()
        self.symbols = symbols
        self.embedding = TokenEmbedding(symbols, d_model)
        self.positions = LearnedPositions(LENGTH, d_model)
        nn.init.normal_(self.positions.weight)
        self.blocks = nn.Sequential(*(Block(norm, feed_forward, d_model) for _ in range(depth)))
        self.final_norm = nn.LayerNorm(d_model) if norm == "pre" else nn.Identity()
        self.head = nn.Linear(d_model, symbols)

    def forward(self, ids: Tensor) -> Tensor:
        """Logits (B, T, symbols)."""
        return self.head(self.final_norm(self.blocks(self.positions(self.embedding(ids)))))


def train(
    model: nn.Module,
    answer: Callable[[Tensor], Tensor],
    steps: int,
    rate: float,
    warm_up: int,
    size: int,
) -> float:
    """Train as the chapter does; the share of symbols right on new rows."""
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), fused=True)
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = rate * min(1, (step + 1) / (warm_up + 1))
        ids = torch.randint(model.symbols, (size, LENGTH))
        loss = F.cross_entropy(model(ids).flatten(0, 1), answer(ids).flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    ids = torch.randint(model.symbols, (500, LENGTH))
    with torch.no_grad():
        return (model(ids).argmax(-1) == answer(ids)).float().mean().item()


def backwards(ids: Tensor) -> Tensor:
    """The rows (B, T) from their ends."""
    return ids.flip(1)


def order_learns(seed: int, order: str, rate: float) -> float:
    """The share of symbols that six blocks write backwards after 120 steps."""
    norm, warm_up = ORDERS[order]
    torch.manual_seed(seed)
    return train(Mirror(6, norm), backwards, 120, rate, warm_up, size=32)


def block_learns(seed: int, name: str, rate: float, *, facts: bool, steps: int) -> float:
    """The share of answers right that one block gives: from a table of facts, or backwards."""
    torch.manual_seed(seed)
    table = torch.randint(32, (32, 32))

    def recall(ids: Tensor) -> Tensor:
        return table[ids, ids.flip(1)]

    torch.manual_seed(seed)
    model = Mirror(1, "pre", symbols=32, **MODELS[name])
    return train(model, recall if facts else backwards, steps, rate, warm_up=30, size=64)


def measure(seed: int) -> dict:
    """Shares right: of each order at each rate; of each block at each rate, by its task."""
    tasks = {
        "backwards": {"facts": False, "steps": 100},
        "facts": {"facts": True, "steps": 400},
        "facts, later": {"facts": True, "steps": 1200},
    }
    return {
        "seed": seed,
        "orders": {o: [round(order_learns(seed, o, r), 4) for r in RATES] for o in ORDERS},
        "blocks": {
            name: {
                task: [round(block_learns(seed, name, r, **how), 4) for r in FACTS_RATES]
                for task, how in tasks.items()
            }
            for name in MODELS
        },
    }


def stored() -> list[dict]:
    """The committed table, a row for each seed."""
    return runs.read(__file__, "stacks.json")


if __name__ == "__main__":
    runs.write(measure)
