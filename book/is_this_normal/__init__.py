"""Is this normal? Curves of healthy and of ill runs, and a figure that names the reader's."""

from book.is_this_normal.figures.resembles import resembles_figure

__all__ = ["resembles_figure"]
