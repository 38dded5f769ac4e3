"""Budgets, schedules and rates: the live figure; the checks of the exercises are in `checks`."""

from book.budgets.figures.valleys import valleys_figure

__all__ = ["valleys_figure"]
