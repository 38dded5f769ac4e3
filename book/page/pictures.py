"""How a matplotlib figure reaches the page: as one picture that carries its text alternative."""

import base64
import html
import io
import zlib
from urllib.parse import quote

from IPython.core.formatters import DisplayFormatter
from matplotlib.figure import Figure


def show_with_alt(formatter: DisplayFormatter) -> None:
    """Have a notebook show every matplotlib figure as one picture with its text alternative."""
    formatter.formatters["text/html"].for_type(Figure, to_html)
    for kind in ("image/png", "image/svg+xml", "image/jpeg", "application/pdf"):
        formatter.formatters[kind].for_type(Figure, lambda fig: None)


def to_html(fig: Figure) -> str:
    """The figure as one <img> with its text alternative, SVG or PNG, whichever is smaller.

    Its data-caption says what is drawn, for the book, which numbers its plots.

    Raises:
        ValueError: the figure has no text alternative.
    """
    alt = getattr(fig, "alt", "").strip()
    if not alt:
        raise ValueError(
            "this figure has no text alternative; make it with plots.figure(alt=...), "
            "or set fig.alt to a sentence that says what it shows"
        )
    svg = _saved(fig, "svg", metadata={"Date": None})
    vector = "data:image/svg+xml," + quote(svg, safe="/:;=<>,()[]{}@!$*+ '")
    png = _saved(fig, "png", dpi=192)
    pixels = "data:image/png;base64," + base64.b64encode(png).decode()
    source = min(vector, pixels, key=lambda data: len(zlib.compress(data.encode())))
    width, height = (round(96 * inches) for inches in fig.get_size_inches())
    return (
        f'<img class="companion-figure" alt="{html.escape(alt)}" width="{width}" height="{height}" '
        f'data-caption="{html.escape(_caption(fig))}" style="max-width: 100%; height: auto" '
        f'src="{html.escape(source)}">'
    )


def _caption(fig: Figure) -> str:
    """What its axes say: titles, and what stands against what."""
    said = {}
    for ax in fig.axes:
        against = " against ".join(filter(None, (ax.get_ylabel(), ax.get_xlabel())))
        said |= {": ".join(filter(None, (ax.get_title(), against))): None}
    return "; ".join(" ".join(text.split()) for text in said if text)


def _saved(fig: Figure, kind: str, **options) -> bytes:
    buffer = io.BytesIO()
    fig.savefig(buffer, format=kind, transparent=True, **options)
    return buffer.getvalue()
