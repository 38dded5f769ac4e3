"""Three families: the live figures; the checks of the exercises are in `checks`."""

from book.three_families.figures.objectives import objectives_figure
from book.three_families.figures.prompt import prompt_figure
from book.three_families.figures.writer import writer_figure

__all__ = ["objectives_figure", "prompt_figure", "writer_figure"]
