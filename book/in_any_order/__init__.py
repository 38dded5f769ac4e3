"""In any order: the live figures; the checks of the exercises are in `checks`."""

from book.in_any_order.figures.pace import pace_figure
from book.in_any_order.figures.path import path_figure

__all__ = ["pace_figure", "path_figure"]
