"""The Lorenz system in space: the truth from a start, and a trained forecaster's idea of it."""

import copy

import torch

from book.page.live import LiveFigure, table
from book.page.weights import packed_parameters
from companion.data import SeriesSplit, lorenz_path
from companion.forecasting import roll_out, valid_steps
from companion.models import Forecaster

RATE = 0.906  # largest Lyapunov exponent: Sprott 2003, "Chaos and Time-Series Analysis", appendix A
THRESHOLD = 0.4
START = (-5.0, -8.0, 16.0)


def forecast_figure(
    model: Forecaster, split: SeriesSplit, *, dt: float = 0.05, steps: int = 160
) -> LiveFigure:
    """A start in space that can be dragged: truth and forecast from there.

    Args:
        model: trained on x, y and z, with a horizon of 1 and pre-norm blocks with gelu.
        split: what the model's series was standardised with.
        dt: time between two points.
        steps: points to forecast.

    Raises:
        ValueError: the model is of another kind, or a weight does not fit into float16.
    """
    config = model.config
    choices = (config.features, config.horizon, config.norm_first, config.activation)
    if choices != (3, 1, True, "gelu"):
        raise ValueError(
            "the figure needs a Forecaster with features=3, horizon=1, norm_first=True and "
            f"activation='gelu', got {choices}"
        )
    data = {
        "weights": packed_parameters(model),
        "depth": config.num_layers,
        "num_heads": config.num_heads,
        "patch_size": config.patch_size,
        "step_scale": config.step_scale,
        "window": config.window,
        "mean": split.mean.tolist(),
        "std": split.std.tolist(),
        "dt": dt,
        "steps": steps,
        "rate": RATE,
        "threshold": THRESHOLD,
    }
    start = dict(zip("xyz", START, strict=True))
    value = {**start, "after": 60, "rival": "model", "turn": 30, "tilt": 15}
    truth, forecast, good = _unfold(model, split, dt, steps)
    caption = (
        f"{value['after'] * dt * RATE:.1f} Lyapunov times after the start x {START[0]:g}, "
        f"y {START[1]:g}, z {START[2]:g}; the forecast stays right for {good * dt * RATE:.2f}"
    )
    at = value["after"] - 1
    rows = [("truth", *truth[at].tolist()), ("forecast", *forecast[at].tolist())]
    fallback = table(caption, ["", "x", "y", "z"], rows)
    return LiveFigure(__file__, data, value, fallback)


@torch.no_grad()
def _unfold(model: Forecaster, split: SeriesSplit, dt: float, steps: int):
    """Truth and forecast (steps, 3) in space, and how many are good, with the figure's weights."""
    model = copy.deepcopy(model).cpu().half().double().eval()
    window = model.config.window
    start = torch.tensor(START, dtype=torch.float64)
    path = split.standardised(lorenz_path(start, window + steps, dt=dt))[None]
    truth = path[:, window:]
    forecast = roll_out(model, path[:, :window], steps)
    good = valid_steps(forecast, truth, threshold=THRESHOLD).item()
    return split.restored(truth[0]), split.restored(forecast[0]), good
