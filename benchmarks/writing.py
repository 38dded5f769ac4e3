"""Writing with GPT-2 124M: eager and compiled, beside transformers' eager and compiled.

    python benchmarks/writing.py > benchmarks/writing.md               # on a GPU
    python benchmarks/writing.py --device cpu --layers 2 --new 16  # a dry run

The weights are GPT-2's start, the same in both. transformers compiles over its static cache; ours
is `generate(torch.compile(model, mode="reduce-overhead"), ...)`. Times are medians over rounds in
which all take turns, the reading of the prompt included. In bfloat16 the largest logits of such
weights often tie, so that two orders of a sum write different tokens.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from functools import partial

import torch
from decoding import transformers_model
from measuring import machine, print_table, ratio, seconds_by_turns
from transformers import CompileConfig

from companion.generation import generate
from companion.models import GPT, GPTConfig

BATCH_SIZES, ROUNDS = (1, 8), 5


def settled(device: str, run) -> torch.Tensor:
    """Run to the end: a GPU works on after the call returns."""
    result = run()
    if device == "cuda":
        torch.cuda.synchronize()
    return result


def measure(ours: GPT, theirs, batch_size: int, prompt: int, new: int, device: str):
    token_ids = torch.randint(ours.config.vocab_size, (batch_size, prompt), device=device)
    compiled = torch.compile(ours, mode="reduce-overhead")
    peer = partial(
        theirs.generate,
        token_ids,
        attention_mask=torch.ones_like(token_ids),
        max_new_tokens=new,
        do_sample=False,
    )
    in_a_graph = CompileConfig(mode="reduce-overhead", fullgraph=True)
    in_a_graph._compile_all_devices = True  # transformers compiles on a GPU alone
    runs = {
        "transformers": peer,
        "transformers, compiled": partial(
            peer, cache_implementation="static", compile_config=in_a_graph
        ),
        "companion": partial(generate, ours, token_ids, new, temperature=0),
        "companion, compiled": partial(generate, compiled, token_ids, new, temperature=0),
    }
    runs = {name: partial(settled, device, run) for name, run in runs.items()}
    written, first = {}, {}
    for name, run in runs.items():
        print(f"batch {batch_size}: {name} ...", file=sys.stderr)
        began = time.perf_counter()
        written[name] = run()
        first[name] = time.perf_counter() - began
        assert written[name].shape == (batch_size, prompt + new)
    seconds = seconds_by_turns(runs, ROUNDS)
    for name in runs:
        same = (written[name] == written["companion"])[:, prompt:].float().mean().item()
        yield [
            name,
            str(batch_size),
            f"{1000 * statistics.median(seconds[name]) / new:.2f} ms",
            f"{ratio(seconds['companion'], seconds[name]):.2f}",
            f"{first[name]:.0f} s" if "compiled" in name else "",
            f"{same:.1%}",
        ]


@torch.no_grad()
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda")
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--prompt", type=int, default=32, help="tokens that are given")
    parser.add_argument("--new", type=int, default=256, help="tokens that are written")
    args = parser.parse_args()
    torch.manual_seed(0)
    ours = GPT(GPTConfig.preset("gpt2", num_layers=args.layers, dropout=0.0)).eval()
    theirs = transformers_model(ours).to(args.device, torch.bfloat16)
    ours.to(args.device, torch.bfloat16)
    with tempfile.TemporaryDirectory() as os.environ["TORCHINDUCTOR_CACHE_DIR"]:
        rows = [
            row
            for batch_size in BATCH_SIZES
            for row in measure(ours, theirs, batch_size, args.prompt, args.new, args.device)
        ]
    print("# Writing with GPT-2\n")
    print(f"{machine(args.device)}; torch {torch.__version__}, bfloat16, {args.layers} layers;")
    print(f"{args.prompt} tokens given, {args.new} written greedily; median of {ROUNDS} rounds.\n")
    header = ["what writes", "batch", "a token", "times as fast as companion"]
    print_table([*header, "first call, compiling", "same tokens as companion"], rows)


if __name__ == "__main__":
    main()
