"""Folklore about a real model: the live figure; the checks of the exercises are in `checks`."""

from book.inside_a_real_model.figures.keystone import keystone_figure

__all__ = ["keystone_figure"]
