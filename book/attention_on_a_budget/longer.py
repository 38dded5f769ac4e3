"""Recall with more steps: is a matrix behind because it learns slowly?

    python -m book.attention_on_a_budget.longer 701 702 703 704 705 > \
        book/attention_on_a_budget/longer.json

made the table beside this file. Models, task and training are the chapter's, after 200 steps as
there and after 500. A seed decides starts and sequences, and takes two minutes.
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from book import runs
from book.attention_on_a_budget.readers import ROWS, SIZES, Reader, fit

KEYS = VALUES = 64
STEPS = (200, 500)
KINDS = {"full attention": "full", "add": "add", "overwrite": "overwrite"}
TASKS = {"stay": (SIZES, 1, 32), "change": ((16,), 4, 16)}  # pairs, writes to a key, pairs asked


def recall_task(pairs: int, rows: int, times: int) -> tuple[Tensor, Tensor]:
    """The chapter's: ids (B, 3 pairs) and answers (B, pairs)."""
    order = torch.rand(rows, KEYS).argsort(1)[:, : pairs // times].repeat(1, times)
    order = order.gather(1, torch.rand(rows, pairs).argsort(1))
    values = KEYS + torch.randint(VALUES, (rows, pairs))
    store = torch.zeros(rows, KEYS, dtype=torch.long)
    for key, value in zip(order.T, values.T, strict=True):  # the last value of a key stays
        store.scatter_(1, key[:, None], value[:, None])
    asked = order.gather(1, torch.rand(rows, pairs).argsort(1))
    written = torch.stack([order, values], dim=2).flatten(1)
    return torch.cat([written, asked], dim=1), store.gather(1, asked)


def recalled(name: str, task: str, steps: int, seed: int) -> float:
    """The share right after training with facts that stay or change."""
    sizes, times, asked = TASKS[task]

    def loss_of(model):
        pairs = sizes[torch.randint(len(sizes), ()).item()]
        ids, answers = recall_task(pairs, ROWS, times)
        return F.cross_entropy(model(ids)[:, -pairs:].mT, answers)

    torch.manual_seed(seed)
    model = Reader((KINDS[name],) * 2, KEYS + VALUES)
    fit(model, loss_of, steps=steps)
    ids, answers = recall_task(asked, 200, times)
    with torch.no_grad():
        right = model(ids)[:, -asked:].argmax(2) == answers
    return round(right.double().mean().item(), 4)


def measure(seed: int) -> dict:
    """Shares right: {"seed", task: {model: [after 200 steps, after 500]}}."""
    return {"seed": seed} | {
        task: {name: [recalled(name, task, steps, seed) for steps in STEPS] for name in KINDS}
        for task in TASKS
    }


def stored() -> list[dict]:
    """The committed table, a row for each seed."""
    return runs.read(__file__, "longer.json")


if __name__ == "__main__":
    runs.write(measure)
