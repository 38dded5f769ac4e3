"""Readers: small models whose layers differ in their memory alone; and their trials in two hops.

`python -m book.attention_on_a_budget.readers > book/attention_on_a_budget/hops.json` takes four
minutes. A question takes two hops if its answer is the value of a value. Full attention in both
layers, and a full layer before one that overwrites, learn it from five seeds each; the second
then also from three with more steps.
"""

import json
from collections.abc import Callable
from math import cos, pi
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from book.attention_on_a_budget.matrix import delta_rule, linear_attention

SYMBOLS, SIZES, ROWS = 64, (4, 8, 16, 32), 32
TRIALS = {
    "full attention": (("full", "full"), 250, (1, 2, 3, 4, 5)),
    "full, then overwrite": (("full", "overwrite"), 250, (1, 2, 3, 4, 5)),
    "the same, 600 steps": (("full", "overwrite"), 600, (1, 2, 3)),
}


def read_memory(kind: str, q: Tensor, k: Tensor, v: Tensor, beta: Tensor) -> Tensor:
    """What a memory gives for q: q, k and v (B, heads, T, d_k), beta (B, heads, T)."""
    if kind in ("full", "window"):
        seen = torch.ones(q.shape[2], q.shape[2], dtype=torch.bool, device=q.device).tril()
        if kind == "window":
            seen = seen.triu(-15)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=seen)
    q, k = F.normalize(q, dim=-1), F.normalize(k, dim=-1)
    if kind == "add":
        y = linear_attention(q, k, beta[..., None] * v)
    else:
        y = delta_rule(q, k, v, beta)
    return F.rms_norm(y, y.shape[-1:])


class Mixer(nn.Module):
    """A layer around one memory, which starts as a rough copying head.

    Queries and keys are made by the same map, a key from the token before, and the output undoes
    the value: so a token that has been seen before finds what came after it.
    """

    def __init__(self, d: int, heads: int, kind: str):
        super().__init__()
        self.heads, self.kind = heads, kind
        self.qkv = nn.Linear(d, 3 * d, bias=False)
        self.out = nn.Linear(d, d, bias=False)
        self.beta = nn.Linear(d, heads)
        self.conv = nn.Conv1d(3 * d, 3 * d, 4, groups=3 * d, padding=3)
        with torch.no_grad():
            q, k, v = self.qkv.weight.split(d)
            k.copy_(q)
            self.out.weight.copy_(3 * v.T)
            self.conv.weight.zero_()
            self.conv.bias.zero_()
            self.conv.weight[d : 2 * d, 0, -2:] = torch.tensor([1.0, -1.0])

    def look_back(self, y: Tensor) -> Tensor:
        """The short convolution of y (B, T, 3 d), as a sum of shifts: half of `conv`'s time."""
        late = F.pad(y, (0, 0, 3, 0))
        taps = enumerate(self.conv.weight[:, 0].T)
        return sum((late[:, i : i + y.shape[1]] * tap for i, tap in taps), self.conv.bias)

    def forward(self, x: Tensor, memory: Tensor | None = None) -> Tensor:
        """x (B, T, d); keys and values are made from `memory` where one is given."""
        y, d = self.qkv(x), x.shape[2]
        if memory is not None:
            y = torch.cat([y[..., :d], self.qkv(memory)[..., d:]], dim=2)
        y = y + self.look_back(y)
        q, k, v = y.unflatten(2, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        y = read_memory(self.kind, q, k, v, self.beta(x).sigmoid().mT)
        return self.out(y.transpose(1, 2).flatten(2))


class Reader(nn.Module):
    """Layers with a memory each, and a feed-forward layer behind each of them.

    For two hops it has three helps: keys and values of both layers are made from the embeddings,
    and a second output must say after the first layer where the first hop ends.
    """

    def __init__(self, kinds: tuple[str, ...], vocab: int, d: int = 32, heads=2, hops=1):
        super().__init__()
        self.hops, self.embedding = hops, nn.Embedding(vocab, d)
        self.norms = nn.ModuleList(nn.RMSNorm(d) for _ in kinds)
        self.mixers = nn.ModuleList(Mixer(d, heads, kind) for kind in kinds)
        self.feed = nn.ModuleList(
            nn.Sequential(nn.RMSNorm(d), nn.Linear(d, 2 * d), nn.ReLU(), nn.Linear(2 * d, d))
            for _ in kinds
        )
        self.norm = nn.RMSNorm(d)
        self.first = nn.Sequential(nn.RMSNorm(d), nn.Linear(d, vocab, bias=False))

    def forward(self, ids: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        """Logits (B, T, vocab); with two hops those of the first one, and those of both."""
        x = start = self.embedding(ids)
        memory = self.norms[0](start) if self.hops == 2 else None
        seen = []
        for norm, mixer, feed in zip(self.norms, self.mixers, self.feed, strict=True):
            x = x + mixer(norm(x), memory)
            x = x + feed(x)
            seen.append(x)
        logits = self.norm(x) @ self.embedding.weight.T * x.shape[2] ** -0.5
        return logits if self.hops == 1 else (self.first(seen[0]), logits)


def fit(
    model: nn.Module, loss_of: Callable[[nn.Module], Tensor], steps: int, peak: float = 1e-2
) -> None:
    """Train with AdamW: the rate rises for 30 steps and falls along a cosine."""
    optimizer = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.98), fused=True)
    for step in range(steps):
        loss = loss_of(model)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        rate = peak * min((step + 1) / 30, (1 + cos(pi * step / steps)) / 2)
        optimizer.param_groups[0]["lr"] = rate
        optimizer.step()


def hop_task(pairs: int, rows: int) -> tuple[Tensor, Tensor, Tensor]:
    """Pairs a b and b c, shuffled, then every a: ids (B, 5 pairs / 2); b and c (B, pairs / 2)."""
    half = pairs // 2
    a, b, c = torch.rand(rows, SYMBOLS).argsort(1)[:, : 3 * half].chunk(3, dim=1)
    links = torch.cat([torch.stack([a, b], 2), torch.stack([b, c], 2)], dim=1)
    mixed = torch.rand(rows, pairs).argsort(1)[..., None].expand(-1, -1, 2)
    order = torch.rand(rows, half).argsort(1)
    a, b, c = (part.gather(1, order) for part in (a, b, c))
    return torch.cat([links.gather(1, mixed).flatten(1), a], dim=1), b, c


def learn_hops(kinds: tuple[str, ...], steps: int, seed: int) -> list[float]:
    """Shares right of 32 pairs after training: the first hop, and both."""

    def loss_of(model: nn.Module) -> Tensor:
        pairs = SIZES[torch.randint(len(SIZES), ()).item()]
        ids, *truth = hop_task(pairs, ROWS)
        return sum(
            F.cross_entropy(logits[:, -pairs // 2 :].mT, answer)
            for logits, answer in zip(model(ids), truth, strict=True)
        )

    torch.manual_seed(seed)
    model = Reader(kinds, vocab=SYMBOLS, d=64, heads=4, hops=2)
    fit(model, loss_of, steps)
    ids, *truth = hop_task(32, 300)
    with torch.no_grad():
        return [
            round((logits[:, -16:].argmax(2) == answer).double().mean().item(), 4)
            for logits, answer in zip(model(ids), truth, strict=True)
        ]


def stored() -> dict[str, list[list[float]]]:
    """What `learn_hops` found in each trial and seed, as it is kept beside this file."""
    return json.loads(Path(__file__).with_name("hops.json").read_text("utf8"))


if __name__ == "__main__":
    torch.set_num_threads(1)
    found = {
        name: [learn_hops(kinds, steps, seed) for seed in seeds]
        for name, (kinds, steps, seeds) in TRIALS.items()
    }
    print(json.dumps(found))
