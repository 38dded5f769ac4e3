"""Training GPT-2 124M, beside transformers' GPT-2 under the same settings.

    python benchmarks/gpt2.py > benchmarks/gpt2.md                                   # on a GPU
    python benchmarks/gpt2.py --device cpu --layers 2 --length 64 --batch-size 2     # a dry run

One step is forward, backward and AdamW, compiled, in bfloat16 autocast with float32 weights; the
vocabulary is padded to 50,304, a multiple of 128. The peak of memory is the most that a step
allocates beyond weights and optimizer. A token costs 6 N + 12 L d n operations,
with N parameters, L layers of width d and n tokens of context (Chowdhery et al. 2022, appendix B,
https://arxiv.org/abs/2204.02311). The rate that this makes is given as a share of what the device
reaches in a large product of matrices, measured in the same run.
"""

import argparse
import statistics
from functools import partial

import torch
import torch.nn.functional as F
from measuring import machine, peak_bytes, print_table, ratio, seconds_by_turns
from torch import nn
from transformers import GPT2Config, GPT2LMHeadModel

from companion.models import GPT, GPTConfig

VOCAB_SIZE, ROUNDS = 50304, 7
MATRIX = {"cuda": 8192, "cpu": 1024}  # side of the matrices of the reference product


class WholeLoss(nn.Module):
    """Token ids to the loss of a model that gives logits, alone or as `.logits`."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, token_ids: torch.Tensor) -> torch.Tensor:
        logits = self.model(token_ids[:, :-1])
        logits = getattr(logits, "logits", logits)
        return F.cross_entropy(logits.flatten(0, 1), token_ids[:, 1:].flatten())


def models(num_layers: int, length: int) -> dict[str, nn.Module]:
    """Modules from token ids to a loss, with the same sizes and no dropout."""
    config = GPTConfig.preset(
        "gpt2", vocab_size=VOCAB_SIZE, num_layers=num_layers, max_len=length, dropout=0.0
    )
    theirs = GPT2Config(
        vocab_size=VOCAB_SIZE,
        n_layer=num_layers,
        n_positions=length,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        attn_implementation="sdpa",
        use_cache=False,
    )
    return {
        "companion": WholeLoss(GPT(config)),
        "transformers": WholeLoss(GPT2LMHeadModel(theirs)),
    }


def step(model: nn.Module, optimizer, token_ids: torch.Tensor) -> None:
    """One update of the weights."""
    with torch.autocast(token_ids.device.type, dtype=torch.bfloat16):
        loss = model(token_ids)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()


def settled(device: str, run) -> None:
    """Run to the end: a GPU works on after the call returns."""
    run()
    if device == "cuda":
        torch.cuda.synchronize()


def matrix_rate(device: str) -> float:
    """Operations per second of a product of two large bfloat16 matrices."""
    side = MATRIX[device]
    one, other = (torch.randn(side, side, device=device, dtype=torch.bfloat16) for _ in range(2))
    runs = {"product": partial(settled, device, partial(torch.mm, one, other))}
    return 2 * side**3 / statistics.median(seconds_by_turns(runs, ROUNDS)["product"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda")
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--length", type=int, default=1024)
    parser.add_argument("--batch-size", type=int, default=32)
    args = parser.parse_args()
    torch.manual_seed(0)
    shape = (args.batch_size, args.length + 1)
    token_ids = torch.randint(VOCAB_SIZE, shape, device=args.device)
    runs, parameters, peaks = {}, {}, {}
    for name, model in models(args.layers, args.length).items():
        model.to(args.device).train()
        parameters[name] = sum(p.numel() for p in model.parameters())
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
        run = partial(step, torch.compile(model), optimizer, token_ids)
        runs[name] = partial(settled, args.device, run)
        runs[name]()  # compiles, and makes the optimizer's state
        peaks[name] = peak_bytes(runs[name], args.device)
    best = matrix_rate(args.device)
    seconds = seconds_by_turns(runs, ROUNDS)

    tokens = args.batch_size * args.length
    width = GPTConfig.PRESETS["gpt2"]["d_model"]
    rows = []
    for name, times in seconds.items():
        per_token = 6 * parameters[name] + 12 * args.layers * width * args.length
        middle = statistics.median(times)
        share = per_token * tokens / middle / best
        slower = ratio(times, seconds["transformers"])
        rows.append([name, f"{parameters[name]:,}", f"{tokens / middle:,.0f}/s", f"{share:.1%}"])
        rows[-1] += [f"{slower:.2f}", f"{peaks[name] / 1e9:.2f} GB"]
    print("# Training GPT-2\n")
    print(f"{machine(args.device)}; torch {torch.__version__}, bfloat16 autocast, compiled;")
    print(f"{args.layers} layers, {args.batch_size} × {args.length} tokens; a product of matrices")
    print(f"reaches {best / 1e12:,.3g} TFLOP/s; median of {ROUNDS} rounds.\n")
    header = ["model", "parameters", "tokens", "share of the matrix rate", "time / transformers'"]
    print_table([*header, "peak of memory"], rows)


if __name__ == "__main__":
    main()
