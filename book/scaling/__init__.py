"""Text, size, and a prediction: the live figures; the checks of the exercises are in `checks`."""

from book.scaling.figures.bits import bits_figure
from book.scaling.figures.floor import floor_figure

__all__ = ["bits_figure", "floor_figure"]
