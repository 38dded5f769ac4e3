"""Small language models of any width, and how far each ends from the language's entropy.

"Text, size, and a prediction" trains them on one text, "Budgets, schedules and rates" at one price.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from book.language_model import NOTHING, LanguageModel, learning_rate
from book.language_model import table as as_rows
from companion.data import BOS, EOS, WORDS

BATCH = 32  # sentences
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
    optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.99), weight_decay=0.02, fused=True)
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
