"""Vision Transformer: the live figures; the checks of the exercises are in `checks`."""

from book.vision_transformer.figures.digit import digit_figure
from book.vision_transformer.figures.marks import marks_figure
from book.vision_transformer.figures.patches import patches_figure

__all__ = ["digit_figure", "marks_figure", "patches_figure"]
