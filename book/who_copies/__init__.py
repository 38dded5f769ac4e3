"""Inside a language model: the live figures; the checks of the exercises are in `checks`."""

from book.inside_a_language_model.figures.browser import browser_figure
from book.inside_a_language_model.figures.cliff import cliff_figure
from book.inside_a_language_model.figures.keystone import keystone_figure
from book.inside_a_language_model.figures.wires import wires_figure

__all__ = ["browser_figure", "cliff_figure", "keystone_figure", "wires_figure"]
