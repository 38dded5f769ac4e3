"""Time and memory of one attention layer as the sequence grows, beside its peers.

    pip install --no-deps -r benchmarks/requirements.txt
    python benchmarks/attention.py > benchmarks/attention.md

Every layer is self-attention without a mask over one sequence. Times are medians over rounds in
which the layers take turns, so that a noisy machine is noisy for all. Memory is the most that was
allocated at once beyond input and parameters: from the profiler's record of every allocation on a
CPU, from the allocator's own counter on a GPU. Forward runs without gradients, in evaluation mode.
"""

import argparse
import math
import os
import statistics
import sys
from functools import partial

import torch
import torch.nn.functional as F
from measuring import machine, peak_bytes, print_table, seconds_by_turns
from torch import nn
from x_transformers.x_transformers import Attention as XAttention

from companion.nn import MultiHeadAttention

D_MODEL, NUM_HEADS = 256, 4
ROUNDS = 9
SCORE_MATRICES = 6  # of (H, n, n), held at once by the explicit path forward + backward


class TorchFunction(nn.Module):
    """What the default path is held against: the same four linear maps around torch's function."""

    def __init__(self) -> None:
        super().__init__()
        self.q_proj = nn.Linear(D_MODEL, D_MODEL)
        self.k_proj = nn.Linear(D_MODEL, D_MODEL)
        self.v_proj = nn.Linear(D_MODEL, D_MODEL)
        self.out_proj = nn.Linear(D_MODEL, D_MODEL)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = (
            project(x).unflatten(2, (NUM_HEADS, -1)).transpose(1, 2)
            for project in (self.q_proj, self.k_proj, self.v_proj)
        )
        heads = F.scaled_dot_product_attention(q, k, v)
        return self.out_proj(heads.transpose(1, 2).flatten(2))


def layers(device: str, dtype: torch.dtype):
    """Column name -> module and how to call it."""
    ours = MultiHeadAttention(D_MODEL, NUM_HEADS)
    theirs = nn.MultiheadAttention(D_MODEL, NUM_HEADS, batch_first=True)
    function = TorchFunction()
    x_attention = XAttention(D_MODEL, heads=NUM_HEADS, dim_head=D_MODEL // NUM_HEADS, flash=True)
    for module in (ours, theirs, function, x_attention):
        module.to(device, dtype)
    return {
        "explicit": (ours, lambda x: ours(x, need_weights=True)[0]),
        "default": (ours, lambda x: ours(x)[0]),
        "torch's function": (function, function),
        "nn.MultiheadAttention": (theirs, lambda x: theirs(x, x, x, need_weights=False)[0]),
        "x-transformers": (x_attention, x_attention),
    }


def forward(attend, x: torch.Tensor) -> None:
    with torch.no_grad():
        attend(x)


def forward_backward(attend, x: torch.Tensor) -> None:
    attend(x).backward(x.detach())


PASSES = {"forward": forward, "forward + backward": forward_backward}


def peak(run, module: nn.Module, attend, x: torch.Tensor) -> int:
    """The most bytes that a pass holds at once beyond input and parameters."""
    module.zero_grad()
    x.grad = None
    return peak_bytes(partial(run, attend, x), x.device.type)


def exponent(sizes: list[int], values: list[float]) -> float:
    """Slope of the straight line through log(values) over log(sizes)."""
    x = [math.log(size) for size in sizes]
    y = [math.log(value) for value in values]
    return statistics.linear_regression(x, y).slope


def fits_explicitly(n: int, x: torch.Tensor) -> bool:
    """Whether the explicit path's (H, n, n) matrices leave half of the device's memory free."""
    if x.is_cuda:
        memory = torch.cuda.get_device_properties(0).total_memory
    else:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return SCORE_MATRICES * NUM_HEADS * n**2 * x.element_size() < memory / 2


def measure(columns, sizes: list[int], make_input):
    """Rows of the table, default over torch's function in time, explicit peaks by pass."""
    rows, ratios, explicit_peaks = [], [], {}
    for n in sizes:
        x = make_input(n)
        fits = fits_explicitly(n, x)
        fitting = {name: column for name, column in columns.items() if fits or name != "explicit"}
        for pass_name, run in PASSES.items():
            print(f"n = {n}, {pass_name} ...", file=sys.stderr)
            for module, _ in columns.values():
                module.train(run is forward_backward)
            peaks = {name: peak(run, *column, x) for name, column in fitting.items()}
            runs = {name: partial(run, attend, x) for name, (_, attend) in fitting.items()}
            seconds = seconds_by_turns(runs, ROUNDS)
            times = {name: statistics.median(seconds[name]) for name in runs}
            cells = [
                f"{times[name] * 1e3:.1f} ms, {peaks[name] / 1e6:.1f} MB"
                if name in fitting
                else "does not fit"
                for name in columns
            ]
            ratios.append(times["default"] / times["torch's function"])
            rows.append([str(n), pass_name, *cells, f"{ratios[-1]:.2f}"])
            if fits:
                explicit_peaks.setdefault(pass_name, []).append(peaks["explicit"])
    return rows, ratios, explicit_peaks


def default_path_exponents(ours: nn.Module, sizes: list[int], make_input) -> dict[str, list[float]]:
    """Kind of mask -> exponents of the default path's peak memory, one for each pass."""
    masks = {
        "default, no mask": lambda x: {},
        "default, causal": lambda x: {"is_causal": True},
        "default, key padding": lambda x: {
            "mask": (torch.arange(x.shape[1], device=x.device) < x.shape[1] * 7 // 8)[
                None, None, None
            ]
        },
    }
    slopes = {}
    for name, arguments in masks.items():
        slopes[name] = []
        for run in PASSES.values():
            peaks = [
                peak(run, ours, lambda x: ours(x, **arguments(x))[0], make_input(n))  # noqa: B023
                for n in sizes
            ]
            slopes[name].append(exponent(sizes, peaks))
    return slopes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--sizes", type=int, nargs="+", default=[256, 512, 1024, 2048, 4096, 8192])
    args = parser.parse_args()
    dtype = torch.float16 if args.device == "cuda" else torch.float32

    def make_input(n: int) -> torch.Tensor:
        return torch.randn(1, n, D_MODEL, device=args.device, dtype=dtype, requires_grad=True)

    torch.manual_seed(0)
    columns = layers(args.device, dtype)
    rows, ratios, explicit_peaks = measure(columns, args.sizes, make_input)
    print("# Attention: time and memory\n")
    print(
        f"{machine(args.device)}; torch {torch.__version__}, {str(dtype).removeprefix('torch.')};"
    )
    print(
        f"one sequence, d_model {D_MODEL}, {NUM_HEADS} heads, no mask; median of {ROUNDS} rounds.\n"
    )
    header = ["n", "pass", *columns, "default / torch's function (time)"]
    print_table(header, rows)
    print(f"\nDefault path over torch's function, time: {min(ratios):.2f} to {max(ratios):.2f}.\n")

    print("Peak memory grows as n to the power of\n")
    slopes = {
        "explicit": [exponent(args.sizes[: len(peaks)], peaks) for peaks in explicit_peaks.values()]
    }
    slopes |= default_path_exponents(columns["default"][0], args.sizes, make_input)
    print_table(
        ["path", *PASSES],
        [[name, *(f"{slope:.2f}" for slope in pair)] for name, pair in slopes.items()],
    )


if __name__ == "__main__":
    main()
