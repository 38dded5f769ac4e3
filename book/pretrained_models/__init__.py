"""Pretrained models: the live figures; the checks of the exercises are in `checks`."""

from book.pretrained_models.figures.file import file_figure
from book.pretrained_models.figures.names import names_figure
from book.pretrained_models.figures.silent import silent_figure

__all__ = ["file_figure", "names_figure", "silent_figure"]
