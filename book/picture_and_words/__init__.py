"""A picture and its words: live figures; the exercises' checks are in `checks`."""

from book.picture_and_words.figures.gaze import gaze_figure
from book.picture_and_words.figures.jumble import jumble_figure
from book.picture_and_words.figures.two_clouds import two_clouds_figure

__all__ = ["gaze_figure", "jumble_figure", "two_clouds_figure"]
