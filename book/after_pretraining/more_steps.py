"""A round of rejection against more steps on the demonstrations: as many, and three times as many.

    python -m book.after_pretraining.more_steps 701 702 703 704 705 > \
        book/after_pretraining/more_steps.json

made the table beside this file. Base model, demonstrations, round and rates are the chapter's. A
seed decides starts, sentences, demonstrations and answers, and takes two minutes.
"""

import random
from collections.abc import Sequence
from copy import deepcopy

import torch
from torch import Tensor, nn

from book import runs
from book.language_model import NOTHING, LanguageModel, log_probs, sample, table, train
from book.requests import TOPICS, Request, demonstrations, passes, requests
from companion.data import BOS, EOS, WORDS, corpus

STEPS, BATCH, PROMPT, LONGEST, TRIES, GROUP, ROUND = 500, 64, 3, 14, 64, 8, 320
BASE = [BOS, EOS, *WORDS]
TOKENS = [*BASE, *(f"<{topic}>" for topic in TOPICS), *(f"<{n}>" for n in range(5, 14))]
NUMBER = {token: i for i, token in enumerate(TOKENS)}
TRAINED = requests("train")


def prompt_of(request: Request) -> list[int]:
    return [NUMBER[token] for token in (f"<{request.topic}>", f"<{request.length}>", BOS)]


def base(seed: int) -> LanguageModel:
    """The chapter's base model, with rows for the tokens of the requests."""
    ids = table([[NUMBER[t] for t in (BOS, *s, EOS)] for s in corpus(STEPS * BATCH, seed)])

    def batch(step):
        rows = ids[step * BATCH : (step + 1) * BATCH]
        return rows[:, (rows != NOTHING).any(0)]

    torch.manual_seed(seed)
    model = LanguageModel(len(BASE), d=64, layers=1)
    train(model, batch, STEPS)
    weights = model.state_dict()
    fresh = 0.02 * torch.randn(len(TOKENS) - len(BASE), 64)
    rows = torch.cat([weights["embedding.weight"], fresh])
    extended = LanguageModel(len(TOKENS), d=64, layers=1)
    extended.load_state_dict(weights | {"embedding.weight": rows})
    return extended


def fine_tuned(
    model: nn.Module, ids: Tensor, epochs: int, rate: float, size: int = 32
) -> nn.Module:
    """A copy that has learned the answers behind the prompts, as in the chapter."""
    model = deepcopy(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, betas=(0.9, 0.99), weight_decay=0.0)
    orders = [torch.randperm(len(ids)) for _ in range(epochs)]
    batches = [rows for order in orders for rows in order.split(size)]
    for step, rows in enumerate(batches):
        log_p = log_probs(model, ids[rows])[:, PROMPT - 1 :]
        optimizer.param_groups[0]["lr"] = rate * (1 - step / len(batches))
        optimizer.zero_grad()
        (-log_p.sum() / (ids[rows][:, PROMPT:] >= 0).sum()).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model


def answers(model: nn.Module, asked: Sequence[Request]) -> tuple[Tensor, Tensor]:
    """An answer to each request, with its prompt, and whether it passes."""
    ids = sample(model, torch.tensor([prompt_of(one) for one in asked]), LONGEST, NUMBER[EOS])
    passed = []
    for request, row in zip(asked, ids[:, PROMPT:].tolist(), strict=True):
        end = row.index(NUMBER[EOS]) if NUMBER[EOS] in row else 0
        passed.append(passes(request, [TOKENS[i] for i in row[:end]]))
    return ids, torch.tensor(passed)


def share(model: nn.Module) -> float:
    """pass@1 on the trained requests."""
    _, passed = answers(model, [request for request in TRAINED for _ in range(TRIES)])
    return round(passed.double().mean().item(), 4)


def started(seed: int) -> tuple[nn.Module, Tensor]:
    """The model that has learned from three hundred demonstrations, and these."""
    examples = table(
        [
            [*prompt_of(request), *(NUMBER[word] for word in words), NUMBER[EOS]]
            for request, words in demonstrations(300, seed)
        ]
    )
    model = base(seed)
    torch.manual_seed(seed)
    return fine_tuned(model, examples, epochs=10, rate=4e-3), examples


def measure(seed: int) -> dict:
    """pass@1 on trained requests: {"seed", "start", "round", "as many steps", "three times"}."""
    tuned, examples = started(seed)
    drawn = random.Random(seed).choices(TRAINED, k=ROUND)
    ids, passed = answers(tuned, [request for request in drawn for _ in range(GROUP)])
    kept = ids[passed]
    epochs = 3 * len(kept) / len(examples)
    found = {"start": tuned, "round": fine_tuned(tuned, kept, epochs=3, rate=2e-3)}
    for name, times in (("as many steps", 1), ("three times", 3)):
        found[name] = fine_tuned(tuned, examples, epochs=round(times * epochs), rate=2e-3)
    return {"seed": seed} | {name: share(one) for name, one in found.items()}


def stored() -> list[dict]:
    """The committed table, a row for each seed."""
    return runs.read(__file__, "more_steps.json")


if __name__ == "__main__":
    runs.write(measure)
