"""Why does it make things up?: the live figures; `world`, and `checks` of the exercises."""

from book.making_things_up.figures.ask import ask_figure
from book.making_things_up.figures.policy import policy_figure
from book.making_things_up.figures.urn import urn_figure

__all__ = ["ask_figure", "policy_figure", "urn_figure"]
