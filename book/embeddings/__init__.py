"""Tokens and embeddings: the live figures; the checks of the exercises are in `checks`."""

from book.embeddings.figures.bank import bank_figure
from book.embeddings.figures.cuts import cuts_figure
from book.embeddings.figures.embeddings import embeddings_figure
from book.embeddings.figures.neighbours import neighbours_figure
from book.embeddings.figures.pairs import pairs_figure

__all__ = ["bank_figure", "cuts_figure", "embeddings_figure", "neighbours_figure", "pairs_figure"]
