"""Plots that everybody can read: with a text alternative, and without meaning by colour alone.

Every function builds a matplotlib `Figure` of its own (nothing goes through pyplot, so nothing is
shown twice) and returns it. `alt` says in words what the picture shows; it reaches the page as the
picture's text alternative. Values may be tensors, arrays or lists. Pictures have a transparent
background, so that the book can invert their colours for its dark scheme. A curve or bar called
"query", "key" or another concept of `book.page.colours` has that concept's colour.
"""

from collections.abc import Mapping, Sequence

import matplotlib as mpl
import numpy as np
import torch
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from book.page.claims import typeset
from book.page.colours import tone

# A column of a phone is about 320 px wide: at this width the text is still 10 px high there.
WIDTH = 4.6  # inches of 96 px
FONT_SIZE = 11  # points

MARKERS = "osD^vPX*"
DASHES = ["-", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 2, 1, 2))]
LIMIT_OF_SERIES = len(MARKERS)

# seaborn's "colorblind" palette, copied: importing seaborn takes every notebook over a second.
PALETTE = ["#0173b2", "#de8f05", "#029e73", "#d55e00", "#cc78bc"]
PALETTE += ["#ca9161", "#fbafe4", "#949494", "#ece133", "#56b4e9"]


def use_style() -> None:
    """Set the theme of all figures: seaborn's ticks and colour-blind palette, one size of text."""
    text = ["font.size", "axes.titlesize", "axes.labelsize", "xtick.labelsize", "ytick.labelsize"]
    text += ["legend.fontsize", "legend.title_fontsize", "figure.titlesize"]
    style.use("seaborn-v0_8-ticks")
    mpl.rcParams.update(
        {
            **dict.fromkeys(text, FONT_SIZE),
            "font.sans-serif": ["DejaVu Sans"],  # matplotlib brings it: the same letters everywhere
            "axes.prop_cycle": mpl.cycler(color=PALETTE),
            "axes.spines.top": False,
            "axes.spines.right": False,
            "figure.facecolor": "none",
            "axes.facecolor": "none",
            "savefig.facecolor": "none",
            "legend.frameon": True,
            "patch.edgecolor": "white",
            "patch.force_edgecolor": True,
            "svg.hashsalt": "companion",  # the same picture is the same file, every time
        }
    )


def figure(*, alt: str, height: float = 3.2, ncols: int = 1, nrows: int = 1, **subplots):
    """A figure with a text alternative, and its axes, for a plot that no helper here draws.

    Args:
        alt: what the picture shows, in words, for readers who cannot see it.
        height: in inches; the width is that of every figure of the book.
        ncols, nrows, subplots: as in `matplotlib.figure.Figure.subplots`.

    Returns:
        The figure, and its axes: one, or an array of them.

    Raises:
        ValueError: `alt` is empty.
    """
    if not alt.strip():
        raise ValueError("a figure needs alt, a sentence that says what it shows; got an empty one")
    fig = Figure(figsize=(WIDTH, height), layout="constrained")
    fig.alt = alt
    return fig, fig.subplots(nrows, ncols, **subplots)


def heatmap(matrix, *, alt: str, title: str = "", **options) -> Figure:
    """One matrix as coloured cells with their numbers, and a title.

    The text alternative `alt` and the options are those of `heatmaps`.
    """
    return heatmaps({title: matrix}, alt=alt, **options)


def heatmaps(
    matrices: Mapping,
    *,
    alt: str,
    rows: Sequence | None = None,
    columns: Sequence | None = None,
    xlabel: str = "",
    ylabel: str = "",
    fmt: str | None = ".2f",
    limits: tuple[float, float] | None = None,
    ncols: int = 2,
) -> Figure:
    """Matrices as coloured cells with their numbers, `ncols` beside each other.

    Args:
        matrices: {title: matrix}; each (number of rows, number of columns).
        alt: text alternative.
        rows, columns: names of the rows and columns, common to all matrices.
        xlabel, ylabel: what columns and rows are.
        fmt: format of the numbers in the cells, None for none.
        limits: values of the first and of the last colour; left out, each matrix has its own: from
            0 to its largest value, or symmetric about 0 where a value is negative.
        ncols: matrices beside each other.

    Raises:
        ValueError: there is no matrix, one is not two-dimensional, or the names do not fit.
    """
    import seaborn as sns  # only here, since it takes a second

    values = {title: _array(matrix) for title, matrix in matrices.items()}
    if not values:
        raise ValueError("heatmaps needs at least one matrix, got none")
    for title, matrix in values.items():
        _check_names(title, matrix, rows, columns)
    ncols = min(ncols, len(values))
    nrows = -(-len(values) // ncols)
    n, m = np.max([matrix.shape for matrix in values.values()], axis=0)
    cell = min(0.42, (WIDTH - 0.9) / ncols / m)  # inches
    height = nrows * (n * cell + 1.1 if fmt is not None else 2.8)
    fig, axes = figure(alt=alt, height=height, nrows=nrows, ncols=ncols, squeeze=False)
    fig.get_layout_engine().set(hspace=0.12)  # a title keeps clear of the axis above it
    for ax in axes.flat[len(values) :]:
        ax.remove()
    for number, (ax, (title, matrix)) in enumerate(zip(axes.flat, values.items(), strict=False)):
        low, high = limits or (min(matrix.min(), 0), np.abs(matrix).max())
        if limits is None and low < 0:
            low = -high
        first = number % ncols == 0
        sns.heatmap(
            matrix,
            ax=ax,
            vmin=low,
            vmax=high,
            cmap="vlag" if low < 0 else "Blues",
            annot=fmt is not None,
            fmt=fmt or "",
            annot_kws={"size": min(FONT_SIZE, 27 * cell)},  # five characters fit into a cell
            cbar=fmt is None,
            square=fmt is not None,
            linewidths=1 if fmt is not None else 0,
            xticklabels="auto" if columns is None else list(columns),
            yticklabels=("auto" if rows is None else list(rows)) if first else False,
        )
        for number_in_cell, color in zip(
            ax.texts, ax.collections[0].get_facecolors(), strict=False
        ):
            number_in_cell.set(text=typeset(number_in_cell.get_text()), color=_ink_on(color))
        ax.tick_params(length=0)
        ax.tick_params(axis="y", rotation=0)
        ax.set(title=title, xlabel=xlabel, ylabel=ylabel if first else "")
    return fig


def lines(
    series: Mapping,
    *,
    alt: str,
    xlabel: str,
    ylabel: str,
    title: str = "",
    logx: bool = False,
    logy: bool = False,
    ylim: tuple[float | None, float | None] | None = None,
    percent: bool = False,
    height: float = 3.2,
) -> Figure:
    """Curves, each with its own marker and dashes, named beside its last point.

    Args:
        series: {name: (x, y)}, at most eight; x and y (number of points,). A y of (runs, number of
            points) is drawn as a thin line for every run.
        alt: text alternative.
        xlabel, ylabel: what is drawn, with units.
        title: above the plot.
        logx, logy: logarithmic axes; that of x is labelled at powers of two.
        ylim: lower and upper end of the y axis, None for an end that follows the data.
        percent: label the y axis from 0 % to 100 % for values from 0 to 1.
        height: in inches.

    Raises:
        ValueError: there are none or too many curves, or x and y differ in length.
    """
    if not 1 <= len(series) <= LIMIT_OF_SERIES:
        raise ValueError(
            f"lines draws 1 to {LIMIT_OF_SERIES} curves, which can still be told apart, got "
            f"{len(series)}; draw two figures"
        )
    fig, ax = figure(alt=alt, height=height)
    ends = {}
    for number, (name, (x, y)) in enumerate(series.items()):
        x, y = _array(x), np.atleast_2d(_array(y))
        if x.ndim != 1 or y.shape[-1] != len(x):
            raise ValueError(
                f"{name!r}: x has shape {x.shape} and y {y.shape}; they need one x for every y"
            )
        style = {
            "color": tone(name) or f"C{number}",
            "marker": MARKERS[number],
            "linestyle": DASHES[number % len(DASHES)],
            "markevery": max(1, len(x) // 10),
        }
        for run in y:
            several = {"marker": "", "linewidth": 1, "alpha": 0.7} if len(y) > 1 else {}
            ax.plot(x, run, **style | several)
        ends[name] = np.median(y[:, -1]), style | ({"marker": ""} if len(y) > 1 else {})
    ax.set(xlabel=xlabel, ylabel=ylabel, title=title)
    ax.set_yscale("log" if logy else "linear")
    if logx:
        ax.set_xscale("log", base=2)
        ax.xaxis.set_major_formatter("{x:g}")
    if ylim is not None:
        ax.set_ylim(*ylim)
    if percent:
        ax.yaxis.set_major_formatter(PercentFormatter(1))
    _name_at_end(ax, ends)
    return fig


def bars(
    values: Mapping,
    *,
    alt: str,
    xlabel: str,
    title: str = "",
    fmt: str = ".2f",
    xlim: tuple[float | None, float | None] | None = None,
    logx: bool = False,
) -> Figure:
    """Horizontal bars, the number written at the end of each.

    Args:
        values: {name: number}, drawn from top to bottom. Of a sequence of numbers, one per run, the
            bar is the mean, and each is a dot.
        alt: text alternative.
        xlabel: what is drawn, with units.
        title: above the plot.
        fmt: format of the numbers.
        xlim: ends of the x axis.
        logx: logarithmic axis.

    Raises:
        ValueError: there is no bar.
    """
    if not values:
        raise ValueError("bars needs at least one value, got none")
    runs = {name: np.atleast_1d(_array(value)) for name, value in values.items()}
    means = [run.mean() for run in runs.values()]
    fig, ax = figure(alt=alt, height=0.9 + 0.34 * len(runs))
    ax.barh(list(runs), means, color=[tone(name) or "C0" for name in runs], height=0.65)
    ax.set_xscale("log" if logx else "linear")
    for y, (run, mean) in enumerate(zip(runs.values(), means, strict=True)):
        if len(run) > 1:
            ax.plot(run, [y] * len(run), "o", color="0.15", markersize=4, alpha=0.8)
        ax.annotate(
            typeset(format(mean, fmt)),
            (max(run.max(), 0), y),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
        )
    ax.invert_yaxis()
    ax.set(title=title)
    ax.set_xlabel(xlabel, loc="right")  # a long one may reach below the names
    ax.tick_params(axis="y", length=0)
    if xlim is None:
        ax.margins(x=0.16)
    else:
        ax.set_xlim(*xlim)
    return fig


def _array(values) -> np.ndarray:
    return torch.as_tensor(values).detach().cpu().double().numpy()


def _ink_on(color: np.ndarray) -> str:
    """Black or white, whichever stands out more on this colour (WCAG 2, relative luminance)."""
    linear = np.where(color[:3] <= 0.04045, color[:3] / 12.92, ((color[:3] + 0.055) / 1.055) ** 2.4)
    return "black" if linear @ [0.2126, 0.7152, 0.0722] > 0.179 else "white"


def _check_names(title: str, matrix: np.ndarray, rows, columns) -> None:
    if matrix.ndim != 2:
        raise ValueError(f"{title!r} must be a matrix, got shape {matrix.shape}; pick two axes")
    for what, names, size in (("rows", rows, len(matrix)), ("columns", columns, matrix.shape[1])):
        if names is not None and len(names) != size:
            raise ValueError(f"{title!r} has {size} {what}, but {len(names)} names were given")


def _name_at_end(ax: Axes, ends: Mapping) -> None:
    """Write every curve's name right of the plot, at the height of its end, none over another."""
    ax.autoscale_view()  # the limits are final from here on
    into_axes = ax.transScale + ax.transLimits
    heights = {name: into_axes.transform((1, y))[1] for name, (y, _) in ends.items()}
    order = sorted(heights, key=heights.get)
    gap = 0.1
    placed = []
    for name in order:
        placed.append(max(min(heights[name], 1), placed[-1] + gap if placed else 0))
    excess = max(placed[-1] - 1, 0)
    for i in reversed(range(len(placed))):  # push down again what went over the top
        ceiling = placed[i + 1] - gap if i + 1 < len(placed) else placed[-1] - excess
        placed[i] = min(placed[i], ceiling)
    for name, height in zip(order, placed, strict=True):
        style = ends[name][1] | {"markevery": None}
        key = [1.04] if style["marker"] else [1.01, 1.07]  # thin lines have no marker, but dashes
        ax.plot(key, [height] * len(key), transform=ax.transAxes, clip_on=False, **style)
        ax.annotate(
            name, (1.08, height), xycoords="axes fraction", va="center", annotation_clip=False
        )
