"""How many bits does a weight of SmolLM2 need? Its loss on English with all matrices rounded.

    python -m book.running_a_language_model.bits {5301..5310} > bits.json

made the table, which lies beside this file. A seed draws three pieces of docstrings, of 64 tokens.
Ten seconds.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from book import runs
from book.running_a_language_model import checks
from companion.data import standard_library_text
from companion.pretrained import load, load_tokenizer

NAME = "SmolLM2-135M-Instruct"
WAYS = {
    "blocks of 32": lambda p: 32,
    "a row": lambda p: p.shape[1],
    "a whole matrix": lambda p: p.numel(),
}
TRIED = {"blocks of 32": (8, 6, 4, 3, 2), "a row": (8, 4), "a whole matrix": (8, 6, 4)}


def quantise(weight: Tensor, bits: int, block: int) -> Tensor:
    """The chapter's rounding to `bits` bits, with one scale for each `block` weights of a row."""
    groups = weight.view(-1, block)
    largest = groups.abs().amax(dim=1, keepdim=True).clamp_min(1e-12)
    scale = largest / (2 ** (bits - 1) - 1)
    return (groups / scale).round_().mul_(scale).view_as(weight)


@torch.no_grad()
def loss_of(model: nn.Module, ids: Tensor) -> float:
    """The mean loss of tokens (B, T), in nats."""
    logits = model(ids)[:, :-1].flatten(0, 1)
    return F.cross_entropy(logits, ids[:, 1:].flatten()).item()


def loss_at(
    model: nn.Module,
    ids: Tensor,
    bits: int,
    size: Callable[[Tensor], int],
    rounding: Callable[[Tensor, int, int], Tensor] = quantise,
) -> float:
    """The same with rounded numbers in all matrices, which get theirs back."""
    matrices = [p for p in model.parameters() if p.dim() == 2]
    kept = [p.data for p in matrices]
    for p in matrices:
        p.data = rounding(p.data, bits, size(p))
    loss = loss_of(model, ids)
    for p, before in zip(matrices, kept, strict=True):
        p.data = before
    return loss


def measure(seed: int) -> dict:
    """Losses: before, at the bits of each way, and at four on a grid with two ends."""
    model, tokenizer = load(NAME), load_tokenizer(NAME)
    text = standard_library_text(200_000, kind="docstrings", split="test")
    english = torch.tensor(tokenizer.encode(text))
    starts = torch.randint(len(english) - 64, (3,), generator=torch.Generator().manual_seed(seed))
    ids = torch.stack([english[start : start + 64] for start in starts])
    both = loss_at(model, ids, 4, WAYS["blocks of 32"], checks.QUANTISE.right)
    return {
        "seed": seed,
        "before": round(loss_of(model, ids), 4),
        **{way: [round(loss_at(model, ids, b, WAYS[way]), 4) for b in TRIED[way]] for way in TRIED},
        "two ends": round(both, 4),
    }


def stored() -> list[dict]:
    """The committed table, a row for each seed."""
    return runs.read(__file__, "bits.json")


if __name__ == "__main__":
    runs.write(measure)
