"""Does one layer of attention copy if it trains for longer?

    python -m book.who_copies.one_layer 701 702 703 704 705 > book/who_copies/one_layer.json

made the table beside this file: for every seed, which draws the start and the sequences, the loss
of the chapter's model with one layer on second copies that it has not seen, along one run, and that
of an even guess among the letters seen on the same predictions. A seed takes about two minutes.
"""

import json
import sys
from collections.abc import Sequence
from importlib.resources import files

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from companion.nn import MultiHeadAttention

LETTERS, LENGTH, WIDTH = 64, 64, 64
STEPS, EVERY = 3000, 200  # of a run, and from one measurement to the next


def repeated(batch: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Letters that repeat with a random period of 8 to 24: (B, LENGTH) and (B, 1)."""
    period = torch.randint(8, 25, (batch, 1), generator=generator)
    once = torch.randint(LETTERS, (batch, LENGTH), generator=generator)
    return once.gather(1, torch.arange(LENGTH) % period), period


class OneLayer(nn.Module):
    """The chapter's model with one layer: logits (B, T, LETTERS) for ids (B, T)."""

    def __init__(self) -> None:
        super().__init__()
        self.letters = nn.Embedding(LETTERS, WIDTH)
        self.positions = nn.Embedding(LENGTH, WIDTH)
        for embedding in (self.letters, self.positions):
            nn.init.normal_(embedding.weight, std=0.5)
        self.layer = MultiHeadAttention(WIDTH, 2)
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, LETTERS, bias=False))

    def forward(self, ids: Tensor) -> Tensor:
        stream = self.letters(ids) + self.positions.weight
        added, _ = self.layer(self.norm(stream), is_causal=True)
        return self.head(stream + added)


def losses_of(model: OneLayer, ids: Tensor) -> Tensor:
    """The loss of every prediction, (B, LENGTH - 1)."""
    logits = model(ids)[:, :-1].transpose(1, 2)
    return F.cross_entropy(logits, ids[:, 1:], reduction="none")


def even_guess(ids: Tensor, known: Tensor) -> float:
    """The loss of an even guess among the letters of each sequence, where `known` says (B, T)."""
    different = F.one_hot(ids, LETTERS).amax(1).sum(1, keepdim=True)  # some come twice
    return different.log().expand_as(known)[known].mean().item()


def run(seed: int) -> dict:
    """One row of the table: the loss on second copies after every `EVERY` steps."""
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    ids, period = repeated(512, torch.Generator().manual_seed(seed + 1))
    known = torch.arange(LENGTH - 1) >= period
    model = OneLayer()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.98))
    warmup = torch.optim.lr_scheduler.LinearLR(optimizer, 0.02, total_iters=50)
    found = []
    for step in range(1, STEPS + 1):
        loss = losses_of(model, repeated(32, generator)[0]).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        warmup.step()
        if step % EVERY == 0:
            with torch.no_grad():
                found.append(round(losses_of(model, ids)[known].mean().item(), 4))
    return {"seed": seed, "even": round(even_guess(ids, known), 4), "losses": found}


def measured() -> list[dict]:
    """The committed table: {"seed", "even", "losses"} of every run."""
    return json.loads(files("book.who_copies").joinpath("one_layer.json").read_text("utf8"))


def main(seeds: Sequence[int]) -> None:
    """Print the table of these seeds."""
    rows = []
    for seed in seeds:
        rows.append(json.dumps(run(seed)))
        print(rows[-1], file=sys.stderr, flush=True)
    print("[\n" + ",\n".join(rows) + "\n]")


if __name__ == "__main__":
    main([int(seed) for seed in sys.argv[1:]])
