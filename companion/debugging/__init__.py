"""Runs that go wrong on purpose, for the pages "Debug this run": programs, faults, symptoms."""

from companion.debugging import the_idea, the_model

__all__ = ["the_idea", "the_model"]
