"""Runs that go wrong on purpose, for the pages "Debug this run": programs, faults, symptoms."""

from companion.debugging import beyond_language, the_idea, the_model

__all__ = ["beyond_language", "the_idea", "the_model"]
