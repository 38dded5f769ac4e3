"""Right options of the quiz on time series, computed."""

import math

import torch
from torch import nn

from companion.data import lorenz, lorenz_path, split_series
from companion.models import Forecaster, ForecasterConfig


def smaller_step() -> str:
    starts = lorenz(1, seed=7, runs=32)[:, 0]

    def end(method: str, substeps: int) -> torch.Tensor:
        return lorenz_path(starts, 2, dt=0.5, method=method, substeps=substeps)[:, 1]

    exact = end("rk4", 500)
    coarse, fine = ((end("euler", n) - exact).norm(dim=-1).median() for n in (50, 500))
    left = 4 * (fine / coarse).item()
    options = {4: "4 still", 0.4: "0.4", 0.04: "0.04", 0.0004: "0.0004"}
    return options[min(options, key=lambda option: abs(math.log(option / left)))]


def one_feature() -> str:
    series = torch.randn(31, 1)
    with torch.no_grad():
        normed = nn.LayerNorm(1)(series)
    if torch.equal(normed, torch.zeros(31, 1)):
        return "Zeros"
    return "The sign" if torch.allclose(normed, series.sign()) else "The series, with"


def better_thermometer() -> str:
    longer = math.log(1e-3 / 1e-6) / 0.906
    return f"About {longer:.1f} units"


def leak() -> str:
    series = torch.randn(61, 1).cumsum(0)
    other = series.clone()
    other[40:] += 100  # another future
    size = len(split_series(series, gap=5).train)
    ours = [split_series(x, gap=5).train for x in (series, other)]
    whole = [((x - x.mean()) / x.std())[:size] for x in (series, other)]
    moved = [not torch.equal(*trains) for trains in (ours, whole)]
    assert moved.count(True) == 1
    return ["Standardising the test part", "Standardising the whole"][moved.index(True)]


def patches() -> str:
    sizes = {"d_model": 8, "num_layers": 1, "num_heads": 2, "d_ff": 8}
    shape = {"features": 1, "window": 20, "horizon": 1, "patch_size": 4}
    _, (weights,) = Forecaster(ForecasterConfig(**shape, **sizes))(
        torch.randn(1, 20, 1), need_weights=True
    )
    return str((weights[0, 0] > 0).sum().item())


def own_points() -> str:
    """A window of marks, True where a point was measured, slid on 50 times."""
    measured, without = [True] * 20, 0
    for _ in range(50):
        without += not any(measured)
        measured = [*measured[1:], False]
    return str(without)


def look_up() -> str:
    """What the mean of five independent values leaves of one of them."""
    values = torch.randn(100_000, 5, generator=torch.Generator().manual_seed(0))
    left = (values[:, 0] - values.mean(1)).square().mean().item()
    options = {1: "About 1", 0: "About 0: five", 0.8: "About 0.8", 0.2: "About 0.2"}
    return options[min(options, key=lambda option: abs(option - left))]
