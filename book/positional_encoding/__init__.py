"""Positional encoding: the live figures; the checks of the exercises are in `checks`."""

from book.positional_encoding.figures.clock import clock_figure
from book.positional_encoding.figures.positions import positions_figure
from book.positional_encoding.figures.terms import terms_figure

__all__ = ["clock_figure", "positions_figure", "terms_figure"]
