"""Recall trained: facts that stay and that change, at three rates, in 200 and in 500 steps.

    python -m book.attention_on_a_budget.recall {5301..5312} > \
        book/attention_on_a_budget/recall.json

made the table beside this file. A seed decides starts and sequences, and takes five minutes. The
first ten are the runs; the last two choose the rate of each model, task and number of steps.
"""

from functools import cache

import torch
from torch import Tensor
from torch.nn import functional as F

from book import runs
from book.attention_on_a_budget.readers import ROWS, SIZES, Reader, fit

KEYS = VALUES = 64
RATES = (0.01, 0.03, 0.1)
MODELS = {
    "full attention": ("full", "full"),
    "last 16 tokens": ("window", "window"),
    "add": ("add", "add"),
    "overwrite": ("overwrite", "overwrite"),
    "full, then overwrite": ("full", "overwrite"),
}
TASKS = {"stay": (SIZES, 1), "change": ((16,), 4)}  # numbers of pairs, writes to a key
STEPS = {200: tuple(MODELS), 500: ("full attention", "add", "overwrite")}  # of which models
CHOOSING = (5311, 5312)


def recall_task(pairs: int, rows: int, times: int = 1) -> tuple[Tensor, Tensor]:
    """Pairs of a key and a value, then all keys: ids (rows, 3 pairs), answers (rows, pairs)."""
    order = torch.rand(rows, KEYS).argsort(1)[:, : pairs // times].repeat(1, times)
    order = order.gather(1, torch.rand(rows, pairs).argsort(1))
    values = KEYS + torch.randint(VALUES, (rows, pairs))
    store = torch.zeros(rows, KEYS, dtype=torch.long)
    for key, value in zip(order.T, values.T, strict=True):  # the last value of a key stays
        store.scatter_(1, key[:, None], value[:, None])
    asked = order.gather(1, torch.rand(rows, pairs).argsort(1))
    written = torch.stack([order, values], dim=2).flatten(1)
    return torch.cat([written, asked], dim=1), store.gather(1, asked)


def recalled(model: str, task: str, steps: int, rate: float, seed: int) -> list[float]:
    """The shares right after training, for each number of pairs."""
    sizes, times = TASKS[task]

    def loss_of(reader):
        pairs = sizes[torch.randint(len(sizes), ()).item()]
        ids, answers = recall_task(pairs, ROWS, times)
        return F.cross_entropy(reader(ids)[:, -pairs:].mT, answers)

    torch.manual_seed(seed)
    reader = Reader(MODELS[model], KEYS + VALUES)
    fit(reader, loss_of, steps, rate)
    shares = []
    for pairs in sizes:
        ids, answers = recall_task(pairs, 200, times)
        with torch.no_grad():
            right = reader(ids)[:, -pairs:].argmax(2) == answers
        shares.append(round(right.double().mean().item(), 4))
    return shares


def measure(seed: int) -> dict:
    """{"seed", task: {steps: {model: the shares right (rates, numbers of pairs)}}}."""
    return {"seed": seed} | {
        task: {
            steps: {
                model: [recalled(model, task, steps, rate, seed) for rate in RATES]
                for model in models
            }
            for steps, models in STEPS.items()
        }
        for task in TASKS
    }


@cache
def stored(model: str, task: str, steps: int, rate: float | None = None) -> Tensor:
    """The committed shares right (runs, numbers of pairs), at the rate that was best for others.

    The two choosing runs, which are left out here, decide by the largest number of pairs.
    """
    table = {
        row["seed"]: row[task][str(steps)][model] for row in runs.read(__file__, "recall.json")
    }
    chosen = torch.tensor([table.pop(seed) for seed in CHOOSING])[..., -1].mean(0).argmax()
    at = chosen if rate is None else RATES.index(rate)
    return torch.tensor(list(table.values()))[:, at]


if __name__ == "__main__":
    runs.write(measure)
