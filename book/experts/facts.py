"""Facts of 16 domains in one feed-forward layer: a dense one, or experts with a router.

    python -m book.experts.facts > book/experts/facts.json

made the table beside this file in twenty minutes. Every design takes the best of three rates
on a seed of its own, then meets five others, which draw facts and weights. The chapter runs a few
again.
"""

import json
import sys
from collections.abc import Callable
from functools import partial
from importlib.resources import files
from math import log
from statistics import mean
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from companion.nn import Experts, FeedForward, LearnedPositions, MultiHeadAttention

DOMAINS, KEYS, VALUES, WIDTH, HIDDEN, COUNT = 16, 256, 64, 32, 24, 8
STEPS, BATCH, RATE, PUSH = 1000, 256, 5e-3, 0.001
RATES, TUNED_ON, SEEDS = (4e-3, 8e-3, 1.6e-2), (20,), (41, 42, 43, 44, 45)


class Task(NamedTuple):
    """Questions ids (N, 2), their answers (N,), and which of them are trained on (N,)."""

    ids: Tensor
    answers: Tensor
    trained: Tensor


def facts(seed: int, *, rule: bool = False, key_first: bool = False) -> Task:
    """A value at random for each pair of a domain and a key; or by a rule, a quarter unseen."""
    draw = torch.Generator().manual_seed(seed)
    a, b = torch.cartesian_prod(torch.arange(DOMAINS), torch.arange(KEYS)).T
    ids = torch.stack([DOMAINS + b, a] if key_first else [a, DOMAINS + b], 1)
    if rule:
        return Task(ids, (4 * a + b) % VALUES, torch.rand(len(a), generator=draw) < 0.75)
    return Task(ids, torch.randint(VALUES, a.shape, generator=draw), torch.ones_like(a).bool())


class Reader(nn.Module):
    """One block that reads two tokens; its last position answers, through `layer`."""

    def __init__(self, layer: nn.Module):
        super().__init__()
        self.embedding = nn.Embedding(DOMAINS + KEYS, WIDTH)
        nn.init.normal_(self.embedding.weight, std=0.3)
        self.positions = LearnedPositions(2, WIDTH)
        self.attention = MultiHeadAttention(WIDTH, 2)
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(3))
        self.layer = layer
        self.head = nn.Linear(WIDTH, VALUES, bias=False)

    def asked(self, ids: Tensor) -> Tensor:
        """The stream (B, 1, d) of the last position, before the layer."""
        x = self.positions(self.embedding(ids))
        y = self.norms[0](x)
        return x[:, 1:] + self.attention(y[:, 1:], y, y)[0]

    def forward(self, ids: Tensor) -> Tensor:
        """Logits (B, VALUES) for ids (B, 2)."""
        x = self.asked(ids)
        return self.head(self.norms[2](x + self.layer(self.norms[1](x))))[:, 0]


def common_part(layer: Experts, size: float = 6.0) -> None:
    """Add one direction to all that the router reads, `size` times as long as what it read."""
    shift = size * WIDTH**0.5 * F.normalize(torch.randn(WIDTH), dim=0)
    layer.router.register_forward_pre_hook(lambda router, read: (read[0] + shift,))


def learn(
    layer_of: Callable[[], nn.Module],
    task: Task,
    seed: int,
    rate: float = RATE,
    *,
    steps: int = STEPS,
    balance: str = "none",
    push: float = PUSH,
    router_rate: float = 1.0,
) -> tuple[Reader, Tensor]:
    """Train a reader; return it, and the loads (steps, experts) of its batches.

    Args:
        balance: "none", "loss" (a hundredth of `balance_loss`) or "bias" (`update_bias(push)`).
        router_rate: times the rate of all other weights.
    """
    torch.manual_seed(seed)
    model, pool, loads = Reader(layer_of()), task.trained.nonzero()[:, 0], []
    routers = {p for name, p in model.named_parameters() if "router" in name}
    others = [p for p in model.parameters() if p not in routers]
    optimizer = torch.optim.AdamW(
        [{"params": others}, {"params": list(routers)}],
        betas=(0.9, 0.99),
        weight_decay=0.0,
        fused=True,
    )
    for step in range(steps):
        now = rate * min(1, (step + 1) / 50, 4 * (1 - step / steps))
        optimizer.param_groups[0]["lr"], optimizer.param_groups[1]["lr"] = now, now * router_rate
        rows = pool[torch.randint(len(pool), (BATCH,))]
        loss = F.cross_entropy(model(task.ids[rows]), task.answers[rows])
        if balance == "loss":
            loss = loss + 0.01 * model.layer.balance_loss
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if balance == "bias":
            model.layer.update_bias(push)
        if routers:
            loads.append(model.layer.load)
    return model.eval(), torch.stack(loads) if loads else torch.empty(0)


@torch.no_grad()
def right(model: Reader, task: Task, which: Tensor) -> float:
    """The share of these questions whose answer is the most probable one."""
    return (model(task.ids[which]).argmax(1) == task.answers[which]).float().mean().item()


@torch.no_grad()
def chosen(model: Reader, ids: Tensor) -> Tensor:
    """The expert (N,) that each question gets first."""
    return model.layer.route(model.norms[1](model.asked(ids)))[1][:, 0, 0]


def information(x: Tensor, y: Tensor) -> float:
    """Bits that two columns of whole numbers share, less what they share when shuffled."""

    def nats(x: Tensor) -> float:
        joint = torch.zeros(int(x.max()) + 1, int(y.max()) + 1)
        joint = joint.index_put_((x, y), torch.ones(()), accumulate=True) / len(x)
        apart = joint.sum(0, keepdim=True) * joint.sum(1, keepdim=True)
        return torch.special.xlogy(joint, joint / apart.clamp(min=1e-12)).sum().item()

    draw = torch.Generator().manual_seed(0)
    return (nats(x) - nats(x[torch.randperm(len(x), generator=draw)])) / log(2)


def dense(hidden: int) -> FeedForward:
    """An ordinary layer."""
    return FeedForward(WIDTH, hidden, bias=False)


def experts() -> Experts:
    """Eight experts, of which each token gets one."""
    return Experts(WIDTH, HIDDEN, COUNT, bias=False)


def with_a_common_part() -> Experts:
    """The same, and all that the router reads has something in common."""
    layer = experts()
    common_part(layer)
    return layer


SHORT, LONG, RULE = {"steps": 400}, {"steps": 3000}, {"rule": True}
STRONG = {"balance": "bias", "push": 0.01}
# name: (layer, options of `facts`, options of `learn`, whose rate it takes, if not the usual one)
DESIGNS = {
    "dense, active size": (partial(dense, HIDDEN), {}, {}, "dense, active size"),
    "dense, whole size": (partial(dense, HIDDEN * COUNT), {}, {}, "dense, whole size"),
    "experts": (experts, {}, {}, "experts"),
    "experts, loss": (experts, {}, {"balance": "loss"}, "experts, loss"),
    "experts, bias": (experts, {}, {"balance": "bias"}, "experts, bias"),
    "rule: dense, active size": (partial(dense, HIDDEN), RULE, {}, "dense, active size"),
    "rule: dense, whole size": (partial(dense, HIDDEN * COUNT), RULE, {}, "dense, whole size"),
    "rule: experts": (experts, RULE, {}, "experts"),
    "rule: experts, bias": (experts, RULE, {"balance": "bias"}, "experts, bias"),
    "rule: experts, bias, the other rate": (experts, RULE, {"balance": "bias"}, "experts"),
    "key first: experts, bias": (
        experts,
        {"key_first": True},
        {"balance": "bias"},
        "experts, bias",
    ),
    "longer: dense, active size": (
        partial(dense, HIDDEN),
        {},
        LONG,
        "longer: dense, active size",
    ),
    "longer: dense, whole size": (
        partial(dense, HIDDEN * COUNT),
        {},
        LONG,
        "longer: dense, whole size",
    ),
    "longer: experts, bias": (experts, {}, LONG | {"balance": "bias"}, "longer: experts, bias"),
    "longer, rule: dense, active size": (
        partial(dense, HIDDEN),
        RULE,
        LONG,
        "longer: dense, active size",
    ),
    "longer, rule: dense, whole size": (
        partial(dense, HIDDEN * COUNT),
        RULE,
        LONG,
        "longer: dense, whole size",
    ),
    "longer, rule: experts, bias": (
        experts,
        RULE,
        LONG | {"balance": "bias"},
        "longer: experts, bias",
    ),
    "common part": (with_a_common_part, {}, SHORT, None),
    "common part, loss": (with_a_common_part, {}, SHORT | {"balance": "loss"}, None),
    "common part, bias 0.01": (with_a_common_part, {}, SHORT | STRONG, None),
    "router's rate x 20": (experts, {}, SHORT | {"router_rate": 20.0}, None),
    "router's rate x 20, loss": (
        experts,
        {},
        SHORT | {"router_rate": 20.0, "balance": "loss"},
        None,
    ),
}


def measure(name: str, seed: int, rate: float) -> dict:
    """One run: shares right, loads, and what the expert shares with the domain and the key."""
    layer_of, of_task, options, _ = DESIGNS[name]
    task = facts(seed, **of_task)
    model, loads = learn(layer_of, task, seed, rate, **options)
    row = {"design": name, "seed": seed, "rate": rate, "right": right(model, task, task.trained)}
    if not task.trained.all():
        row["unseen"] = right(model, task, ~task.trained)
    if len(loads):
        last, who = loads[-100:], chosen(model, task.ids)
        torch.manual_seed(seed)
        before = chosen(Reader(layer_of()), task.ids)
        load = torch.bincount(who, minlength=COUNT) / len(who)
        domain, key = task.ids.min(1).values, task.ids.max(1).values - DOMAINS
        row |= {
            "load": load.max().item(),
            "unused": int((load < 0.001).sum()),
            "load in a batch": last.max(1).values.mean().item(),
            "load over batches": last.mean(0).max().item(),
            "key": information(who, key),
            "domain": information(who, domain),
            "key, untrained": information(before, key),
            "domain, untrained": information(before, domain),
        }
    return {name: round(x, 4) if isinstance(x, float) else x for name, x in row.items()}


def measured() -> list[dict]:
    """The committed table: what `measure` returns for every design and seed."""
    return json.loads(files("book.experts").joinpath("facts.json").read_text("utf8"))["rows"]


def main() -> None:
    """Choose the rates, then print the table."""
    tuned, rows = {}, []
    for name, (*_, whose) in DESIGNS.items():
        if whose == name:
            tuned[name] = {
                rate: round(mean(measure(name, seed, rate)["right"] for seed in TUNED_ON), 4)
                for rate in RATES
            }
        rate = RATE if whose is None else max(tuned[whose], key=tuned[whose].get)
        for seed in SEEDS:
            rows.append(measure(name, seed, rate))
            print(rows[-1], file=sys.stderr, flush=True)
    table = ",\n".join(json.dumps(row) for row in rows)
    print(f'{{"tuned": {json.dumps(tuned)},\n"rows": [\n{table}\n]}}')


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
