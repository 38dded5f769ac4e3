"""The Lorenz system: three numbers whose future is determined but cannot be predicted for long.

Time has no unit here; a trajectory turns once around a lobe in about 0.75, and a small error grows
by a factor of e in about 1.1 (the Lyapunov time). Everything is float64.
"""

import numpy as np
import torch
from numpy import ndarray
from torch import Tensor

from companion.data.sampling import seeded
from companion.validation import (
    require_choice,
    require_not_negative,
    require_positive,
    require_positive_number,
)

METHODS = ("rk4", "euler")


def lorenz_path(
    start: Tensor, length: int, *, dt: float = 0.05, method: str = "rk4", substeps: int = 5
) -> Tensor:
    """Trajectories from given starts, (..., 3) -> (..., length, 3); the start is the first point.

    Args:
        start: one state (3,), or any number of them, which are followed together.
        length: number of points.
        dt: time between two points.
        method: "rk4", the classical Runge-Kutta method of order 4, or "euler", of order 1.
        substeps: steps of the method between two points, each of dt / substeps.

    Raises:
        ValueError: a number is not positive, the start does not have three entries, or the method
            is unknown.

    Source: Lorenz 1963, equations 25 to 27
    (https://doi.org/10.1175/1520-0469(1963)020%3C0130:DNF%3E2.0.CO;2).
    """
    if start.shape[-1:] != (3,):
        raise ValueError(f"start must have shape (..., 3): x, y, z; got {tuple(start.shape)}")
    require_positive(length=length, substeps=substeps)
    require_positive_number(dt=dt)
    require_choice("method", method, METHODS)
    take = _runge_kutta_step if method == "rk4" else _euler_step
    state = start.double().movedim(-1, 0).numpy()  # (3, ...): NumPy is faster on a few numbers
    points = [state]
    with np.errstate(over="ignore", invalid="ignore"):  # a path that diverges ends in NaN
        while len(points) < length:
            for _ in range(substeps):
                state = take(state, dt / substeps)
            points.append(state)
    return torch.from_numpy(np.stack(points)).movedim(1, -1).movedim(0, -2).contiguous()


def lorenz(
    length: int, *, seed: int, runs: int = 1, dt: float = 0.05, warm_up: int = 400
) -> Tensor:
    """Independent runs on the attractor, (runs, length, 3), by `lorenz_path`.

    Args:
        length: points of each run.
        seed: decides the starts.
        runs: number of runs.
        dt: time between two points.
        warm_up: points discarded at the start, so that every run has reached the attractor.

    Raises:
        ValueError: a number is not positive (warm_up may be 0), or dt is so large that the method
            fails.
        TypeError: the seed or a number of points is not whole.
    """
    require_positive(length=length, runs=runs)
    require_not_negative(warm_up=warm_up)
    generator = torch.Generator().manual_seed(seeded("lorenz", seed).getrandbits(63))
    starts = torch.randn(runs, 3, generator=generator, dtype=torch.float64) * 5
    starts = starts + torch.tensor([0.0, 0.0, 25.0])
    series = lorenz_path(starts, warm_up + length, dt=dt)[:, warm_up:]
    if not series.isfinite().all():
        raise ValueError(f"points dt = {dt} apart are too far for the method: a run diverged")
    return series


def _derivative(state: ndarray) -> ndarray:
    """dx/dt, dy/dt and dz/dt, with the usual sigma = 10, rho = 28 and beta = 8 / 3."""
    x, y, z = state
    return np.array([10.0 * (y - x), x * (28.0 - z) - y, x * y - 8 / 3 * z])


def _euler_step(state: ndarray, h: float) -> ndarray:
    return state + h * _derivative(state)


def _runge_kutta_step(state: ndarray, h: float) -> ndarray:
    k1 = _derivative(state)
    k2 = _derivative(state + h / 2 * k1)
    k3 = _derivative(state + h / 2 * k2)
    k4 = _derivative(state + h * k3)
    return state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
