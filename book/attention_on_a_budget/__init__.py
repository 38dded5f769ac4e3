"""Attention on a budget: the live figures; the checks of the exercises are in `checks`."""

from book.attention_on_a_budget.figures.budget import budget_figure
from book.attention_on_a_budget.figures.memory import memory_figure
from book.attention_on_a_budget.figures.rank import rank_figure
from book.attention_on_a_budget.figures.trial import trial_figure

__all__ = ["budget_figure", "memory_figure", "rank_figure", "trial_figure"]
