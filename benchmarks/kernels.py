"""Attention by tiles and by the Triton kernels, beside torch's flash and cuDNN backends.

    python benchmarks/kernels.py > benchmarks/kernels.md             # on a GPU
    python benchmarks/kernels.py --sweep forward                     # or grad_query, grad_key_value
    python benchmarks/kernels.py --device cpu --sizes 256 1024 4096  # the tiles alone

Forward, and forward and backward together, in bfloat16 (float32 on a CPU); 16,384 tokens in all, 16
heads. Times are medians over rounds in which the columns take turns, and a ratio of speeds is the
median of the ratios within the rounds. TFLOP/s count the two products of every pair of query and
key, half of the pairs under a causal mask, and 2.5 times as many backward (Dao 2023, section 4.1),
whether or not a kernel computes something twice.
"""

import argparse
import itertools
import statistics
import sys
from functools import partial

import torch
import torch.nn.functional as F
from measuring import machine, peak_bytes, print_table, ratio, seconds_by_turns
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


def tera_operations(query: torch.Tensor, is_causal: bool, products: float) -> float:
    """Of so many products of every query with every key that it sees."""
    batch, heads, n, width = query.shape
    return products * 2 * batch * heads * n * n * width / (2 if is_causal else 1) / 1e12


def forward_and_backward(attend, inputs, is_causal, upstream):
    return torch.autograd.grad(attend(*inputs, is_causal), inputs, upstream)


def compare(sizes: list[int], device: str) -> None:
    attend = columns(device)
    ours = "triton" if "triton" in attend else "tiled"
    tables = {"forward": [], "forward and backward": []}
    for width, is_causal, n in itertools.product((64, 128), (False, True), sizes):
        print(f"d {width}, causal {is_causal}, n {n} ...", file=sys.stderr)
        inputs = problem(n, width, device)
        leaves = [x.clone().requires_grad_() for x in inputs]
        upstream = torch.randn_like(inputs[0])
        for (name, rows), products in zip(tables.items(), (2, 2 + 5), strict=True):
            runs = {
                column: partial(f, *inputs, is_causal)
                if name == "forward"
                else partial(forward_and_backward, f, leaves, is_causal, upstream)
                for column, f in attend.items()
            }
            seconds = seconds_by_turns(runs, ROUNDS)
            times = {column: statistics.median(seconds[column]) for column in runs}
            work = tera_operations(inputs[0], is_causal, products)
            cells = [
                f"{times[column] * 1e3:.2f} ms, {work / times[column]:.3g} TFLOP/s, "
                f"{peak_bytes(run, device) / 1e6:.0f} MB"
                for column, run in runs.items()
            ]
            relative = ratio(seconds["torch flash"], seconds[ours])
            rows.append(
                [str(n), str(width), "yes" if is_causal else "no", *cells, f"{relative:.0%}"]
            )
    dtype = "torch.bfloat16" if device == "cuda" else "torch.float32"
    print(f"# Attention kernels\n\n{machine(device)}; torch {torch.__version__}, {dtype}.")
    for name, rows in tables.items():
        print(f"\n## {name.capitalize()}\n")
        print_table(
            ["n", "d", "causal", *attend, f"speed of {ours} / torch flash"],
            rows,
        )


def sweep(kernel: str, n: int, width: int) -> None:
    """Every sensible setting of a kernel, fastest first."""
    from triton.runtime.errors import OutOfResources

    from companion.kernels.triton_backward import grad_key_value, grad_query
    from companion.kernels.triton_forward import forward

    query, key, value = problem(n, width, "cuda")
    output, log_sum_exp = forward(query, key, value, True)
    upstream = torch.randn_like(output)
    _, delta = grad_query(query, key, value, output, log_sum_exp, upstream, True)
    run, products = {
        "forward": (partial(forward, query, key, value, True), 2),
        "grad_query": (
            partial(grad_query, query, key, value, output, log_sum_exp, upstream, True),
            3,
        ),
        "grad_key_value": (
            partial(grad_key_value, query, key, value, log_sum_exp, upstream, delta, True),
            4,
        ),
    }[kernel]
    work = tera_operations(query, True, products)
    rows = []
    for numbers in itertools.product((32, 64, 128), (32, 64, 128), (4, 8), (2, 3, 4)):
        names = "BLOCK_T", "BLOCK_S", "num_warps", "num_stages"
        attempt = partial(run, **dict(zip(names, numbers, strict=True)))
        try:
            attempt()
        except OutOfResources:
            rows.append((float("inf"), [*numbers, "does not fit"]))
            continue
        seconds = statistics.median(seconds_by_turns({"": attempt}, 3)[""])
        rows.append((seconds, [*numbers, f"{work / seconds:.0f} TFLOP/s"]))
    print(f"\n{kernel}\n")
    print_table(
        [*names, f"n {n}, d {width}, causal"],
        [[str(cell) for cell in row] for _, row in sorted(rows, key=lambda row: row[0])],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda")
    parser.add_argument("--sizes", type=int, nargs="+", default=[512, 1024, 2048, 4096, 8192])
    parser.add_argument(
        "--sweep",
        choices=("forward", "grad_query", "grad_key_value"),
        help="time settings of one kernel",
    )
    args = parser.parse_args()
    torch.manual_seed(0)
    if args.sweep:
        for width in (64, 128):
            sweep(args.sweep, 8192, width)
    else:
        compare(args.sizes, args.device)


if __name__ == "__main__":
    main()
