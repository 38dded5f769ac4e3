"""A forecast as a loop: the window slides over what the forecaster itself has said."""

from collections.abc import Mapping

import torch

from book.page.live import LiveFigure, table
from companion.forecasting import Forecast, roll_out, valid_steps

DIGITS = 4  # decimals of the numbers that travel
RATE = 0.906  # largest Lyapunov exponent: Sprott 2003, "Chaos and Time-Series Analysis", appendix A
THRESHOLD = 0.4


@torch.no_grad()
def loop_figure(
    forecasters: Mapping[str, Forecast], runs: torch.Tensor, window: int, *, dt: float = 0.05
) -> LiveFigure:
    """Predict, feed back, slide, again: one series, step by step, and the error on the way.

    Args:
        forecasters: by their names; each takes (B, window, 1) to (B, 1, 1).
        runs: (N, T, 1), standardised: N starts of `window` points, and the truth after them.
        window: how many points a forecaster reads.
        dt: time between two points.

    Raises:
        ValueError: the runs are not of one feature, or no longer than two windows.
    """
    if runs.dim() != 3 or runs.shape[2] != 1 or runs.shape[1] <= 2 * window:
        raise ValueError(f"runs need to be (N, more than {2 * window}, 1), got {tuple(runs.shape)}")
    truth = runs[:, window:]
    said = {
        name: roll_out(forecast, runs[:, :window], truth.shape[1])
        for name, forecast in forecasters.items()
    }
    good = {name: valid_steps(points, truth).tolist() for name, points in said.items()}
    data = {
        "window": window,
        "runs": _rounded(runs[..., 0]),
        "said": {name: _rounded(points[..., 0]) for name, points in said.items()},
        "good": good,
        "dt": dt,
        "rate": RATE,
        "threshold": THRESHOLD,
    }
    rows = [(name, *(steps * dt * RATE for steps in times)) for name, times in good.items()]
    starts = [f"start {number}" for number in range(1, len(runs) + 1)]
    fallback = table("Stays right for, in Lyapunov times", ["forecaster", *starts], rows)
    value = {"step": 5, "start": 0, "name": next(iter(forecasters))}
    return LiveFigure(__file__, data, value, fallback)


def _rounded(tensor: torch.Tensor) -> list:
    return (tensor.double() * 10**DIGITS).round().div(10**DIGITS).tolist()
