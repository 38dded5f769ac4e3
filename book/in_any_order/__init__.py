"""In any order: the live figures; the checks of the exercises are in `checks`."""

from book.in_any_order.figures.asked import asked_figure
from book.in_any_order.figures.blanks import blanks_figure
from book.in_any_order.figures.pace import pace_figure

__all__ = ["asked_figure", "blanks_figure", "pace_figure"]
