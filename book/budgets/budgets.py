"""Small language models that all cost the same to train, and how far each ends from the entropy.

    python -m book.budgets.budgets 11 12 > book/budgets/budgets.json

made the table beside this file: for every seed, which draws the text and the weights, every budget
and every width, the gap in nats per token. It takes about four minutes on one core. The chapter
trains a part of it again, with its own seed.
"""

import json
import math
import sys
from collections.abc import Sequence
from importlib.resources import files

import torch
from torch import Tensor

from book.language_model import NOTHING
from book.sizes import BATCH, gap, ids_of, parameters, trained
from companion.data import corpus, sentence_probability

BUDGETS = (2.4e9, 7.2e9, 21.6e9)  # operations
WIDTHS = (4, 8, 12, 16, 24, 32)
TOKENS = 274  # to be predicted in a batch, on average


def steps_for(budget: float, d: int) -> int:
    """How many batches a budget of operations buys: six for every parameter and token."""
    return round(budget / (6 * parameters(d) * TOKENS))


def lowest(sizes: Sequence[float], gaps: Sequence[float]) -> float:
    """The size at the bottom of a parabola through ln(gap) over ln(size), by least squares.

    Raises:
        ValueError: the curve has no bottom.
    """
    x = torch.tensor(sizes, dtype=torch.float64).log()
    y = torch.tensor(gaps, dtype=torch.float64).log()
    powers = torch.stack([torch.ones_like(x), x - x.mean(), (x - x.mean()).square()], dim=1)
    _, slope, bend = torch.linalg.lstsq(powers, y[:, None]).solution[:, 0].tolist()
    if bend <= 0:
        raise ValueError(f"the gaps {list(gaps)} have no lowest point between their ends")
    return math.exp(x.mean().item() - slope / (2 * bend))


def measured() -> list[dict]:
    """The committed table: {"seed", "budget", "d", "gap"} of every run."""
    return json.loads(files("book.budgets").joinpath("budgets.json").read_text("utf8"))


def reading(seed: int) -> tuple[Tensor, Tensor, float]:
    """What a seed of the committed tables reads: the text, 1,000 fresh sentences, their entropy."""
    most = max(steps_for(max(BUDGETS), d) for d in WIDTHS) * BATCH
    text, sentences = ids_of(corpus(most, seed)), corpus(1000, seed + 1000)
    fresh = ids_of(sentences)
    tokens = (fresh[:, 1:] != NOTHING).sum().item()
    entropy = -sum(math.log(sentence_probability(words)) for words in sentences) / tokens
    return text, fresh, entropy


def main(seeds: Sequence[int]) -> None:
    """Print the table of these seeds."""
    found = []
    for seed in seeds:
        text, fresh, entropy = reading(seed)
        for budget in BUDGETS:
            for d in WIDTHS:
                model = trained(d, steps_for(budget, d), text, seed)
                above = gap(model, fresh, entropy)
                found.append({"seed": seed, "budget": budget, "d": d, "gap": round(above, 4)})
                print(found[-1], file=sys.stderr, flush=True)
    print("[\n" + ",\n".join(json.dumps(row) for row in found) + "\n]")


if __name__ == "__main__":
    main([int(seed) for seed in sys.argv[1:]])
