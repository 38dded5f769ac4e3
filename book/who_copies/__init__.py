"""Who copies?: the live figures; the checks of the exercises are in `checks`."""

from book.who_copies.figures.browser import browser_figure
from book.who_copies.figures.cliff import cliff_figure
from book.who_copies.figures.train_here import train_here_figure
from book.who_copies.figures.wires import wires_figure

__all__ = ["browser_figure", "cliff_figure", "train_here_figure", "wires_figure"]
