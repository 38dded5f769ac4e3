"""Forward + backward of a causal language model, beside its peers.

    pip install --no-deps -r benchmarks/requirements.txt
    python benchmarks/training.py > benchmarks/training.md

Every model reads the same token ids and is asked for the next one: embeddings, pre-norm blocks with
fused attention, a last norm, the output matrix, cross entropy; float32, no dropout. Times and
ratios of times are medians over rounds in which the models take turns, so that a noisy machine is
noisy for all. Memory is the most that was allocated at once beyond the parameters, gradients
included.
"""

import argparse
import statistics
import sys
from dataclasses import dataclass
from functools import partial

import torch
import torch.nn.functional as F
from measuring import machine, peak_bytes, print_table, ratio, seconds_by_turns
from torch import nn
from transformers import GPT2Config, GPT2LMHeadModel
from x_transformers import Decoder, TransformerWrapper

from companion.models import GPT, GPTConfig

ROUNDS = 9
VOCAB_SIZE = 1000


@dataclass(frozen=True)
class Size:
    d_model: int
    num_layers: int
    num_heads: int
    length: int
    batch_size: int

    def __str__(self) -> str:
        return (
            f"d {self.d_model} × {self.num_layers} layers, {self.num_heads} heads, "
            f"{self.batch_size} × {self.length} tokens"
        )


SIZES = (
    Size(d_model=64, num_layers=2, num_heads=4, length=64, batch_size=16),
    Size(d_model=128, num_layers=4, num_heads=4, length=128, batch_size=8),
    Size(d_model=256, num_layers=4, num_heads=4, length=256, batch_size=8),
    Size(d_model=512, num_layers=6, num_heads=8, length=512, batch_size=2),
)


class TorchModel(nn.Module):
    """`nn.TransformerEncoder` as a causal language model."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.token_embedding = nn.Embedding(VOCAB_SIZE, size.d_model)
        self.positions = nn.Embedding(size.length, size.d_model)
        block = nn.TransformerEncoderLayer(
            size.d_model,
            size.num_heads,
            4 * size.d_model,
            dropout=0.0,
            activation=partial(F.gelu, approximate="tanh"),
            batch_first=True,
            norm_first=True,
        )
        self.blocks = nn.TransformerEncoder(
            block, size.num_layers, nn.LayerNorm(size.d_model), enable_nested_tensor=False
        )
        self.head = nn.Linear(size.d_model, VOCAB_SIZE, bias=False)
        self.head.weight = self.token_embedding.weight
        mask = nn.Transformer.generate_square_subsequent_mask(size.length)
        self.register_buffer("mask", mask)

    def forward(self, token_ids: torch.Tensor) -> torch.Tensor:
        places = torch.arange(token_ids.shape[1], device=token_ids.device)
        x = self.token_embedding(token_ids) + self.positions(places)
        return self.head(self.blocks(x, mask=self.mask, is_causal=True))


def models(size: Size) -> dict[str, tuple[nn.Module, object]]:
    """Column name -> model, and a function from token ids to logits."""
    ours = GPT(
        GPTConfig(
            vocab_size=VOCAB_SIZE,
            d_model=size.d_model,
            num_layers=size.num_layers,
            num_heads=size.num_heads,
            d_ff=4 * size.d_model,
            max_len=size.length,
            dropout=0.0,
        )
    )
    encoder = TorchModel(size)
    x_model = TransformerWrapper(
        num_tokens=VOCAB_SIZE,
        max_seq_len=size.length,
        tie_embedding=True,
        attn_layers=Decoder(
            dim=size.d_model,
            depth=size.num_layers,
            heads=size.num_heads,
            attn_dim_head=size.d_model // size.num_heads,
            attn_flash=True,
        ),
    )
    gpt2 = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=VOCAB_SIZE,
            n_embd=size.d_model,
            n_layer=size.num_layers,
            n_head=size.num_heads,
            n_positions=size.length,
            resid_pdrop=0.0,
            embd_pdrop=0.0,
            attn_pdrop=0.0,
            use_cache=False,
            bos_token_id=None,
            eos_token_id=None,
            attn_implementation="sdpa",
        )
    )
    return {
        "companion": (ours, ours),
        "nn.TransformerEncoder": (encoder, encoder),
        "x-transformers": (x_model, x_model),
        "transformers GPT-2": (gpt2, lambda token_ids: gpt2(token_ids).logits),
    }


def step(model: nn.Module, predict, token_ids: torch.Tensor) -> None:
    """One forward and backward pass, from no gradients."""
    model.zero_grad(set_to_none=True)
    logits = predict(token_ids[:, :-1])
    F.cross_entropy(logits.flatten(0, 1), token_ids[:, 1:].flatten()).backward()


def measure(size: Size, device: str) -> tuple[list[str], float]:
    """A row of the table, and companion's time over that of the fastest peer."""
    torch.manual_seed(0)
    columns = models(size)
    token_ids = torch.randint(VOCAB_SIZE, (size.batch_size, size.length + 1), device=device)
    runs, peaks = {}, {}
    for name, (model, predict) in columns.items():
        model.to(device).train()
        runs[name] = partial(step, model, predict, token_ids)
        runs[name]()
        model.zero_grad(set_to_none=True)
        peaks[name] = peak_bytes(runs[name], device)
    seconds = seconds_by_turns(runs, ROUNDS)
    tokens = size.batch_size * size.length
    cells = [
        f"{tokens / statistics.median(seconds[name]):,.0f}/s, {peaks[name] / 1e6:.0f} MB"
        for name in columns
    ]
    ours = seconds.pop("companion")
    slowest = max(ratio(ours, theirs) for theirs in seconds.values())
    return [str(size), *cells, f"{slowest:.2f}"], slowest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--sizes", type=int, default=len(SIZES), help="only the first so many")
    args = parser.parse_args()
    rows, ratios = [], []
    for size in SIZES[: args.sizes]:
        print(f"{size} ...", file=sys.stderr)
        row, to_fastest = measure(size, args.device)
        rows.append(row)
        ratios.append(to_fastest)
    print("# Training: tokens per second and memory\n")
    print(f"{machine(args.device)}; torch {torch.__version__}, float32;")
    print(f"forward + backward of a causal language model, median of {ROUNDS} rounds.\n")
    names = list(models(SIZES[0]))
    print_table(["size", *names, "companion / fastest peer (time)"], rows)
    print(f"\nCompanion's time over the fastest peer's: {min(ratios):.2f} to {max(ratios):.2f}.\n")

    print("Parameters (x-transformers' projections and norms have no biases by default)\n")
    counts = [
        [str(size), *(f"{count(model):,}" for model, _ in models(size).values())]
        for size in SIZES[: args.sizes]
    ]
    print_table(["size", *names], counts)


def count(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


if __name__ == "__main__":
    main()
