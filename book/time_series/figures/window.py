"""One window on its way through a trained forecaster, step by step."""

import torch

from book.page.live import LiveFigure, table
from companion.models import Forecaster

DIGITS = 4  # decimals of the numbers that travel


@torch.no_grad()
def window_figure(model: Forecaster, runs: torch.Tensor) -> LiveFigure:
    """Points, differences, patches, vectors, attention, and the move that they end in: one scene.

    The page gets what the model computed, and no weights.

    Args:
        model: a trained `Forecaster` of one feature with a horizon of 1.
        runs: (N, window + 1, 1): N windows, and the point after each.

    Raises:
        ValueError: the model is another, or the runs do not fit it.
    """
    config = model.config
    if (config.features, config.horizon) != (1, 1):
        raise ValueError(
            "the figure needs a Forecaster with features=1 and horizon=1, "
            f"got {config.features} and {config.horizon}"
        )
    if runs.shape[1:] != (config.window + 1, 1):
        raise ValueError(f"runs must be (N, {config.window + 1}, 1), got {tuple(runs.shape)}")
    examples = [_followed(model, run[None]) for run in runs]
    data = {"patch": config.patch_size, "scale": config.step_scale, "examples": examples}
    names = ("last point", "forecast", "truth")
    last = (examples[0]["points"][-1], examples[0]["said"], examples[0]["truth"])
    fallback = table("What comes after the first window", names, [last])
    value = {"step": 3, "example": 0, "look": "0 0", "patch": config.num_patches - 1}
    return LiveFigure(__file__, data, value, fallback)


def _followed(model: Forecaster, run: torch.Tensor) -> dict:
    """Of one window (1, T + 1, 1): what stands in the model after each of its parts."""
    window, truth = run[:, :-1], run[0, -1, 0]
    left = {}  # what left the two parts that are read off
    hooks = [
        part.register_forward_hook(lambda part, _, output: left.update({part: output[0]}))
        for part in (model.positions, model.final_norm)
    ]
    said, weights = model(window, need_weights=True)
    for hook in hooks:
        hook.remove()
    return {
        "points": _rounded(window[0, :, 0]),
        "differences": _rounded(window[0, :, 0].diff(prepend=window[0, :1, 0])),
        "vectors": _rounded(left[model.positions]),
        "weights": _rounded(torch.cat(weights)),
        "read": _rounded(left[model.final_norm]),
        "said": _rounded(said[0, 0, 0]),
        "truth": _rounded(truth),
    }


def _rounded(tensor: torch.Tensor) -> list | float:
    return (tensor.double() * 10**DIGITS).round().div(10**DIGITS).tolist()
