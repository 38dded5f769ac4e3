"""Today's block on trial: one part of a small language model is changed, and its gap measured.

`python -m book.attention_on_a_budget.trials > book/attention_on_a_budget/trials.json` takes six
minutes. Each part gets the better of two rates, on two seeds of their own; then it is trained on
the sentences of three others. The gap is the loss on fresh sentences minus their exact entropy.
The base, and the same with QK-norm, are then trained at four rates, the last of them far too high.
"""

import json
from collections.abc import Callable
from math import log
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from book.language_model import (
    NOTHING,
    LanguageModel,
    RMSNorm,
    SwiGLU,
    learning_rate,
    log_probs,
    rotate,
    table,
)
from companion.data import BOS, EOS, WORDS, corpus, sentence_probability

WIDTH, LAYERS, HEADS, STEPS, BATCH = 32, 2, 4, 300, 32
RATES, TUNED_ON, SEEDS = (0.02, 0.04), (10, 11), (12, 13, 14)
MORE_RATES = (0.02, 0.04, 0.08, 0.16)
NUMBER = {word: i for i, word in enumerate([BOS, EOS, *WORDS])}


def ids_of(sentences: list[list[str]]) -> Tensor:
    """Token ids of sentences, with their ends."""
    return table([[NUMBER[word] for word in (BOS, *sentence, EOS)] for sentence in sentences])


def linear(inputs: int, outputs: int, scale: float = 1.0) -> nn.Linear:
    """A matrix that starts as those of `LanguageModel` do."""
    layer = nn.Linear(inputs, outputs, bias=False)
    nn.init.normal_(layer.weight, std=scale * inputs**-0.5)
    return layer


class OtherAttention(nn.Module):
    """The model's attention with one key head for all, without positions, with norms or a gate."""

    def __init__(self, kv_heads=HEADS, positions=True, qk_norm=False, gate=False):
        super().__init__()
        self.kv_heads, self.positions = kv_heads, positions
        self.qkv = linear(WIDTH, WIDTH + 2 * kv_heads * WIDTH // HEADS)
        self.out = linear(WIDTH, WIDTH, (2 * LAYERS) ** -0.5)
        self.norms = nn.ModuleList(RMSNorm(WIDTH // HEADS) for _ in range(2 * qk_norm))
        self.gate = linear(WIDTH, WIDTH) if gate else None

    def forward(self, x: Tensor, cache=None) -> Tensor:
        heads = self.qkv(x).unflatten(-1, (-1, WIDTH // HEADS)).transpose(1, 2)
        q, k, v = heads.split([HEADS, self.kv_heads, self.kv_heads], dim=1)
        if self.norms:
            q, k = (norm(part) for norm, part in zip(self.norms, (q, k), strict=True))
        if self.positions:
            q, k = rotate(q), rotate(k)
        k, v = (x.repeat_interleave(HEADS // self.kv_heads, dim=1) for x in (k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        y = y.transpose(1, 2).flatten(2)
        return self.out(y if self.gate is None else y * self.gate(x).sigmoid())


class Experts(nn.Module):
    """Four feed-forward layers of which each token gets one, with more parameters in all.

    `balance` is smallest when all are used alike, and is added to the loss with a small weight
    (Fedus, Zoph and Shazeer 2021, https://arxiv.org/abs/2101.03961, section 2.2).
    """

    def __init__(self, count: int = 4):
        super().__init__()
        self.router = linear(WIDTH, count)
        self.experts = nn.ModuleList(SwiGLU(WIDTH) for _ in range(count))
        for expert in self.experts:
            for layer in expert.children():
                scale = (2 * LAYERS) ** -0.5 if layer is expert.down else 1.0
                nn.init.normal_(layer.weight, std=scale * layer.in_features**-0.5)
        self.balance = torch.zeros(())

    def forward(self, x: Tensor) -> Tensor:
        shares = self.router(x).softmax(-1)
        top, chosen = shares.max(-1)
        used = F.one_hot(chosen, len(self.experts)).to(x)
        self.balance = len(self.experts) * (used.mean((0, 1)) * shares.mean((0, 1))).sum()
        parts = torch.stack([expert(x) for expert in self.experts], dim=-1)
        return top[..., None] * (parts * used[..., None, :]).sum(-1)


class Nothing(nn.Module):
    """What adds nothing to the stream."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.zeros_like(x)


def each_block(part: str, make: Callable[[], nn.Module]) -> Callable[[LanguageModel], None]:
    """A change of a model that puts a new part into each of its blocks."""
    return lambda model: [setattr(block, part, make()) for block in model.blocks]


def layer_norms(model: LanguageModel) -> None:
    """LayerNorm wherever RMSNorm was."""
    for owner in [*model.modules()]:
        for name, child in [*owner.named_children()]:
            if isinstance(child, RMSNorm):
                setattr(owner, name, nn.LayerNorm(WIDTH))


def gelu() -> nn.Module:
    """The older feed-forward layer, of about as many parameters."""
    return nn.Sequential(
        linear(WIDTH, 4 * WIDTH), nn.GELU(), linear(4 * WIDTH, WIDTH, (2 * LAYERS) ** -0.5)
    )


CHANGES = {  # of the model; or of how it is trained
    "the base": {},
    "placebo: another start": {"start": 1000},
    "LayerNorm for RMSNorm": {"change": layer_norms},
    "GELU for SwiGLU": {"change": each_block("feed_forward", gelu)},
    "no positions for RoPE": {
        "change": each_block("attention", lambda: OtherAttention(positions=False))
    },
    "one key head for four": {"change": each_block("attention", lambda: OtherAttention(1))},
    "a gate on attention": {"change": each_block("attention", lambda: OtherAttention(gate=True))},
    "QK-norm": {"change": each_block("attention", lambda: OtherAttention(qk_norm=True))},
    "four experts for one": {"change": each_block("feed_forward", Experts)},
    "no feed-forward layer": {"change": each_block("feed_forward", Nothing)},
    "Muon for the matrices": {"muon": True},
    "Muon, matrices at a quarter": {"muon": True, "share": 0.25},
    "AdamW, matrices at a quarter": {"share": 0.25},
}


def optimizers(model: LanguageModel, rate: float, share: float, muon: bool) -> list:
    """AdamW for all, with a share of the rate for the blocks' matrices, or Muon for these."""
    matrices = [w for w in model.blocks.parameters() if w.dim() == 2]
    others = [w for w in model.parameters() if all(w is not m for m in matrices)]
    adamw = {"betas": (0.9, 0.99), "weight_decay": 0.02}
    if muon:
        hidden = torch.optim.Muon(
            matrices, lr=rate * share, weight_decay=0.02, adjust_lr_fn="match_rms_adamw"
        )
    else:
        hidden = torch.optim.AdamW(matrices, lr=rate * share, **adamw)
    return [torch.optim.AdamW(others, lr=rate, **adamw), hidden]


def trained(seed: int, rate: float, *, change=None, start=0, share=1.0, muon=False):
    """A model with one change, after 300 steps on sentences of this seed."""
    torch.manual_seed(seed + start)
    model = LanguageModel(len(NUMBER), WIDTH, LAYERS, HEADS)
    if change is not None:
        change(model)
    rows = ids_of(corpus(STEPS * BATCH, seed))
    both = optimizers(model, rate, share, muon)
    peaks = [group["lr"] for optimizer in both for group in optimizer.param_groups]
    for step in range(STEPS):
        ids = rows[step * BATCH : (step + 1) * BATCH]
        ids = ids[:, : (ids != NOTHING).any(0).sum()]
        loss = -log_probs(model, ids).sum() / (ids[:, 1:] != NOTHING).sum()
        experts = [part for part in model.modules() if isinstance(part, Experts)]
        (loss + 0.01 * sum(part.balance for part in experts)).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer, peak in zip(both, peaks, strict=True):
            optimizer.param_groups[0]["lr"] = learning_rate(step, STEPS, peak)
            optimizer.step()
            optimizer.zero_grad()
    return model


def gap(name: str, seed: int, rate: float) -> float:
    """Nats per token above the entropy of a thousand fresh sentences."""
    model, fresh = trained(seed, rate, **CHANGES[name]), corpus(1000, 999)
    ids = ids_of(fresh)
    with torch.no_grad():
        loss = -log_probs(model, ids).sum().item()
    entropy = -sum(log(sentence_probability(sentence)) for sentence in fresh)
    return (loss - entropy) / (ids[:, 1:] != NOTHING).sum().item()


def trials() -> dict[str, dict]:
    """By the name of each change: its rate, and the gap with each of the three seeds."""
    found = {}
    for name in CHANGES:
        rate = min(RATES, key=lambda rate: sum(gap(name, seed, rate) for seed in TUNED_ON))
        gaps = [round(gap(name, seed, rate), 4) for seed in SEEDS]
        found[name] = {"rate": rate, "gaps": gaps}
    return found


def over_rates() -> dict[str, dict[str, list[float]]]:
    """Of the base and of QK-norm: by the rate, the gap with each of the three seeds."""
    return {
        name: {
            str(rate): [round(gap(name, seed, rate), 4) for seed in SEEDS] for rate in MORE_RATES
        }
        for name in ("the base", "QK-norm")
    }


def stored() -> dict[str, dict]:
    """What `trials` and `over_rates` found, as it is kept beside this file."""
    return json.loads(Path(__file__).with_name("trials.json").read_text("utf8"))


if __name__ == "__main__":
    torch.set_num_threads(1)
    print(json.dumps({"changes": trials(), "rates": over_rates()}, indent=1))
