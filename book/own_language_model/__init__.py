"""Your own language model: the live figures; the checks of the exercises are in `checks`."""

from book.own_language_model.figures.descent import descent_figure
from book.own_language_model.figures.growing import growing_figure

__all__ = ["descent_figure", "growing_figure"]
