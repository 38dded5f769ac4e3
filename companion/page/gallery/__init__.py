"""The book's live figures: one function each, which returns a `LiveFigure` to leave in a cell.

To be in this folder is all that registers a figure: `gallery/heads.py` has `heads_figure`, which
shows the script `figures/heads.js`. `companion.page` offers the function under its name and imports
the module when it is asked for, so that a notebook depends on the figures that it names.
"""

from pathlib import Path


def functions() -> dict[str, str]:
    """What the figures' functions are called, and their modules: {"heads_figure": "...heads"}."""
    stems = sorted(path.stem for path in Path(__file__).parent.glob("[!_]*.py"))
    return {stem if stem == "quiz" else f"{stem}_figure": f"{__name__}.{stem}" for stem in stems}
