"""Running a language model: the live figures; the checks of the exercises are in `checks`."""

from book.running_a_language_model.figures.rounding import rounding_figure
from book.running_a_language_model.figures.steps import steps_figure

__all__ = ["rounding_figure", "steps_figure"]
