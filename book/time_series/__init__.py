"""Time series: the live figures; the checks of the exercises are in `checks`."""

from book.time_series.figures.forecast import forecast_figure
from book.time_series.figures.loop import loop_figure
from book.time_series.figures.window import window_figure

__all__ = ["forecast_figure", "loop_figure", "window_figure"]
