"""Where no position is needed, and where the latest word counts: ten starts of each layer.

    python -m book.beyond_the_trained_length.two_tasks {5301..5310} > two_tasks.json

made the table, which lies beside this file. A seed draws the start of the model, the sequences
that it learns and those that it is asked: half a minute. All have the page's one learning rate.
"""

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from book import runs
from companion.nn import EncoderBlock, RotaryEmbedding, TokenEmbedding, alibi_bias

NOT_ASKED = -100
STEPS, RATE, LONGEST, WINDOW = 250, 5e-3, 160, 8


class Reader(nn.Module):
    """One causal block of four heads, with one of the schemes."""

    def __init__(self, symbols: int, scheme: str):
        super().__init__()
        rope = RotaryEmbedding(16) if scheme == "rotary" else None
        self.score_bias = partial(alibi_bias, 4) if scheme == "ALiBi" else None
        self.embedding = TokenEmbedding(symbols, 64, scale=False)
        self.block = EncoderBlock(64, 4, d_ff=256, norm_first=True, rope=rope)
        self.head = nn.Sequential(nn.LayerNorm(64), nn.Linear(64, symbols))

    def forward(self, ids: Tensor) -> Tensor:
        bias = None if self.score_bias is None else self.score_bias(ids.shape[1])
        return self.head(self.block(self.embedding(ids), is_causal=True, score_bias=bias))


def three_back(random: torch.Generator, size: int, length: int) -> tuple[Tensor, Tensor]:
    """Tokens (size, length), and at each the token three back."""
    ids = torch.randint(20, (size, length), generator=random)
    answer = torch.full_like(ids, NOT_ASKED)
    answer[:, 3:] = ids[:, :-3]
    return ids, answer


def look_up(random: torch.Generator, size: int, length: int) -> tuple[Tensor, Tensor]:
    """Six facts, each a name with its colour, then fillers and names whose colour is asked."""
    names, colours, fillers = 6, 8, 16
    facts = names * colours
    colour = torch.randint(colours, (size, names), generator=random)
    order = torch.rand(size, names, generator=random).argsort(1)
    fact = order * colours + colour.gather(1, order)
    rest = (size, length - names)
    name = torch.randint(names, rest, generator=random)
    filler = torch.randint(fillers, rest, generator=random)
    asked = torch.rand(rest, generator=random) < 0.5
    later = torch.where(asked, facts + name, facts + names + filler)
    answer = torch.where(asked, colour.gather(1, name), NOT_ASKED)
    return torch.cat([fact, later], 1), torch.cat([torch.full_like(fact, NOT_ASKED), answer], 1)


def who_speaks(random: torch.Generator, size: int, length: int) -> tuple[Tensor, Tensor]:
    """Words and names (size, length), and at each the latest name."""
    names, words = 8, 16
    is_name = torch.rand(size, length, generator=random) < 1 / 6
    is_name[:, 0] = True
    name = torch.randint(names, (size, length), generator=random)
    word = torch.randint(names, names + words, (size, length), generator=random)
    ids = torch.where(is_name, name, word)
    latest = torch.where(is_name, torch.arange(length), 0).cummax(dim=1).values
    return ids, ids.gather(1, latest)


Task = Callable[[torch.Generator, int, int], tuple[Tensor, Tensor]]
RUNS: dict[str, tuple[Task, int, str]] = {
    "look up, none": (look_up, 70, "none"),
    "look up, rotary": (look_up, 70, "rotary"),
    "three back, none": (three_back, 20, "none"),
    "who speaks, rotary": (who_speaks, 24, "rotary"),
    "who speaks, ALiBi": (who_speaks, 24, "ALiBi"),
}


def learned(task: Task, symbols: int, scheme: str, seed: int) -> Reader:
    """A model after its training, which is that of the page's first run under this seed."""
    torch.manual_seed(100 * seed)
    model = Reader(symbols, scheme)
    optimizer = torch.optim.AdamW(model.parameters(), RATE, fused=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, RATE, total_steps=STEPS, pct_start=0.1
    )
    random = torch.Generator().manual_seed(100 * seed)
    for _ in range(STEPS):
        length = torch.randint(8, 33, (), generator=random).item()
        ids, answer = task(random, 32, length)
        logits = model(ids).flatten(0, 1)
        loss = F.cross_entropy(logits, answer.flatten(), ignore_index=NOT_ASKED)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    return model.eval()


@torch.no_grad()
def accuracy_by_position(model: nn.Module, task: Task, seed: int) -> list[float]:
    """The share of right answers in each eight tokens of 64 new sequences of 160 tokens."""
    random = torch.Generator().manual_seed(100 * seed + 99)  # not for training
    ids, answer = task(random, 64, LONGEST)
    right = (model(ids).argmax(-1) == answer).double()
    right = right.masked_fill(answer == NOT_ASKED, math.nan)
    return right.unflatten(1, (-1, WINDOW)).nanmean(dim=(0, 2)).tolist()


def measure(seed: int) -> dict:
    """{"seed", "look up, none": [accuracy at the end of 8, 16, ... 160 tokens], and the others}."""
    row: dict = {"seed": seed}
    for name, (task, symbols, scheme) in RUNS.items():
        model = learned(task, symbols, scheme, seed)
        row[name] = [round(share, 4) for share in accuracy_by_position(model, task, seed)]
    return row


def stored() -> list[dict]:
    """The committed table, a row for each seed."""
    return runs.read(__file__, "two_tasks.json")


def curves(name: str) -> Tensor:
    """What the table has of these runs: (starts, lengths)."""
    return torch.tensor([row[name] for row in stored()])


if __name__ == "__main__":
    torch.set_num_threads(1)
    runs.write(measure)
