"""Attention in tiles: the live figures; the checks of the exercises are in `checks`."""

from book.attention_in_tiles.figures.online import online_figure
from book.attention_in_tiles.figures.tiles import tiles_figure

__all__ = ["online_figure", "tiles_figure"]
