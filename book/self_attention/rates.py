"""Does a single attention learn with its scores divided by the root of its width, and without?

    python -m book.self_attention.rates {5301..5310} > rates.json

made the table, which lies beside this file. A seed draws starts and questions: 10 seconds.
"""

from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from book import runs
from companion.nn import scaled_dot_product_attention

RATES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
SCALES = {"scaled": 256**-0.5, "raw": 1.0}
OPTIMIZERS = {
    "SGD with momentum": partial(torch.optim.SGD, momentum=0.9),
    "Adam": torch.optim.Adam,
}


def recall_batch(
    random: torch.Generator, size: int = 64, pairs: int = 8, symbols: int = 32
) -> list[Tensor]:
    """Keys and values (size, pairs), the key asked (size, 1), and its value (size,)."""
    shuffled = torch.rand(size, symbols, generator=random).argsort(1)
    keys = shuffled[:, :pairs]
    values = torch.randint(symbols, (size, pairs), generator=random)
    chosen = torch.randint(pairs, (size, 1), generator=random)
    return [keys, values, keys.gather(1, chosen), values.gather(1, chosen)[:, 0]]


class Recall(nn.Module):
    """The chapter's single attention."""

    def __init__(self, scale: float, d_k: int = 256, symbols: int = 32, d_model: int = 64):
        super().__init__()
        self.names = nn.Embedding(symbols, d_model)
        self.contents = nn.Embedding(symbols, d_model)
        self.w_q = nn.Parameter(torch.randn(d_model, d_k) / d_model**0.5)
        self.w_k = nn.Parameter(torch.randn(d_model, d_k) / d_model**0.5)
        self.answer = nn.Linear(d_model, symbols)
        self.scale = scale

    def forward(self, keys: Tensor, values: Tensor, asked: Tensor) -> Tensor:
        """Logits (size, symbols)."""
        query, key = self.names(asked) @ self.w_q, self.names(keys) @ self.w_k
        value = self.contents(values)
        found, _ = scaled_dot_product_attention(query, key, value, scale=self.scale)
        return self.answer(found[:, 0])


def accuracy(
    seed: int,
    algorithm: Callable[..., torch.optim.Optimizer],
    rate: float,
    scale: float,
    steps: int = 200,
) -> float:
    """The share of new questions that a model answers after its training."""
    torch.manual_seed(seed)
    random = torch.Generator().manual_seed(seed)
    model = Recall(scale)
    optimizer = algorithm(model.parameters(), lr=rate)
    for _ in range(steps):
        *question, answer = recall_batch(random)
        optimizer.zero_grad()
        F.cross_entropy(model(*question), answer).backward()
        optimizer.step()
    *question, answer = recall_batch(random, size=2000)
    return (model(*question).argmax(-1) == answer).float().mean().item()


def measure(seed: int) -> dict:
    """{"seed", optimizer: {"scaled" or "raw": an accuracy for each rate}}."""
    return {"seed": seed} | {
        name: {
            kind: [round(accuracy(seed, algorithm, r, scale), 4) for r in RATES]
            for kind, scale in SCALES.items()
        }
        for name, algorithm in OPTIMIZERS.items()
    }


def stored() -> list[dict]:
    """The committed table, a row for each seed."""
    return runs.read(__file__, "rates.json")


if __name__ == "__main__":
    runs.write(measure)
