"""Self-attention: models and live figures; the checks of the exercises are in `checks`."""

from book.self_attention.detective import Detective, as_tensors, train_detective
from book.self_attention.figures.attention import attention_figure
from book.self_attention.figures.geometry import geometry_figure
from book.self_attention.figures.hook import hook_figure
from book.self_attention.figures.masks import masks_figure
from book.self_attention.figures.pronoun import pronoun_figure
from book.self_attention.figures.word import word_figure

__all__ = [
    "Detective",
    "as_tensors",
    "attention_figure",
    "geometry_figure",
    "hook_figure",
    "masks_figure",
    "pronoun_figure",
    "train_detective",
    "word_figure",
]
