"""What is done with a forecaster: roll it out, say for how long it was right, and a strong rival.

A forecaster is anything that takes a window (B, T, features) to the next points (B, horizon,
features).
"""

from collections.abc import Callable
from functools import cache
from itertools import combinations_with_replacement

import torch
from torch import Tensor

from companion.validation import (
    require_features,
    require_finite,
    require_positive,
    require_positive_number,
    require_tensor,
)

__all__ = ["NVAR", "forecast_loss", "roll_out", "valid_steps"]

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
    said = []
    while sum(points.shape[1] for points in said) < steps:
        points = forecaster(window).clamp(-1000, 1000)
        if points.shape[1] == 0:
            raise ValueError(
                "the forecaster must return (B, horizon, features) with horizon at least 1, "
                f"got {tuple(points.shape)}"
            )
        said.append(points)
        window = torch.cat([window, points], dim=1)[:, -window.shape[1] :]
    return torch.cat(said, dim=1)[:, :steps]


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
        ValueError: the shapes differ, or are others, or the threshold is not positive.
        TypeError: one of them is not a tensor.
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


class NVAR:
    """Ridge regression of the next step on products of delayed values.

    Also called a next generation reservoir computer. With degree 1 it is a linear autoregression.
    It learns from all windows at once, in float64.

    Args:
        delays: how many past points enter, the last included.
        spacing: points from one of them to the next.
        degree: largest number of factors in a product.
        ridge: penalty on the squared weights, for each window.

    Raises:
        ValueError: a number is too small; in use: a window or the targets do not fit.
        TypeError: a number is of another type.

    Source: Gauthier et al. 2021 (https://arxiv.org/abs/2106.07688); there the products are all of
    one degree.
    """

    def __init__(self, delays: int, *, spacing: int = 1, degree: int = 3, ridge: float = 1e-8):
        require_positive(delays=delays, spacing=spacing, degree=degree)
        require_finite(ridge=ridge)
        if ridge < 0:
            raise ValueError(f"ridge must be at least 0, got {ridge}")
        self.delays, self.spacing, self.degree, self.ridge = delays, spacing, degree, ridge
        self.weight = None  # (products, features)

    def fit(self, windows: Tensor, targets: Tensor) -> "NVAR":
        """Learn from windows (N, T, features) and the point after each, (N, 1, features)."""
        require_tensor("windows", windows)
        require_tensor("targets", targets)
        expected = (len(windows), 1, windows.shape[-1])
        if targets.shape != expected:
            raise ValueError(
                f"targets must be the point after each window, {expected}, "
                f"got {tuple(targets.shape)}"
            )
        products, moves = self._products(windows), (targets - windows[:, -1:])[:, 0].double()
        gram = products.T @ products
        gram.diagonal().add_(self.ridge * len(windows))
        self.weight = torch.linalg.solve(gram, products.T @ moves)
        return self

    def __call__(self, window: Tensor) -> Tensor:
        """(B, T, features) -> (B, 1, features)."""
        if self.weight is None:
            raise ValueError("this NVAR has learned nothing yet; call fit(windows, targets) first")
        require_features("window", window, "(B, T, features)", self.weight.shape[1])
        return window[:, -1:] + (self._products(window) @ self.weight)[:, None].to(window.dtype)

    def _products(self, window: Tensor) -> Tensor:
        """(B, T, features) -> (B, products): 1, the delayed values, and their products."""
        reach = (self.delays - 1) * self.spacing
        if window.shape[1] <= reach:
            raise ValueError(
                f"{self.delays} delays of {self.spacing} reach back {reach + 1} points, but the "
                f"window has {window.shape[1]}"
            )
        delayed = window[:, window.shape[1] - 1 - reach :: self.spacing].flatten(1).double()
        columns = [delayed.new_ones(len(delayed), 1), delayed]
        for degree in range(2, self.degree + 1):
            index = _factors(delayed.shape[1], degree).to(delayed.device)
            columns.append(delayed[:, index].prod(dim=2))
        return torch.cat(columns, dim=1)


@cache
def _factors(size: int, degree: int) -> Tensor:
    """Which of `size` values enter each of their products, (products, degree)."""
    return torch.tensor(list(combinations_with_replacement(range(size), degree)))
