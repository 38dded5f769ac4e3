"""A regression on products of delayed values, the strongest of the chapter's baselines."""

from functools import cache
from itertools import combinations_with_replacement

import torch
from torch import Tensor

from companion.validation import (
    require_features,
    require_finite,
    require_positive,
    require_tensor,
)


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
