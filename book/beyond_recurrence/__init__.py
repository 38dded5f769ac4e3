"""Beyond recurrence: the live figures; the checks of the exercises are in `checks`."""

from book.beyond_recurrence.figures.bill import bill_figure
from book.beyond_recurrence.figures.path import path_figure

__all__ = ["bill_figure", "path_figure"]
