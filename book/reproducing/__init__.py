"""Figures of papers to reproduce, and the checks of the step that is left to the reader."""
