"""Multi-head attention: the live figures; the checks of the exercises are in `checks`."""

from book.multi_head_attention.figures.heads import heads_figure
from book.multi_head_attention.figures.one_look import one_look_figure
from book.multi_head_attention.figures.shapes import shapes_figure

__all__ = ["heads_figure", "one_look_figure", "shapes_figure"]
