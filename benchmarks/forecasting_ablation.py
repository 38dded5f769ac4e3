"""What the attention of a Forecaster is for: in its place a plain average, or nothing.

    python benchmarks/forecasting_ablation.py > benchmarks/forecasting_ablation.md

Each copy is trained from its own start exactly as the Forecaster is, and forecasts the same runs.
"""

import argparse
import statistics
import sys

import torch
from forecasting import CHOSEN, LYAPUNOV_TIME, NETWORKS, Problem, forecaster
from measuring import machine, print_table
from torch import nn

from companion.nn import MultiHeadAttention


class Average(nn.Module):
    """Every token takes the mean of all, through the layer's own value and output matrices."""

    def __init__(self, attention: MultiHeadAttention):
        super().__init__()
        self.value, self.out = attention.v_proj, attention.out_proj

    def forward(self, x, *args, **options):
        mean = self.value(x).mean(dim=1, keepdim=True)
        return self.out(mean).expand_as(x), None


class Nothing(nn.Module):
    """Adds zero: tokens meet in the linear head only."""

    def __init__(self, attention: MultiHeadAttention):
        super().__init__()

    def forward(self, x, *args, **options):
        return torch.zeros_like(x), None


REPLACEMENTS = {"attention": lambda attention: attention, "average": Average, "nothing": Nothing}


def build(replacement, patch_size: int, scale: float) -> nn.Module:
    """A Forecaster whose blocks have something else in place of their attention."""
    model = forecaster(patch_size, scale)
    for block in model.blocks:
        block.self_attention = replacement(block.self_attention)
    return model


def main(seeds: list[int]) -> None:
    _, steps, _ = NETWORKS["Forecaster"]
    size, rate = CHOSEN["Forecaster"]
    found = {name: [] for name in REPLACEMENTS}
    counts = {}
    for seed in seeds:
        problem = Problem(seed)
        for name, replacement in REPLACEMENTS.items():

            def make(size, scale, replacement=replacement):
                return build(replacement, size, scale)

            model, _ = problem.trained(make, size, rate, steps)
            good = problem.valid_time(model, problem.test)
            found[name].append((good, problem.one_step_error(model)))
            counts[name] = sum(parameter.numel() for parameter in model.parameters())
            print(seed, name, *found[name][-1], file=sys.stderr, flush=True)
    print("# A Forecaster without its attention\n")
    print(f"{machine('cpu')}; torch {torch.__version__};")
    print("x alone, as in `forecasting.md`; valid time in Lyapunov times of")
    print(f"{LYAPUNOV_TIME:.2f}, the median over 64 starts; seeds", *seeds, end=".\n\n")
    rows = []
    for name, pairs in found.items():
        times, errors = zip(*pairs, strict=True)
        each = " ".join(f"{time:.2f}" for time in times)
        mean, error = statistics.mean(times), statistics.mean(errors)
        rows.append((name, f"{counts[name]:,}", f"{mean:.2f}", each, f"{error:.4f}"))
    header = ("in place of attention", "parameters", "valid time", "each seed", "one-step error")
    print_table(header, rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(301, 309)))
    torch.set_num_threads(1)
    main(parser.parse_args().seeds)
