"""Self-attention: the live figures; the checks of the exercises are in `checks`."""

from book.self_attention.figures.attention import attention_figure
from book.self_attention.figures.geometry import geometry_figure
from book.self_attention.figures.masks import masks_figure
from book.self_attention.figures.pronoun import pronoun_figure
from book.self_attention.figures.word import word_figure

__all__ = ["attention_figure", "geometry_figure", "masks_figure", "pronoun_figure", "word_figure"]
