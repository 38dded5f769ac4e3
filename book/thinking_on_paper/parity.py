"""The parity of sixteen bits, with its steps written and at once: how do ten starts rise?

    python -m book.thinking_on_paper.parity {5301..5310} > book/thinking_on_paper/parity.json

made the table beside this file. Models, strings and rate are the chapter's, whose few lines stand
here again. A seed draws the order of all strings and the start, the same for both: 15 seconds.
"""

import torch
from torch import Tensor, nn

from book import runs
from book.language_model import LanguageModel, sample
from companion.training import fit, masked_token_loss

BITS, STEPS, BATCH, ASKED, EVERY = 16, 250, 32, 300, 25
EQUALS, BLANK, SYMBOLS = 11, 14, 15  # of the chapter's alphabet, whose first two are 0 and 1
WAYS = ("steps written", "at once")


def strings(seed: int) -> Tensor:
    """All strings of so many bits (N, BITS), in the order that this seed draws."""
    draw = torch.Generator().manual_seed(seed)
    numbers = torch.randperm(2**BITS, generator=draw)
    return numbers[:, None] >> torch.arange(BITS) & 1


def texts(bits: Tensor, way: str) -> Tensor:
    """The bits, an equals sign, and the parity after each of them or after all."""
    so_far = bits.cumsum(1) % 2
    equals = torch.full_like(bits[:, :1], EQUALS)
    return torch.cat([bits, equals, so_far if way == "steps written" else so_far[:, -1:]], dim=1)


def right(model: nn.Module, rows: Tensor) -> float:
    """The share of these texts whose last symbol is what the model writes there."""
    prompts = rows[:, : BITS + 1]
    found = sample(model, prompts, rows.shape[1] - BITS - 1, end=BLANK, temperature=0)
    return round((found[:, -1] == rows[:, -1]).double().mean().item(), 4)


def rise(way: str, seed: int, steps: int = STEPS) -> list[float]:
    """The share right on other strings, after every `EVERY` steps of training."""
    rows = texts(strings(seed), way)

    def batch(step):
        ids = rows[(step - 1) * BATCH : step * BATCH]
        targets = ids[:, 1:].clone()
        targets[:, :BITS] = BLANK  # the prompt
        return ids[:, :-1], targets

    torch.manual_seed(seed)
    history = fit(
        LanguageModel(SYMBOLS, d=64, layers=2, heads=4),
        batch,
        steps=steps,
        loss=masked_token_loss(BLANK),
        learning_rate=lambda step: 4e-3 * min(step / 50, 1),
        betas=(0.9, 0.99),
        weight_decay=0.02,
        progress=False,
        evaluate=lambda model: right(model, rows[-ASKED:]),
        evaluate_every=EVERY,
    )
    return history.evaluations


def measure(seed: int) -> dict:
    """{"seed", way: [share right after so many steps, ...]}."""
    return {"seed": seed} | {way: rise(way, seed) for way in WAYS}


def stored() -> list[dict]:
    """The committed table, a row for each seed."""
    return runs.read(__file__, "parity.json")


if __name__ == "__main__":
    runs.write(measure)
