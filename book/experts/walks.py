"""A head with nothing to look for: does a start token, an extra logit or a gate help it?

    python -m book.experts.walks {5301..5312} > book/experts/walks.json

made the table beside this file. A seed draws the world, the sequences and the start of the model.
Every design meets the same four learning rates; the first two seeds choose one for each design, the
other ten are compared.
"""

from functools import cache
from itertools import product

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from book import runs
from book.language_model import learning_rate

TOKENS, TRIGGERS, LENGTH, WIDTH = 32, 3, 48, 32
STEPS, BATCH, RATES = 400, 32, (0.01, 0.02, 0.04, 0.08, 0.16)
DESIGNS = tuple(product(("start", "none"), ("softmax", "extra logit", "gate")))
CHOOSE = 2  # so many seeds


def world(seed: int) -> Tensor:
    """The probabilities (TOKENS, TOKENS) of the next token, by the last one."""
    draw = torch.Generator().manual_seed(seed)
    return (2 * torch.randn(TOKENS, TOKENS, generator=draw)).softmax(1)


def walks(follow: Tensor, rows: int, start: bool, draw: torch.Generator) -> Tensor:
    """Ids (rows, LENGTH + 1): the last token says the next; a trigger copies the one before it.

    What comes first is no trigger, nor what comes after a start token.
    """
    ids = torch.randint(TRIGGERS, TOKENS, (rows, LENGTH + 1), generator=draw)
    if start:
        ids[:, 0] = TOKENS
    for t in range(1 + start, LENGTH + 1):
        before = ids[:, t - 1]
        drawn = torch.multinomial(follow[before], 1, generator=draw)[:, 0]
        ids[:, t] = torch.where(before < TRIGGERS, ids[:, t - 2], drawn)
    return ids


class OneHead(nn.Module):
    """One layer of one head, with a bias for each distance, and no feed-forward network."""

    def __init__(self, kind: str, d: int = WIDTH):
        super().__init__()
        self.kind, self.embedding = kind, nn.Embedding(TOKENS + 1, d)
        self.norm1, self.norm2 = nn.RMSNorm(d), nn.RMSNorm(d)
        self.qkv, self.gate = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, 1)
        self.out, self.unembed = nn.Linear(d, d, bias=False), nn.Linear(d, TOKENS)
        self.distance = nn.Parameter(torch.zeros(LENGTH))

    def forward(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (B, T, TOKENS) and weights (B, T, T)."""
        x, t = self.embedding(ids), torch.arange(ids.shape[1])
        y, back = self.norm1(x), t[:, None] - t
        q, k, v = self.qkv(y).chunk(3, dim=2)
        scores = q @ k.mT / WIDTH**0.5 + 4 * self.distance[back.clamp(min=0)]
        scores = scores.masked_fill(back < 0, -torch.inf)
        if self.kind == "extra logit":
            scores = F.pad(scores, (0, 1))  # a score of 0
        weights = scores.softmax(-1)[..., : len(t)]
        read = weights @ v
        if self.kind == "gate":
            read = read * self.gate(y).sigmoid()
        return self.unembed(self.norm2(x + self.out(read))), weights


@cache
def training(start: bool, seed: int) -> Tensor:
    """The sequences of all steps."""
    return walks(world(seed), STEPS * BATCH, start, torch.Generator().manual_seed(seed + 1))


def learned(kind: str, start: bool, rate: float, seed: int) -> OneHead:
    """A model of a design after its training."""
    torch.manual_seed(seed)
    model = OneHead(kind)
    optimizer = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.98), fused=True)
    for step, ids in enumerate(training(start, seed).split(BATCH)):
        loss = F.cross_entropy(model(ids[:, :-1])[0].mT, ids[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.param_groups[0]["lr"] = learning_rate(step, STEPS, rate, warmup=30)
        optimizer.step()
    return model


@torch.no_grad()
def judged(model: nn.Module, start: bool, seed: int) -> dict:
    """At tokens that need no copy: the error, and the weight of the first token and of the extra.

    The error is the divergence from the world's probabilities, in nats.
    """
    follow, draw = world(seed), torch.Generator().manual_seed(seed + 2)
    ids = walks(follow, 256, start, draw)[:, :-1]
    ordinary = ids >= TRIGGERS
    ordinary[:, :8] = False
    truth = follow[ids[ordinary]]
    logits, weights = (part[ordinary] for part in model(ids))
    error = (truth * (truth.log() - logits.log_softmax(-1))).sum(-1).mean()
    extra = 1 - weights.sum(-1).mean()
    found = {"error": error, "first": weights[:, 0].mean(), "extra": extra}
    return {name: float(f"{value.item():.3g}") for name, value in found.items()}


def measure(seed: int) -> dict:
    """{"seed", "start, gate": what each rate gave, and so on for every design}."""
    row = {"seed": seed}
    for begins, kind in DESIGNS:
        start = begins == "start"
        models = [learned(kind, start, rate, seed) for rate in RATES]
        row[f"{begins}, {kind}"] = [judged(model, start, seed) for model in models]
    return row


def stored() -> list[dict]:
    """The committed table, a row for each seed."""
    return runs.read(__file__, "walks.json")


def compared() -> list[dict]:
    """The rows of the seeds that choose no rate."""
    return stored()[CHOOSE:]


def chosen(begins: str, kind: str) -> float:
    """The rate that the first seeds choose for a design."""
    of = [row[f"{begins}, {kind}"] for row in stored()[:CHOOSE]]
    errors = {rate: sum(row[i]["error"] for row in of) for i, rate in enumerate(RATES)}
    return min(errors, key=errors.get)


if __name__ == "__main__":
    torch.set_num_threads(1)
    runs.write(measure)
