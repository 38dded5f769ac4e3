"""Thinking on paper: the live figures; the checks of the exercises are in `checks`."""

from book.thinking_on_paper.figures.carry import carry_figure
from book.thinking_on_paper.figures.distance import distance_figure
from book.thinking_on_paper.figures.votes import votes_figure

__all__ = ["carry_figure", "distance_figure", "votes_figure"]
