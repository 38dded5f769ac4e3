"""Runs that go wrong on purpose, for the pages "Debug this run": programs, faults, symptoms."""

from book.debugging.figures.diagnose import diagnose_figure

__all__ = ["diagnose_figure"]
