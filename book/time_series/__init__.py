"""Time series: the live figures, and `NVAR`; the checks of the exercises are in `checks`."""

from book.time_series.figures.forecast import forecast_figure
from book.time_series.figures.loop import loop_figure
from book.time_series.figures.window import window_figure
from book.time_series.nvar import NVAR

__all__ = ["NVAR", "forecast_figure", "loop_figure", "window_figure"]
