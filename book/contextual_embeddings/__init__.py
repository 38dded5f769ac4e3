"""Meaning in context: the live figures; the checks of the exercises are in `checks`."""

from book.contextual_embeddings.figures.encoder import encoder_figure
from book.contextual_embeddings.figures.leaving import leaving_figure
from book.contextual_embeddings.figures.stream import stream_figure

__all__ = ["encoder_figure", "leaving_figure", "stream_figure"]
