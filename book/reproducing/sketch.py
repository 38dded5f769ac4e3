"""A paper's figure as a pale sketch: the shapes that its text describes, and none of its data."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from book.page import figure

PALE, WORDS = "0.66", "0.4"
DASHES = ["-", (0, (5, 2)), (0, (1, 1.5))]


def sketch(panels: Sequence[Mapping], *, alt: str) -> Figure:
    """Curves as a hand would draw them, side by side, with numbers only where the text has them.

    Args:
        panels: one or two, each with `curves` {name: (x, y)}, `xlabel`, `ylabel` and a `title`, and
            with `xticks` and `yticks` {place: text} where the text gives numbers.
        alt: what the figure claims, in words.
    """
    fig, axes = figure(alt=alt, height=2.5, ncols=len(panels), squeeze=False)
    for ax, panel in zip(axes[0], panels, strict=True):
        lowest = min(y[-1] for _, y in panel["curves"].values())
        for (name, (x, y)), dashes in zip(panel["curves"].items(), DASHES, strict=False):
            (curve,) = ax.plot(x, y, color=PALE, linewidth=3, linestyle=dashes)
            curve.set_sketch_params(1.5, 90, 8)
            below = len(panel["curves"]) > 1 and y[-1] == lowest
            ax.annotate(
                name,
                (x[-1], y[-1]),
                (-4, -7 if below else 7),
                textcoords="offset points",
                color=WORDS,
                ha="right",
                va="top" if below else "bottom",
            )
        ax.margins(y=0.25)
        make_pale(ax, panel)
    return fig


def make_pale(ax: Axes, panel: Mapping) -> None:
    """Axes, labels and the title of a panel in the sketch's greys."""
    for axis, ticks in ((ax.xaxis, "xticks"), (ax.yaxis, "yticks")):
        places = panel.get(ticks, {})
        axis.set_ticks(list(places), list(places.values()))
        axis.set_tick_params(color=PALE, labelcolor=WORDS)
    ax.spines[:].set_color(PALE)
    ax.set_title(panel["title"], color=WORDS)
    ax.set_xlabel(panel["xlabel"], color=WORDS)
    ax.set_ylabel(panel["ylabel"], color=WORDS)
