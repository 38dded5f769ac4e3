"""Runs that go wrong on purpose, for the pages "Debug this run": programs, faults, symptoms."""

from book.debugging import (
    beyond_language,
    own_language_model,
    real_models,
    the_idea,
    the_model,
    what_it_costs,
)

__all__ = [
    "beyond_language",
    "own_language_model",
    "real_models",
    "the_idea",
    "the_model",
    "what_it_costs",
]
