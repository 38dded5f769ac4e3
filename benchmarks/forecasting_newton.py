"""The Forecaster that came closest to NVAR: Levenberg-Marquardt, through a roll-out of 20 steps.

    python benchmarks/forecasting_newton.py > benchmarks/forecasting_newton.md

Some hundred steps of AdamW, then Gauss-Newton steps with damping: first on the next point, then on
the point 20 steps ahead, with gradients through the roll-out. Each solves a least-squares problem
for a random part of the windows, by its kernel matrix: there are more weights than windows.

Source: Levenberg 1944; Marquardt 1963 (https://doi.org/10.1137/0111030).
"""

import argparse
import sys
import time

import torch
from forecasting import DELAYS, LYAPUNOV_TIME, WINDOW, Problem
from measuring import machine, print_table
from torch.func import functional_call, grad, vmap

from companion.data import series_windows
from companion.models import Forecaster, ForecasterConfig

AHEAD = 20
PART = 600  # windows in a step
RIDGE = 1e-8  # penalty on the squared weights
SIZES = {"patch_size": 5, "d_model": 16, "num_layers": 1, "num_heads": 2, "d_ff": 32}


def new_forecaster(problem: Problem, steps: int = 500) -> Forecaster:
    """Started with AdamW on the next point."""
    torch.manual_seed(problem.seed)
    shape = {"features": 1, "window": WINDOW, "horizon": 1, "step_scale": problem.scale}
    model = Forecaster(ForecasterConfig(**shape, **SIZES))
    windows, targets = problem.windows.float(), problem.targets.float()
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=0)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, steps, pct_start=0.1)
    for _ in range(steps):
        rows = torch.randint(0, len(windows), (64,))
        loss = ((model(windows[rows]) - targets[rows]) / problem.scale).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model.double().eval()


def levenberg_marquardt(model, windows, truth, ahead: int, scale: float, steps: int) -> None:
    """Fit the point `ahead` of windows (N, T, 1), truth (N,), in place."""
    names, shapes = zip(*((n, p.shape) for n, p in model.named_parameters()), strict=True)
    sizes = [shape.numel() for shape in shapes]

    def named(flat):
        parts = zip(names, flat.split(sizes), shapes, strict=True)
        return {name: part.view(shape) for name, part, shape in parts}

    def said(parameters, window):
        """(T, 1) -> the point ahead, in units of the scale."""
        for _ in range(ahead):
            point = functional_call(model, parameters, (window[None],))[0]
            window = torch.cat([window[1:], point])
        return window[-1, 0] / scale

    gradients = vmap(grad(said), in_dims=(None, 0), chunk_size=200)
    values = vmap(said, in_dims=(None, 0))
    flat = torch.cat([p.detach().flatten() for p in model.parameters()])
    damping = 1e-3
    for _ in range(steps):
        rows = torch.randperm(len(windows))[:PART]
        of_rows = gradients(named(flat), windows[rows])
        jacobian = torch.cat([of_rows[name].flatten(1) for name in names], dim=1)
        wanted = truth[rows] / scale
        residual = values(named(flat), windows[rows]) - wanted
        loss = residual.square().mean() + RIDGE * flat.square().sum()
        kernel = jacobian @ jacobian.T
        for _ in range(6):  # more damping until a step helps
            total = damping + RIDGE
            shrink = flat * (RIDGE / total)
            regular = kernel + PART * total * torch.eye(PART, dtype=kernel.dtype)
            dual = torch.linalg.solve(regular, residual - jacobian @ shrink)
            candidate = flat - jacobian.T @ dual - shrink
            error = values(named(candidate), windows[rows]) - wanted
            if error.square().mean() + RIDGE * candidate.square().sum() < loss:
                flat, damping = candidate, max(damping / 3, 1e-12)
                break
            damping *= 4
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(named(flat)[name])


def measured(seed: int) -> tuple[float, ...]:
    """Valid time on the test runs: AdamW's start, after both phases, of NVAR; and seconds."""
    problem = Problem(seed)
    started = time.process_time()
    model = new_forecaster(problem)
    first = problem.valid_time(model, problem.test)
    windows, targets = problem.windows, problem.targets[:, 0, 0]
    levenberg_marquardt(model, windows, targets, 1, problem.scale, 20)
    second = problem.valid_time(model, problem.test)
    series = torch.cat([problem.windows[0], problem.targets[:, 0]])
    windows, targets = series_windows(series, WINDOW, AHEAD)
    levenberg_marquardt(model, windows, targets[:, -1, 0], AHEAD, problem.scale, 20)
    third, seconds = problem.valid_time(model, problem.test), time.process_time() - started
    nvar, _ = problem.best_ridge([(*delays, 3) for delays in DELAYS])
    return first, second, third, problem.valid_time(nvar, problem.test), seconds


def main(seeds: list[int]) -> None:
    print("# A Forecaster by Levenberg-Marquardt, beside NVAR, on x alone\n")
    print(f"{machine('cpu')}; torch {torch.__version__};")
    print("valid time in Lyapunov times of", f"{LYAPUNOV_TIME:.2f}: the median over 64 starts.\n")
    header = ("seed", "AdamW", "then next point", "then 20 ahead", "NVAR", "seconds")
    rows = []
    for seed in seeds:
        rows.append((str(seed), *(f"{number:.2f}" for number in measured(seed))))
        print(rows[-1], file=sys.stderr, flush=True)
    means = (sum(map(float, column)) / len(seeds) for column in list(zip(*rows, strict=True))[1:])
    print_table(header, [*rows, ("mean", *(f"{mean:.2f}" for mean in means))])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(301, 309)))
    main(parser.parse_args().seeds)
