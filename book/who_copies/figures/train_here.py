"""A Transformer that trains in the page, and one of the same size that PyTorch has trained."""

import base64
from functools import cache
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn

from book.page.live import LiveFigure, table
from book.page.weights import packed_maps
from companion.nn import MultiHeadAttention

KERNEL = Path(__file__).with_name("kernel.wasm")  # kernel.wat, assembled
LETTERS, LENGTH, WIDTH, BATCH = 64, 48, 32, 16
PERIODS = (8, 16)
STEPS, EVERY, SHOWN = 500, 10, 24
TEXT = torch.randperm(LETTERS, generator=torch.Generator().manual_seed(0))[:12]


class AttentionOnly(nn.Module):
    """The chapter's model: layers of attention, which add to a stream of vectors."""

    def __init__(self, num_layers: int, letters: int, length: int, width: int) -> None:
        super().__init__()
        self.letters = nn.Embedding(letters, width)
        self.positions = nn.Embedding(length, width)
        for embedding in (self.letters, self.positions):
            nn.init.normal_(embedding.weight, std=0.5)
        self.layers = nn.ModuleList(MultiHeadAttention(width, 1) for _ in range(num_layers))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(num_layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, letters, bias=False)

    def forward(self, ids: torch.Tensor, need_weights: bool = False):
        """Letters (B, T) -> logits (B, T, letters); if asked, each layer's weights (B, T, T)."""
        stream, maps = self.letters(ids) + self.positions.weight, []
        for norm, layer in zip(self.norms, self.layers, strict=True):
            added, weights = layer(norm(stream), is_causal=True, need_weights=need_weights)
            stream = stream + added
            if need_weights:
                maps.append(weights[:, 0])
        return self.head(self.norm(stream)), maps


def repeated() -> tuple[torch.Tensor, torch.Tensor]:
    """Letters (B, T) that repeat with a random period, and the periods (B, 1)."""
    period = torch.randint(PERIODS[0], PERIODS[1] + 1, (BATCH, 1))
    once = torch.randint(LETTERS, (BATCH, LENGTH))
    return once.gather(1, torch.arange(LENGTH) % period), period


@cache
def finished_run() -> tuple[list[float], torch.Tensor]:
    """The losses of a training on the second copies, and the maps (2, SHOWN, SHOWN) at its end."""
    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        torch.manual_seed(0)
        model, losses = AttentionOnly(2, LETTERS, LENGTH, WIDTH), []
        seen, period = repeated()
        seen[0], period[0] = TEXT.repeat(LENGTH // len(TEXT)), len(TEXT)
        known = torch.arange(LENGTH - 1) >= period
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.006, betas=(0.9, 0.98), fused=True)
        warmup = torch.optim.lr_scheduler.LinearLR(optimizer, 0.02, total_iters=50)
        for step in range(STEPS + 1):
            if step % EVERY == 0:
                losses.append(each_loss(model, seen)[known].mean().item())
            loss = each_loss(model, repeated()[0]).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            warmup.step()
        _, maps = model(seen[:1], need_weights=True)
    return losses, torch.cat(maps)[:, :SHOWN, :SHOWN].detach()


def each_loss(model: AttentionOnly, ids: torch.Tensor) -> torch.Tensor:
    """The loss on every next letter, (B, T - 1)."""
    logits, _ = model(ids)
    return F.cross_entropy(logits[:, :-1].transpose(1, 2), ids[:, 1:], reduction="none")


def train_here_figure() -> LiveFigure:
    """The reader trains the attention-only model; it opens on a run of PyTorch."""
    losses, maps = finished_run()
    data = {
        "kernel": base64.b64encode(KERNEL.read_bytes()).decode(),
        "shape": {"V": LETTERS, "T": LENGTH, "d": WIDTH, "B": BATCH},
        "periods": list(PERIODS),
        "text": TEXT.tolist(),
        "steps": STEPS,
        "every": EVERY,
        "losses": losses,
        "maps": packed_maps(maps),
    }
    value = {"layers": 2, "rate": 0.006, "seed": 0, "running": False}
    value |= {"step": 0, "loss": losses[-1], "cut": ""}
    rows = [(i * EVERY, loss) for i, loss in enumerate(losses)][::5]
    rows.insert(0, rows.pop())
    fallback = table("The loss while PyTorch trains it", ["step", "loss, nats"], rows)
    return LiveFigure(__file__, data, value, fallback)
