"""Who learns to name the first letter? Ten starts of every model, at three learning rates.

    python -m book.beyond_recurrence.learners {5301..5310} > learners.json

made the table, which lies beside this file. A seed draws the start of the model, the strings that
it learns and those that it is asked: a minute. Every model meets the same three rates.
"""

from collections.abc import Callable
from statistics import mean

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from book import runs
from companion.nn import EncoderBlock, SinusoidalPositions, TokenEmbedding

LETTERS, QUESTION = 7, 7
LENGTHS, RATES, STEPS = (8, 16, 32, 64), (0.001, 0.003, 0.01), 200


class Recurrence(nn.Module):
    """The states of a recurrent layer; the bias of an LSTM's forget gates starts where it says."""

    def __init__(self, layer: nn.Module, forget_bias: float | None = None):
        super().__init__()
        self.layer = layer
        if forget_bias is not None:  # torch's order of the gates: input, forget, cell, output
            nn.init.constant_(layer.bias_hh_l0.detach().chunk(4)[1], forget_bias)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x)[0]


class Transformer(nn.Module):
    """One causal block with sinusoids."""

    def __init__(self):
        super().__init__()
        self.positions = SinusoidalPositions(64)
        self.block = EncoderBlock(64, num_heads=4, d_ff=128)

    def forward(self, x: Tensor) -> Tensor:
        return self.block(self.positions(x), is_causal=True)


class Reader(nn.Module):
    """From the last vector of strings (B, n), scores (B, letters) of their first letter."""

    def __init__(self, carry: nn.Module, d: int):
        super().__init__()
        self.embed = TokenEmbedding(LETTERS + 1, d)
        self.carry = carry
        self.name = nn.Linear(d, LETTERS)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.name(self.carry(self.embed(tokens))[:, -1])


def lstm(forget_bias: float | None = None) -> Reader:
    """A reader with an LSTM."""
    return Reader(Recurrence(nn.LSTM(64, 64, batch_first=True), forget_bias), 64)


MODELS: dict[str, Callable[[], nn.Module]] = {
    "RNN": lambda: Reader(Recurrence(nn.RNN(128, 128, batch_first=True)), 128),
    "LSTM": lstm,
    "LSTM, bias 1": lambda: lstm(1.0),
    "LSTM, remembers": lambda: lstm(5.0),
    "Transformer": lambda: Reader(Transformer(), 64),
}


def recall_batch(random: torch.Generator, n: int, size: int = 32) -> tuple[Tensor, Tensor]:
    """Strings (size, n) that end with the question, and their first letters (size,)."""
    tokens = torch.randint(LETTERS, (size, n), generator=random)
    tokens[:, -1] = QUESTION
    return tokens, tokens[:, 0]


def train(make: Callable[[], nn.Module], n: int, rate: float, seed: int) -> tuple[nn.Module, int]:
    """A model after its training, which is the page's, and the steps that it took."""
    torch.manual_seed(seed)
    random = torch.Generator().manual_seed(seed)
    model, recent = make(), 0.0
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate)
    for step in range(1, STEPS + 1):
        tokens, answer = recall_batch(random, n)
        logits = model(tokens)
        optimizer.zero_grad()
        F.cross_entropy(logits, answer).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        recent = 0.9 * recent + 0.1 * (logits.argmax(-1) == answer).float().mean().item()
        if recent > 0.98:
            return model, step
    return model, STEPS


@torch.no_grad()
def accuracy(model: nn.Module, n: int, seed: int) -> float:
    """The share of 500 new strings of `n` letters whose first letter the model names."""
    tokens, answer = recall_batch(torch.Generator().manual_seed(seed + 1), n, size=500)
    return (model(tokens).argmax(-1) == answer).double().mean().item()


def examine(name: str, n: int, rate: float, seed: int) -> list:
    """[accuracy, steps taken] of one training."""
    model, steps = train(MODELS[name], n, rate, seed)
    return [round(accuracy(model, n, seed), 3), steps]


def measure(seed: int) -> dict:
    """{"seed", "RNN": [for each length [what `examine` says at each rate]], and the others}."""
    row: dict = {"seed": seed}
    for name in MODELS:
        row[name] = [[examine(name, n, rate, seed) for rate in RATES] for n in LENGTHS]
    return row


def stored() -> list[dict]:
    """The committed table, a row for each seed."""
    return runs.read(__file__, "learners.json")


def at_best_rate(name: str, n: int) -> tuple[float, list[float], list[int]]:
    """The rate at which this model names most first letters of `n`; accuracies and steps there."""
    found = [row[name][LENGTHS.index(n)] for row in stored()]
    best = max(range(len(RATES)), key=lambda i: mean(run[i][0] for run in found))
    return RATES[best], [run[best][0] for run in found], [run[best][1] for run in found]


if __name__ == "__main__":
    torch.set_num_threads(1)
    runs.write(measure)
