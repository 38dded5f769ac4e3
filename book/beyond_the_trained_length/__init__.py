"""Beyond the trained length: the live figure; the checks of the exercises are in `checks`."""

from book.beyond_the_trained_length.figures.seen import seen_figure

__all__ = ["seen_figure"]
