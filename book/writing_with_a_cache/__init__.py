"""Writing with a cache: the live figures; the checks of the exercises are in `checks`."""

from book.writing_with_a_cache.figures.offer import offer_figure
from book.writing_with_a_cache.figures.room import room_figure

__all__ = ["offer_figure", "room_figure"]
