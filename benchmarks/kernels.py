"""Attention by tiles and by the Triton kernel, beside torch's flash and explicit backends.

    python benchmarks/kernels.py > benchmarks/kernels.md             # on a GPU
    python benchmarks/kernels.py --sweep                             # settings of the kernel
    python benchmarks/kernels.py --device cpu --sizes 256 1024 4096  # the tiles alone

Forward in bfloat16 (float32 on a CPU), 16,384 tokens in all, 16 heads. Times are medians over
rounds in which the columns take turns. TFLOP/s count the two products of every pair of query and
key, half of the pairs under a causal mask. The goal on an H200: at n = 8192, d 128, causal, the
Triton kernel reaches at least 70 % of the speed of torch's flash backend.
"""

import argparse
import itertools
import statistics
import sys
from functools import partial

import torch
import torch.nn.functional as F
from measuring import machine, peak_bytes, print_table, seconds_by_turns
from torch.nn.attention import SDPBackend, sdpa_kernel

from companion.kernels import tiled_attention, triton_attention

TOKENS, NUM_HEADS, ROUNDS = 16384, 16, 9


def torch_backend(backend, query, key, value, is_causal):
    with sdpa_kernel(backend):
        return F.scaled_dot_product_attention(query, key, value, is_causal=is_causal)


def columns(device: str) -> dict:
    """Name -> function of (query, key, value, is_causal)."""
    tiled = {"tiled": lambda q, k, v, c: tiled_attention(q, k, v, is_causal=c, block_size=256)}
    flash = {"torch flash": partial(torch_backend, SDPBackend.FLASH_ATTENTION)}
    if device == "cpu":
        return flash | tiled
    return (
        flash
        | {"torch cuDNN": partial(torch_backend, SDPBackend.CUDNN_ATTENTION)}
        | {"triton": lambda q, k, v, c: triton_attention(q, k, v, is_causal=c)}
        | tiled
    )


def problem(n: int, width: int, device: str) -> list[torch.Tensor]:
    dtype = torch.bfloat16 if device == "cuda" else torch.float32
    heads = NUM_HEADS if device == "cuda" else 1
    batch = max(1, TOKENS // n) if device == "cuda" else 1
    return [torch.randn(batch, heads, n, width, device=device, dtype=dtype) for _ in range(3)]


def tera_operations(query: torch.Tensor, is_causal: bool) -> float:
    batch, heads, n, width = query.shape
    return 4 * batch * heads * n * n * width / (2 if is_causal else 1) / 1e12


def compare(sizes: list[int], device: str) -> None:
    attend = columns(device)
    rows = []
    for width, is_causal, n in itertools.product((64, 128), (False, True), sizes):
        print(f"d {width}, causal {is_causal}, n {n} ...", file=sys.stderr)
        inputs = problem(n, width, device)
        runs = {name: partial(f, *inputs, is_causal) for name, f in attend.items()}
        seconds = seconds_by_turns(runs, ROUNDS)
        times = {name: statistics.median(seconds[name]) for name in runs}
        speeds = {name: tera_operations(inputs[0], is_causal) / times[name] for name in runs}
        cells = [
            f"{times[name] * 1e3:.2f} ms, {speeds[name]:.3g} TFLOP/s, "
            f"{peak_bytes(run, device) / 1e6:.0f} MB"
            for name, run in runs.items()
        ]
        ours = "triton" if "triton" in times else "tiled"
        share = f"{times['torch flash'] / times[ours]:.0%}"
        rows.append([str(n), str(width), "yes" if is_causal else "no", *cells, share])
    name = "torch.bfloat16" if device == "cuda" else "torch.float32"
    print(
        f"# Attention kernels: forward\n\n{machine(device)}; torch {torch.__version__}, {name}.\n"
    )
    print_table(["n", "d", "causal", *attend, f"speed of {ours} / torch flash"], rows)


def sweep(n: int, width: int) -> None:
    """Every sensible setting of the kernel, fastest first."""
    from triton.runtime.errors import OutOfResources

    from companion.kernels.triton_kernel import launch

    inputs = problem(n, width, "cuda")
    rows = []
    for block_t, block_s, warps, stages in itertools.product(
        (64, 128), (32, 64, 128), (4, 8), (2, 3, 4)
    ):
        settings = {"BLOCK_S": block_s, "num_warps": warps, "num_stages": stages}
        run = partial(launch, *inputs, True, block_t, **settings)
        try:
            run()
        except OutOfResources:
            rows.append((float("inf"), [block_t, block_s, warps, stages, "does not fit"]))
            continue
        seconds = statistics.median(seconds_by_turns({"": run}, 3)[""])
        speed = tera_operations(inputs[0], True) / seconds
        rows.append((seconds, [block_t, block_s, warps, stages, f"{speed:.0f} TFLOP/s"]))
    print_table(
        ["block_size", "BLOCK_S", "num_warps", "num_stages", f"n {n}, d {width}, causal"],
        [[str(cell) for cell in row] for _, row in sorted(rows, key=lambda row: row[0])],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda")
    parser.add_argument("--sizes", type=int, nargs="+", default=[512, 1024, 2048, 4096, 8192])
    parser.add_argument("--sweep", action="store_true", help="time settings of the kernel")
    args = parser.parse_args()
    torch.manual_seed(0)
    if args.sweep:
        for width in (64, 128):
            sweep(8192, width)
    else:
        compare(args.sizes, args.device)


if __name__ == "__main__":
    main()
