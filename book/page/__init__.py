"""What a chapter puts on its page: `setup`, `note`, `claim`, `table`, plots, live figures."""

from collections.abc import Callable
from importlib import import_module

from companion.page import gallery
from companion.page.claims import claim
from companion.page.colours import colour_legend
from companion.page.diagrams import transformer_diagram
from companion.page.notebook import note, setup, table
from companion.page.plots import bars, figure, heatmap, heatmaps, lines
from companion.page.source import show_source

__all__ = [
    "bars",
    "claim",
    "colour_legend",
    "figure",
    "heatmap",
    "heatmaps",
    "lines",
    "note",
    "setup",
    "show_source",
    "table",
    "transformer_diagram",
    *gallery.functions(),
]


def __getattr__(name: str) -> Callable:
    """A live figure's function, whose module is imported now."""
    if module := gallery.functions().get(name):
        return getattr(import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *gallery.functions()])
