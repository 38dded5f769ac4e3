"""Attention on a budget: the live figures; the checks of the exercises are in `checks`."""

from book.attention_on_a_budget.figures.budget import budget_figure
from book.attention_on_a_budget.figures.memory import memory_figure

__all__ = ["budget_figure", "memory_figure"]
