"""Efficient attention: the live figures; the checks of the exercises are in `checks`."""

from book.efficient_attention.figures.online import online_figure
from book.efficient_attention.figures.roofline import roofline_figure
from book.efficient_attention.figures.tiles import tiles_figure

__all__ = ["online_figure", "roofline_figure", "tiles_figure"]
