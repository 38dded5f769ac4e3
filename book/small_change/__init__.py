"""A small change to a large model: live figures; the exercises' checks are in `checks`."""

from book.small_change.figures.shared import shared_figure
from book.small_change.figures.target import target_figure
from book.small_change.figures.trade import trade_figure

__all__ = ["shared_figure", "target_figure", "trade_figure"]
