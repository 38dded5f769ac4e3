"""How do you know that it is good?: the live figures; `scores`, and `checks` of the exercises."""

from book.is_it_good.figures.bet import bet_figure
from book.is_it_good.figures.contest import contest_figure
from book.is_it_good.figures.intervals import intervals_figure

__all__ = ["bet_figure", "contest_figure", "intervals_figure"]
