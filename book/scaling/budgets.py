"""Small language models that all cost the same to train, and how far each ends from the entropy.

    python -m book.scaling.budgets 11 12 > book/scaling/budgets.json

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
from torch import Tensor, nn
from torch.nn import functional as F

from book.language_model import NOTHING, LanguageModel, learning_rate
from book.language_model import table as as_rows
from companion.data import BOS, EOS, WORDS, corpus, sentence_probability

BUDGETS = (2.4e9, 7.2e9, 21.6e9)  # operations
WIDTHS = (4, 8, 12, 16, 24, 32)
BATCH, TOKENS = 32, 274  # sentences of a batch, and the tokens to be predicted in them, on average
NUMBER = {word: i for i, word in enumerate([BOS, EOS, *WORDS])}


def ids_of(sentences: Sequence[Sequence[str]]) -> Tensor:
    """Token ids (B, T) of sentences, each between a beginning and an end."""
    return as_rows([[NUMBER[word] for word in (BOS, *words, EOS)] for words in sentences])


def model_of(d: int) -> LanguageModel:
    """One block of width d, with two heads."""
    return LanguageModel(len(NUMBER), d=d, layers=1, heads=2)


def parameters(d: int, embedding: bool = True) -> int:
    """How many parameters `model_of(d)` has, with or without the rows of its words."""
    model = model_of(d)
    return (
        sum(p.numel() for p in model.parameters())
        - (not embedding) * model.embedding.weight.numel()
    )


def steps_for(budget: float, d: int) -> int:
    """How many batches a budget of operations buys: six for every parameter and token."""
    return round(budget / (6 * parameters(d) * TOKENS))


def losses(model: LanguageModel, ids: Tensor) -> Tensor:
    """The loss (tokens,) of every token after the first; only these get logits."""
    x = model.norm_in(model.embedding(ids[:, :-1].clamp(min=0)))
    for block in model.blocks:
        x = block(x)
    there = ids[:, 1:] != NOTHING
    logits = model.norm_out(x[there]) @ model.embedding.weight.T
    return F.cross_entropy(logits, ids[:, 1:][there], reduction="none")


def trained(
    d: int,
    steps: int,
    text: Tensor,
    seed: int,
    *,
    peak: float | None = None,
    matrices: float = 1.0,
    planned: int | None = None,
) -> LanguageModel:
    """A model of width d after so many steps; no sentence of the text is read twice.

    Args:
        text: (sentences, T), at least 32 for each step.
        seed: decides the weights at the start.
        peak: the highest learning rate; without it, one that suits the width.
        matrices: the rate of the block's matrices as a multiple of the others'.
        planned: the steps of the whole schedule, where training stops before its end.

    Raises:
        ValueError: there are no steps, or the text is too short.
    """
    if steps < 1 or len(text) < steps * BATCH:
        raise ValueError(f"{steps} steps need {steps * BATCH} sentences, got {len(text)}")
    peak, planned = peak or min(0.08, 0.64 / d), planned or steps
    torch.manual_seed(seed)
    model = model_of(d).to(text.device)
    inside = [p for p in model.blocks.parameters() if p.dim() == 2]
    others = [p for p in model.parameters() if all(p is not matrix for matrix in inside)]
    groups = [{"params": inside, "times": matrices}, {"params": others, "times": 1.0}]
    optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.99), weight_decay=0.02)
    for step in range(steps):
        rows = text[step * BATCH : (step + 1) * BATCH]
        loss = losses(model, rows[:, (rows != NOTHING).any(dim=0)]).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        rate = learning_rate(step, planned, peak, max(1, planned // 10))
        for group in optimizer.param_groups:
            group["lr"] = rate * group["times"]
        optimizer.step()
    return model


@torch.no_grad()
def gap(model: LanguageModel, fresh: Tensor, entropy: float) -> float:
    """Nats per token above the entropy of the same fresh sentences."""
    return losses(model, fresh).mean().item() - entropy


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
    return json.loads(files("book.scaling").joinpath("budgets.json").read_text("utf8"))


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
