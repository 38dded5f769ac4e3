"""How do you know that it is good?: the live figures, and `scores`; the checks are in `checks`."""

from book.is_it_good.figures.bet import bet_figure
from book.is_it_good.figures.contest import contest_figure

__all__ = ["bet_figure", "contest_figure"]
