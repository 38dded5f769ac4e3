"""How it chooses its words: the live figures; the checks of the exercises are in `checks`."""

from book.decoding.figures.beam import beam_figure
from book.decoding.figures.cache import cache_figure

__all__ = ["beam_figure", "cache_figure"]
