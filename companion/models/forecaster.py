"""Forecaster: a window of a time series, cut into patches, is a sequence for a stack of blocks.

Shapes: B batch, T points of a window, H heads, P patches of a window.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, overload

import torch
from torch import Tensor, nn

from companion.models.config import StackConfig, WithWeights, built_from
from companion.nn import EncoderBlock, LearnedPositions
from companion.nn.blocks import make_dropout, run_blocks
from companion.validation import require_features, require_positive, require_positive_number


@dataclass(frozen=True, kw_only=True)
class ForecasterConfig(StackConfig):
    """Configuration of a `Forecaster`: the fields of `StackConfig`, with other defaults, and these.

    Args:
        features: numbers at each point of the series.
        window: points that the model sees.
        horizon: points that it forecasts.
        patch_size: points that make one token; divides window.
        step_scale: how far the series typically moves from one point to the next, in its own units.
            Differences go in divided by it, and what the head says comes out multiplied by it.
    """

    features: int
    window: int
    horizon: int
    patch_size: int = 1
    step_scale: float = 1.0
    dropout: float = 0.0
    norm_first: bool = True
    activation: str = "gelu"

    def __post_init__(self) -> None:
        super().__post_init__()
        sizes = ("features", "window", "horizon", "patch_size")
        require_positive(**{name: getattr(self, name) for name in sizes})
        if self.window % self.patch_size:
            raise ValueError(
                f"a window of {self.window} points does not divide into patches of "
                f"{self.patch_size}; choose a multiple"
            )
        require_positive_number(step_scale=self.step_scale)

    @property
    def num_patches(self) -> int:
        """Number of tokens that a window becomes."""
        return self.window // self.patch_size


@built_from(ForecasterConfig)
class Forecaster(nn.Module):
    """Patches of values and differences, positions, blocks, and one head over all tokens.

    The head starts at zero, so that an untrained model repeats the last point.

    Args:
        config: a `ForecasterConfig`.

    Source: patches and a head over all tokens: Nie et al. 2023, section 3.1
    (https://arxiv.org/abs/2211.14730); differences in and out are ours.
    """

    def __init__(self, config: ForecasterConfig) -> None:
        super().__init__()
        self.config = config
        self.patch_embedding = nn.Linear(2 * config.features * config.patch_size, config.d_model)
        self.positions = LearnedPositions(config.num_patches, config.d_model)
        self.dropout = make_dropout(config.dropout)
        depth = range(config.num_layers)
        self.blocks = nn.ModuleList(EncoderBlock(**config.block()) for _ in depth)
        self.final_norm = config.final_norm()
        width = config.num_patches * config.d_model
        self.head = nn.Linear(width, config.horizon * config.features)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    @overload
    def forward(self, window: Tensor, *, need_weights: Literal[False] = False) -> Tensor: ...
    @overload
    def forward(self, window: Tensor, *, need_weights: Literal[True]) -> WithWeights: ...
    def forward(self, window, *, need_weights=False):
        """Return the next points (B, horizon, features).

        Args:
            window: floating (B, T, features), T points as many as configured.
            need_weights: also return a list over blocks of weights (B, H, P, P).

        Raises:
            ValueError, TypeError: the window is not of the configured size, or not floating.
        """
        config = self.config
        require_features("window", window, "(B, T, features)", config.features)
        if window.shape[1] != config.window:
            raise ValueError(
                f"window must have the {config.window} points the model was built for, "
                f"got {window.shape[1]}; give the last {config.window}"
            )
        x = self.dropout(self.positions(self.patch_embedding(self._patches(window))))
        x, weights = run_blocks(self.blocks, x, need_weights=need_weights)
        moves = self.head(self.final_norm(x).flatten(1))  # (B, horizon * features)
        moves = moves.unflatten(1, (config.horizon, config.features))
        forecast = window[:, -1:] + config.step_scale * moves
        return (forecast, weights) if need_weights else forecast

    if TYPE_CHECKING:
        __call__ = forward

    def _patches(self, window: Tensor) -> Tensor:
        """(B, T, features) -> (B, P, 2 features patch_size): values, and differences scaled."""
        differences = window.diff(dim=1, prepend=window[:, :1]) / self.config.step_scale
        points = torch.cat([window, differences], dim=2)  # (B, T, 2 features)
        return points.unflatten(1, (-1, self.config.patch_size)).flatten(2)
