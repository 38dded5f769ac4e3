"""The full model: the live figures; the checks of the exercises are in `checks`."""

from book.full_model.figures.decoder import decoder_figure
from book.full_model.figures.teacher import teacher_figure
from book.full_model.figures.translation import translation_figure

__all__ = ["decoder_figure", "teacher_figure", "translation_figure"]
