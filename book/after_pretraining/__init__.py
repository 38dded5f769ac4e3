"""After pre-training: the live figures; the checks of the exercises are in `checks`."""

from book.after_pretraining.figures.hacked import hacked_figure
from book.after_pretraining.figures.nudge import nudge_figure
from book.after_pretraining.figures.passes import passes_figure

__all__ = ["hacked_figure", "nudge_figure", "passes_figure"]
