"""What number formats lose of a gradient: a small GPT, and its gradients in float32 and in half."""

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from companion.data import BOS, WORDS, Vocabulary, corpus
from companion.models import GPT, GPTConfig
from companion.training import fit, next_token_loss

LENGTH = 64  # of a row that the model reads; each predicts as many tokens
DTYPES = {
    "fp16": torch.float16,
    "bf16": torch.bfloat16,
    "fp8 (e4m3)": torch.float8_e4m3fn,
    "fp8 (e5m2)": torch.float8_e5m2,
}


def windows() -> dict[str, tuple[int, int, int]]:
    """By format, powers of 2: its smallest number, the smallest with all digits, and its end."""
    found = {}
    for name, dtype in DTYPES.items():
        limits = torch.finfo(dtype)
        normal = round(math.log2(limits.smallest_normal))
        least = normal + round(math.log2(limits.eps))
        found[name] = (least, normal, math.ceil(math.log2(limits.max)))
    return found


def histogram(numbers: Tensor) -> dict[int, float]:
    """The share of the numbers, zeros aside, from 2 ** k to 2 ** (k + 1), by k."""
    powers = numbers[numbers != 0].abs().log2().floor()
    found, counts = powers.unique(return_counts=True)
    return {int(k): count.item() / len(powers) for k, count in zip(found, counts, strict=True)}


def text(seed: int) -> Callable[[int, int], Tensor]:
    """batch(step, rows): rows of a text of generated sentences, (rows, LENGTH + 1)."""
    vocabulary = Vocabulary((BOS, *WORDS))
    words = [word for sentence in corpus(4000, seed) for word in (BOS, *sentence)]
    ids = torch.tensor([vocabulary.id(word) for word in words])

    def batch(step: int, rows: int = 8) -> Tensor:
        draw = torch.Generator().manual_seed(1000 * seed + step)
        start = torch.randint(len(ids) - LENGTH, (rows, 1), generator=draw)
        return ids[start + torch.arange(LENGTH + 1)]

    batch.size = len(vocabulary)
    return batch


def trained(batch: Callable[[int, int], Tensor], seed: int, steps: int = 40) -> GPT:
    """A GPT of three blocks after some steps, far from done."""
    torch.manual_seed(seed)
    model = GPT(
        GPTConfig(
            vocab_size=batch.size, d_model=64, num_layers=3, num_heads=4, d_ff=256,
            max_len=LENGTH, dropout=0.0,
        )
    )  # fmt: skip
    fit(model, batch, steps=steps, loss=next_token_loss(None), learning_rate=3e-3, progress=False)
    return model.train()


def gradients(
    model: GPT, ids: Tensor, dtype: torch.dtype | None = None, scale: float = 1.0
) -> tuple[Tensor, Tensor]:
    """The gradient of the mean loss, computed of the loss times a scale, and divided by it.

    Returns:
        All entries of the weights' gradients; and of the gradients that flow between the blocks.
    """
    flows = []
    hooks = [
        block.register_full_backward_hook(lambda *args: flows.append(args[2][0].float() / scale))
        for block in model.blocks
    ]
    model.zero_grad()
    with torch.autocast("cpu", dtype, enabled=dtype is not None):
        logits = model(ids[:, :-1]).float()
    loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
    (loss * scale).backward()
    for hook in hooks:
        hook.remove()
    weights = torch.cat([weight.grad.flatten() / scale for weight in model.parameters()])
    return weights, torch.cat([flow.flatten() for flow in flows])


def error(found: Tensor, exact: Tensor) -> float:
    """The length of the difference over that of the exact one; entries that overflowed aside."""
    there = found.isfinite()
    return ((found - exact)[there].norm() / exact[there].norm()).item()
