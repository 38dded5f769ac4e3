"""The book's live figures: one function each, which returns a `LiveFigure` to leave in a cell."""

from companion.page.gallery.attention import attention_figure
from companion.page.gallery.drawing import digit_figure
from companion.page.gallery.embeddings import embeddings_figure
from companion.page.gallery.file import file_figure
from companion.page.gallery.forecast import forecast_figure
from companion.page.gallery.heads import heads_figure
from companion.page.gallery.path import path_figure
from companion.page.gallery.positions import positions_figure
from companion.page.gallery.pronoun import pronoun_figure
from companion.page.gallery.quizzes import quiz
from companion.page.gallery.stream import stream_figure
from companion.page.gallery.tiles import tiles_figure
from companion.page.gallery.translation import translation_figure
from companion.page.gallery.writer import writer_figure

__all__ = [
    "attention_figure",
    "digit_figure",
    "embeddings_figure",
    "file_figure",
    "forecast_figure",
    "heads_figure",
    "path_figure",
    "positions_figure",
    "pronoun_figure",
    "quiz",
    "stream_figure",
    "tiles_figure",
    "translation_figure",
    "writer_figure",
]
