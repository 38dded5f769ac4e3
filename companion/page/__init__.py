"""What a chapter puts on its page: `setup`, `note`, `claim`, plots, live figures."""

from companion.page.claims import claim
from companion.page.diagrams import transformer_diagram
from companion.page.gallery import (
    attention_figure,
    digit_figure,
    embeddings_figure,
    file_figure,
    forecast_figure,
    heads_figure,
    path_figure,
    positions_figure,
    pronoun_figure,
    quiz,
    stream_figure,
    tiles_figure,
    translation_figure,
    writer_figure,
)
from companion.page.notebook import note, setup
from companion.page.plots import bars, figure, heatmap, heatmaps, lines
from companion.page.source import show_source

__all__ = [
    "attention_figure",
    "bars",
    "claim",
    "digit_figure",
    "embeddings_figure",
    "figure",
    "file_figure",
    "forecast_figure",
    "heads_figure",
    "heatmap",
    "heatmaps",
    "lines",
    "note",
    "path_figure",
    "positions_figure",
    "pronoun_figure",
    "quiz",
    "setup",
    "show_source",
    "stream_figure",
    "tiles_figure",
    "transformer_diagram",
    "translation_figure",
    "writer_figure",
]
