"""Who copies: the live figures."""

from book.who_copies.figures.train_here import train_here_figure

__all__ = ["train_here_figure"]
