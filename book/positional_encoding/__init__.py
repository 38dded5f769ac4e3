"""Positional encoding: the live figures; the checks of the exercises are in `checks`."""

from book.positional_encoding.figures.rotation import rotation_figure
from book.positional_encoding.figures.terms import terms_figure

__all__ = ["rotation_figure", "terms_figure"]
