"""What a chapter puts on its page: `setup`, `claim`, `table`, plots, live figures, a `bench`."""

from book.page.bench import bench
from book.page.claims import claim
from book.page.colours import colour_legend
from book.page.figures.clock import clock_figure
from book.page.figures.cut import cut_figure
from book.page.figures.prediction import prediction_figure
from book.page.figures.quiz import quiz
from book.page.figures.roofline import roofline_figure
from book.page.live import LiveFigure
from book.page.notebook import note, setup, table
from book.page.plots import bars, figure, heatmap, heatmaps, lines
from book.page.source import show_source

__all__ = [
    "LiveFigure",
    "bars",
    "bench",
    "claim",
    "clock_figure",
    "colour_legend",
    "cut_figure",
    "figure",
    "heatmap",
    "heatmaps",
    "lines",
    "note",
    "prediction_figure",
    "quiz",
    "roofline_figure",
    "setup",
    "show_source",
    "table",
]
