"""The full model: its drawing and live figures; the checks of the exercises are in `checks`."""

from book.full_model.diagram import transformer_diagram
from book.full_model.figures.decoder import decoder_figure
from book.full_model.figures.teacher import teacher_figure
from book.full_model.figures.translation import translation_figure

__all__ = ["decoder_figure", "teacher_figure", "transformer_diagram", "translation_figure"]
