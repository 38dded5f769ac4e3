"""Writing with a cache: `companion.generation.generate` beside `generate` of transformers.

    python benchmarks/decoding.py > benchmarks/decoding.md

All write greedily with the same weights, carried over into transformers' GPT-2 and checked to give
the same logits; float32. transformers runs with the cache that it chooses and with its static one.
Times and ratios of times are medians over rounds in which they take turns, so that a noisy machine
is noisy for all. Beside them, for batch 1 on a CPU, what plain C++ loops over weights of the same
shapes reach on one core, where there is a compiler; then short answers, compared with the model
called step by step.

A second implementation of the step, beside the model's forward, was 5.4 times as fast as
transformers at d 64 and 2.7 times at d 256, batch 1. It forgot what a learner had replaced or
hooked, and made short answers slower: it was given up for clarity.
"""

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import torch
from measuring import machine, print_table, ratio, seconds_by_turns
from transformers import GPT2Config, GPT2LMHeadModel

from companion.generation import generate
from companion.models import GPT, GPTConfig
from companion.nn import KVCache

ROUNDS = 7
VOCAB_SIZE = 1000
MODELS = ((64, 2), (256, 4))  # d_model, num_layers
BATCH_SIZES = (1, 8, 32)
SHORT = (1, 2, 16)  # new tokens of a short answer


def companion_model(d_model: int, num_layers: int, max_len: int) -> GPT:
    config = GPTConfig(
        vocab_size=VOCAB_SIZE,
        d_model=d_model,
        num_layers=num_layers,
        num_heads=4,
        d_ff=4 * d_model,
        max_len=max_len,
        dropout=0.0,
    )
    return GPT(config).eval()


def transformers_model(model: GPT) -> GPT2LMHeadModel:
    """transformers' GPT-2 with the weights of ours."""
    config = model.config
    theirs = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=config.vocab_size,
            n_embd=config.d_model,
            n_layer=config.num_layers,
            n_head=config.num_heads,
            n_positions=config.max_len,
            bos_token_id=None,
            eos_token_id=None,
            pad_token_id=config.pad_id,
            attn_implementation="sdpa",
        )
    ).eval()
    weights = {
        "wte.weight": model.token_embedding.weight,
        "wpe.weight": model.positions.weight,
        "ln_f.weight": model.final_norm.weight,
        "ln_f.bias": model.final_norm.bias,
    }
    for i, block in enumerate(model.blocks):
        attention, network = block.self_attention, block.feed_forward
        qkv = (attention.q_proj, attention.k_proj, attention.v_proj)
        weights |= {
            f"h.{i}.ln_1.weight": block.norm1.weight,
            f"h.{i}.ln_1.bias": block.norm1.bias,
            f"h.{i}.ln_2.weight": block.norm2.weight,
            f"h.{i}.ln_2.bias": block.norm2.bias,
            f"h.{i}.attn.c_attn.weight": torch.cat([part.weight for part in qkv]).T,
            f"h.{i}.attn.c_attn.bias": torch.cat([part.bias for part in qkv]),
            f"h.{i}.attn.c_proj.weight": attention.out_proj.weight.T,
            f"h.{i}.attn.c_proj.bias": attention.out_proj.bias,
            f"h.{i}.mlp.c_fc.weight": network.up_proj.weight.T,
            f"h.{i}.mlp.c_fc.bias": network.up_proj.bias,
            f"h.{i}.mlp.c_proj.weight": network.down_proj.weight.T,
            f"h.{i}.mlp.c_proj.bias": network.down_proj.bias,
        }
    theirs.transformer.load_state_dict(weights)
    return theirs


@torch.no_grad()
def measure(d_model: int, num_layers: int, device: str, prompt: int, new: int):
    """A row of the table for each batch size, with how many times as fast as transformers."""
    torch.manual_seed(0)
    ours = companion_model(d_model, num_layers, prompt + new)
    theirs = transformers_model(ours).to(device)
    ours.to(device)
    for batch_size in BATCH_SIZES:
        print(f"d {d_model} × {num_layers} layers, batch {batch_size} ...", file=sys.stderr)
        token_ids = torch.randint(1, VOCAB_SIZE, (batch_size, prompt), device=device)
        torch.testing.assert_close(ours(token_ids), theirs(token_ids).logits, rtol=1e-4, atol=1e-4)
        peer = partial(
            theirs.generate,
            token_ids,
            attention_mask=torch.ones_like(token_ids),
            max_new_tokens=new,
            do_sample=False,
        )
        runs = {
            "companion": partial(generate, ours, token_ids, new, temperature=0),
            "transformers": peer,
            "static": partial(peer, cache_implementation="static"),
        }
        written = {name: run() for name, run in runs.items()}
        shapes = {name: tuple(ids.shape) for name, ids in written.items()}
        assert set(shapes.values()) == {(batch_size, prompt + new)}, shapes
        same = (written["companion"] == written["transformers"]).float().mean().item()
        assert torch.equal(written["static"], written["transformers"])
        seconds = seconds_by_turns(runs, ROUNDS)
        rates = [batch_size * new / statistics.median(seconds[name]) for name in runs]
        cells = [f"{rate:,.0f}/s" for rate in rates]
        faster = [
            f"{ratio(seconds[name], seconds['companion']):.2f}"
            for name in ("transformers", "static")
        ]
        bound = "–"
        if batch_size == 1 and device == "cpu":
            bound = plain_loop(d_model, num_layers, prompt, new)
        name = f"d {d_model} × {num_layers} layers"
        yield [name, str(batch_size), *cells, *faster, f"{same:.1%}", bound]


def step_by_step(model: GPT, token_ids: torch.Tensor, new: int) -> torch.Tensor:
    """What one writes by hand: the model called with a cache, once for each token."""
    caches, written = [KVCache() for _ in model.blocks], token_ids
    with torch.inference_mode():
        for _ in range(new):
            token_ids = model(token_ids, caches=caches)[:, -1].argmax(-1, keepdim=True)
            written = torch.cat([written, token_ids], dim=1)
    return written


def measure_short(d_model: int, num_layers: int, device: str, prompt: int):
    """Rows for short answers at batch 1: milliseconds of generate, and of the model by hand."""
    torch.manual_seed(0)
    model = companion_model(d_model, num_layers, prompt + max(SHORT)).to(device)
    token_ids = torch.randint(1, VOCAB_SIZE, (1, prompt), device=device)
    for new in SHORT:
        runs = {
            "generate": partial(generate, model, token_ids, new, temperature=0),
            "by hand": partial(step_by_step, model, token_ids, new),
        }
        written = [run() for run in runs.values()]
        assert torch.equal(*written)
        seconds = seconds_by_turns(runs, 3 * ROUNDS)
        cells = [f"{1000 * statistics.median(seconds[name]):.2f}" for name in runs]
        faster = ratio(seconds["by hand"], seconds["generate"])
        yield [f"d {d_model} × {num_layers} layers", str(new), *cells, f"{faster:.2f}"]


def plain_loop(d_model: int, num_layers: int, prompt: int, new: int) -> str:
    """Tokens per second of decoding_bound.cpp, the best of three runs."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        return "no compiler"
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "bound"
        source = Path(__file__).with_name("decoding_bound.cpp")
        flags = ["-O3", "-march=native", "-ffast-math"]
        subprocess.run([compiler, *flags, "-o", program, source], check=True)
        sizes = map(str, (d_model, num_layers, VOCAB_SIZE, prompt, new))
        command = [program, *sizes]
        rates = [int(subprocess.check_output(command)) for _ in range(3)]
    return f"{max(rates):,}/s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--prompt", type=int, default=32, help="tokens that are given")
    parser.add_argument("--new", type=int, default=128, help="tokens that are written")
    args = parser.parse_args()
    rows = [row for model in MODELS for row in measure(*model, args.device, args.prompt, args.new)]
    print("# Decoding: new tokens per second\n")
    print(f"{machine(args.device)}; torch {torch.__version__}, float32;")
    print(
        f"{args.prompt} tokens given, {args.new} written greedily with a cache; median of "
        f"{ROUNDS} rounds.\n"
    )
    header = ["model", "batch", "companion", "transformers GPT-2", "its static cache"]
    header += ["times as fast", "as static", "same tokens", "C++ loop"]
    print_table(header, rows)
    print("\nShort answers, batch 1, in milliseconds; by hand: the model called step by step.\n")
    short = [row for model in MODELS for row in measure_short(*model, args.device, args.prompt)]
    print_table(["model", "new tokens", "companion", "by hand", "times as fast"], short)


if __name__ == "__main__":
    main()
