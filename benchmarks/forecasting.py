"""Forecasting the Lorenz system from x alone: the Forecaster beside its rivals, over seeds.

    python benchmarks/forecasting.py > benchmarks/forecasting.md
    python benchmarks/forecasting.py --search MLP LSTM Forecaster

Every family sees the same series, and has the same number of settings to choose from. They are
chosen on a validation part, by valid prediction time, under a seed that is not among those reported
(ridge regressions are so cheap that they choose anew under every seed). Networks get the same
inputs (values and differences) and the same schedule; an MLP, whose steps are cheap, gets three
times as many.
"""

import argparse
import statistics
import sys
import time
from functools import partial

import torch
from measuring import machine, print_table
from torch import nn

from book.time_series import NVAR
from companion.data import batches, lorenz, series_windows, split_series
from companion.forecasting import forecast_loss, roll_out, valid_steps
from companion.models import Forecaster, ForecasterConfig
from companion.training import cosine_schedule, fit

DT, WINDOW, STEPS = 0.05, 20, 180
LYAPUNOV_TIME = 1 / 0.906  # Sprott 2003, "Chaos and Time-Series Analysis", appendix A
SEARCH_SEED = 900


class Rival(nn.Module):
    """Values and differences of a window -> the move to the next point, as for a Forecaster."""

    def __init__(self, body: nn.Module, step_scale: float):
        super().__init__()
        self.body, self.step_scale = body, step_scale

    def forward(self, window):
        differences = window.diff(dim=1, prepend=window[:, :1]) / self.step_scale
        moves = self.body(torch.cat([window, differences], dim=2))
        return window[:, -1:] + self.step_scale * moves[:, None]


class LastState(nn.Module):
    """An LSTM, read off where it ends."""

    def __init__(self, width: int):
        super().__init__()
        self.lstm, self.head = nn.LSTM(2, width, batch_first=True), nn.Linear(width, 1)

    def forward(self, points):
        return self.head(self.lstm(points)[0][:, -1])


def mlp(width: int, scale: float) -> nn.Module:
    body = nn.Sequential(
        nn.Flatten(),
        nn.Linear(2 * WINDOW, width),
        nn.GELU(),
        nn.Linear(width, width),
        nn.GELU(),
        nn.Linear(width, 1),
    )
    return Rival(body, scale)


def lstm(width: int, scale: float) -> nn.Module:
    return Rival(LastState(width), scale)


def forecaster(patch_size: int, scale: float) -> nn.Module:
    config = ForecasterConfig(
        features=1,
        window=WINDOW,
        horizon=1,
        patch_size=patch_size,
        step_scale=scale,
        d_model=32,
        num_layers=2,
        num_heads=4,
        d_ff=128,
    )
    return Forecaster(config)


# name -> how to build it, steps, and (size, learning rate)
NETWORKS = {
    "MLP": (mlp, 3000, [(128, 1e-3), (128, 3e-3), (256, 3e-3), (256, 1e-2)]),
    "LSTM": (lstm, 1000, [(48, 3e-3), (48, 1e-2), (64, 3e-3), (64, 1e-2)]),
    "Forecaster": (forecaster, 1000, [(5, 1e-3), (5, 2e-3), (5, 4e-3), (4, 2e-3)]),
}
CHOSEN = {"MLP": (256, 1e-2), "LSTM": (64, 3e-3), "Forecaster": (4, 2e-3)}  # by --search
RIDGES = (1e-8, 1e-7, 1e-6, 1e-5)
DELAYS = ((8, 2), (10, 2), (10, 1), (7, 3))  # number and spacing


class Problem:
    """One seed's series, and starts to forecast from: on validation, and of 64 other runs."""

    def __init__(self, seed: int):
        self.seed = seed
        split = split_series(
            lorenz(2280, seed=2 * seed)[0][:, :1], gap=WINDOW + 1, fractions=(0.7, 0.2, 0.1)
        )
        self.windows, self.targets = series_windows(split.train, WINDOW)
        self.scale = split.train.diff(dim=0).std().item()
        stretches, after = series_windows(split.validation, WINDOW, 130)
        self.validation = torch.cat([stretches, after], dim=1)[::6]
        runs = lorenz(WINDOW + STEPS, seed=2 * seed + 1, runs=64)[..., :1]
        self.test = split.standardised(runs)

    @torch.no_grad()
    def valid_time(self, forecast, runs) -> float:
        """The median over starts, in Lyapunov times."""
        truth = runs[:, WINDOW:]
        said = roll_out(forecast, runs[:, :WINDOW], truth.shape[1])
        return valid_steps(said, truth).median().item() * DT / LYAPUNOV_TIME

    @torch.no_grad()
    def one_step_error(self, forecast) -> float:
        """Root mean square over all windows of the test runs, in units of the series' spread."""
        stretches = self.test.unfold(1, WINDOW + 1, 5).transpose(2, 3).flatten(0, 1)
        error = forecast(stretches[:, :WINDOW]) - stretches[:, WINDOW:]
        return error.square().mean().sqrt().item()

    def trained(self, build, size, rate: float, steps: int):
        """A network after one run of training, and the seconds of a core that it took."""
        torch.manual_seed(self.seed)
        model, started = build(size, self.scale), time.process_time()
        fit(
            model,
            batches(self.windows.float(), self.targets.float(), batch_size=64, seed=self.seed),
            steps=steps,
            loss=forecast_loss(self.scale),
            learning_rate=partial(
                cosine_schedule, max_lr=rate, min_lr=0.0, warmup_steps=100, total_steps=steps
            ),
            progress=False,
        )
        return model.double(), time.process_time() - started

    def best_ridge(self, settings):
        """Of ridge regressions (delays, spacing, degree), the one of the longest valid time on
        validation, and the seconds of a core for all of them."""
        started = time.process_time()
        fitted = [
            NVAR(delays, spacing=spacing, degree=degree, ridge=ridge).fit(
                self.windows, self.targets
            )
            for delays, spacing, degree in settings
            for ridge in RIDGES
        ]
        best = max(fitted, key=lambda model: self.valid_time(model, self.validation))
        return best, time.process_time() - started


def search(names: list[str]) -> None:
    """Print the valid time on validation of every setting."""
    problem = Problem(SEARCH_SEED)
    for name in names:
        build, steps, settings = NETWORKS[name]
        for size, rate in settings:
            model, seconds = problem.trained(build, size, rate, steps)
            valid = problem.valid_time(model, problem.validation)
            print(f"| {name} | {size} | {rate:g} | {valid:.2f} | {seconds:.0f} |", flush=True)


def measured(seed: int) -> dict[str, tuple]:
    """Name -> (one-step error, valid time, seconds) on the test runs of one seed."""
    problem = Problem(seed)
    models = {
        "persistence": (lambda window: window[:, -1:], 0.0),
        "linear AR": problem.best_ridge([(WINDOW, 1, 1), (10, 1, 1), (5, 1, 1), (10, 2, 1)]),
        "NVAR": problem.best_ridge([(*delays, 3) for delays in DELAYS]),
    }
    for name, (build, steps, _) in NETWORKS.items():
        models[name] = problem.trained(build, *CHOSEN[name], steps)
    return {
        name: (problem.one_step_error(model), problem.valid_time(model, problem.test), seconds)
        for name, (model, seconds) in models.items()
    }


def main(seeds: list[int]) -> None:
    print("# Forecasting the Lorenz system from x alone\n")
    print(f"{machine('cpu')}; torch {torch.__version__};")
    print(f"series of 2280 points {DT} apart, windows of {WINDOW}; seeds", *seeds, end=";\n")
    print("64 starts each; error in units of the spread; valid time in Lyapunov times of")
    print(f"{LYAPUNOV_TIME:.2f}, the median over starts; settings:", CHOSEN)
    found = []
    for seed in seeds:
        found.append(measured(seed))
        print(seed, found[-1], file=sys.stderr, flush=True)
    print()
    rows = []
    for name in found[0]:
        errors, times, seconds = zip(*(result[name] for result in found), strict=True)
        rows.append(
            (
                name,
                f"{statistics.mean(errors):.1e}",
                f"{statistics.mean(times):.2f}",
                f"{min(times):.2f} to {max(times):.2f}",
                " ".join(f"{valid:.2f}" for valid in times),
                f"{statistics.mean(seconds):.1f}",
            )
        )
    header = ("forecaster", "one-step error", "valid time", "range", "each seed", "seconds")
    print_table(header, rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(301, 309)))
    parser.add_argument("--search", nargs="*", choices=NETWORKS, help="settings, on validation")
    options = parser.parse_args()
    search(options.search) if options.search is not None else main(options.seeds)
