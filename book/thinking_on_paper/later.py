"""More steps: does a model that answers at once, or writes dots, learn to add in the end?

    python -m book.thinking_on_paper.later 701 702 703 704 705 > book/thinking_on_paper/later.json

made the table beside this file. Models and sums are the chapter's, each sum is read once, and the
schedule always ends with the steps. A seed draws sums and starts, and takes four minutes.
"""

from collections.abc import Sequence

import torch

from book import runs
from book.thinking_on_paper.tool import (
    BATCH,
    SYMBOLS,
    Sum,
    at_once,
    carries,
    learn,
    noting,
    prompt_of,
)
from companion.generation import generate
from companion.models import GPT

STEPS, ASKED = (400, 800, 1600), 500


def dotted(pair: Sum) -> str:
    """A sum with three tokens that say nothing before the answer: brackets, as no dot is there."""
    return noting(pair).replace(f"={carries(pair)}:", "=[[[:")


LINES = {"at once": at_once, "dots": dotted, "carries": noting}


def sums(steps: int, seed: int) -> tuple[list[Sum], list[Sum]]:
    """A sum for each row of so many batches, and others that are asked."""
    draw = torch.Generator().manual_seed(seed)
    numbers = torch.randperm(1_000_000, generator=draw)[: steps * BATCH + ASKED].tolist()
    pairs = [divmod(number, 1000) for number in numbers]
    return pairs[:-ASKED], pairs[-ASKED:]


def answered(model: GPT, asked: Sequence[Sum], count: int) -> float:
    """The share of these sums that is right, if a model writes so many symbols."""
    prompts = torch.tensor([[SYMBOLS.index(s) for s in prompt_of(pair)] for pair in asked])
    ids = generate(model, prompts, count, temperature=0)
    numbers = torch.tensor([[int(digit) for digit in f"{sum(pair):04d}"] for pair in asked])
    return round((ids[:, -4:] == numbers).all(1).double().mean().item(), 4)


def right(name: str, steps: int, seed: int, peak: float = 3e-3) -> float:
    """The share of other sums that a model adds after so many steps."""
    told, asked = sums(steps, seed)
    line = LINES[name]
    model = learn([line(pair) for pair in told], seed, peak)
    return answered(model, asked, len(line(asked[0])) - len(prompt_of(asked[0])))


def measure(seed: int) -> dict:
    """Shares right: {"seed", kind of line: [after so many steps, ...]}."""
    return {"seed": seed} | {name: [right(name, steps, seed) for steps in STEPS] for name in LINES}


def stored() -> list[dict]:
    """The committed table, a row for each seed."""
    return runs.read(__file__, "later.json")


if __name__ == "__main__":
    runs.write(measure)
