"""What the stream carries: the live figures; the checks of the exercises are in `checks`."""

from book.what_the_stream_carries.figures.plane import plane_figure
from book.what_the_stream_carries.figures.push import push_figure

__all__ = ["plane_figure", "push_figure"]
