"""The Transformer block: the live figures; the checks of the exercises are in `checks`."""

from book.transformer_block.figures.collapse import collapse_figure
from book.transformer_block.figures.highway import highway_figure

__all__ = ["collapse_figure", "highway_figure"]
