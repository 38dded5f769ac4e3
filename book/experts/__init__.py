"""Today's block on trial: the live figures; the checks of the exercises are in `checks`."""

from book.experts.figures.herd import herd_figure
from book.experts.figures.rank import rank_figure
from book.experts.figures.routing import routing_figure
from book.experts.figures.trial import trial_figure

__all__ = ["herd_figure", "rank_figure", "routing_figure", "trial_figure"]
