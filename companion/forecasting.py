"""What is done with a forecaster: roll it out, and say for how long it was right.

A forecaster is anything that takes a window (B, T, features) to the next points (B, horizon,
features).
"""

from collections.abc import Callable

import torch
from torch import Tensor

from companion.validation import require_positive, require_positive_number, require_tensor

__all__ = ["forecast_loss", "roll_out", "valid_steps"]

Forecast = Callable[[Tensor], Tensor]


def forecast_loss(scale: float) -> Callable[..., tuple[Tensor, Tensor]]:
    """For `fit`: a batch is windows (B, T, features) and what follows, (B, steps, features).

    The forecaster is rolled out over all steps, and gradients flow back through what it is fed. The
    loss is the mean squared error in units of `scale`; with the typical step of the series as
    scale, repeating the last point loses about 1 at the first step.

    Raises:
        ValueError: the scale is not positive.
    """
    require_positive_number(scale=scale)

    def loss(model, batch):
        windows, targets = batch
        errors = (roll_out(model, windows, targets.shape[1]) - targets) / scale
        return errors.square().sum(), torch.full((), errors.numel(), device=errors.device)

    return loss


def roll_out(forecaster: Forecast, window: Tensor, steps: int) -> Tensor:
    """Let a forecaster go on from a window, (B, T, features), by feeding it what it says.

    Returns:
        (B, steps, features): the forecast. What leaves [-1000, 1000] stays at its border, so that a
        forecast that explodes stays finite.

    Raises:
        ValueError: less than one step is asked for, or the forecaster says no point.
    """
    require_positive(steps=steps)
    parts = []
    while sum(points.shape[1] for points in parts) < steps:
        points = forecaster(window).clamp(-1000, 1000)
        if points.shape[1] == 0:
            raise ValueError(
                "the forecaster must return (B, horizon, features) with horizon at least 1, "
                f"got {tuple(points.shape)}"
            )
        parts.append(points)
        window = torch.cat([window, points], dim=1)[:, -window.shape[1] :]
    return torch.cat(parts, dim=1)[:, :steps]


def valid_steps(forecast: Tensor, truth: Tensor, *, threshold: float = 0.4) -> Tensor:
    """How many points of each forecast are good, before the first that is not.

    A point is good while its root mean square error over the features is at most `threshold`, in
    units of the series' spread: both must be standardised.

    Args:
        forecast, truth: (B, steps, features).
        threshold: of the error.

    Returns:
        (B,) whole numbers, from 0 to steps. Times the time between two points, and divided by the
        Lyapunov time, this is the valid prediction time.

    Raises:
        ValueError, TypeError: the shapes differ or are others, or the threshold is not positive.
    """
    require_tensor("forecast", forecast)
    require_tensor("truth", truth)
    require_positive_number(threshold=threshold)
    if forecast.shape != truth.shape or forecast.dim() != 3:
        raise ValueError(
            "forecast and truth must have the same shape (B, steps, features), "
            f"got {tuple(forecast.shape)} and {tuple(truth.shape)}"
        )
    good = (forecast - truth).square().mean(-1).sqrt() <= threshold  # (B, steps)
    return good.long().cumprod(dim=1).sum(dim=1)
