"""Runs that go wrong on purpose, for the pages "Debug this run": programs, faults, symptoms."""
