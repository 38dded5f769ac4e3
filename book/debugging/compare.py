"""A reader's run beside the sound one: what the pages "Debug this run" draw, and what they mark."""

import ast
import inspect
from collections.abc import Mapping, Sequence
from types import ModuleType

import torch
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from book.debugging.fault import SOUND, Fault
from book.page.claims import short, typeset
from book.page.notebook import table
from book.page.plots import DASHES, figure

FAR = 2  # times the sound run's number, or a part of it: then it is marked
ROUNDING = 1e-5  # numbers that differ by less are the same


def mark(yours: float, sound: float) -> str:
    """▲ where a number is more than twice the sound run's, ▼ where it is less than half of it."""
    if abs(yours - sound) < ROUNDING:
        return ""
    ends = sorted((sound * FAR, sound / FAR))
    return "▲" if yours > ends[1] else "▼" if yours < ends[0] else ""


def marked(yours: float, sound: float) -> tuple[str, str]:
    """Two cells of a table: your number, bold and marked if it is far off, and the sound one."""
    sign = mark(yours, sound)
    return (f"**{short(yours)} {sign}**" if sign else short(yours)), short(sound)


def curves(
    series: Mapping, *, alt: str, xlabel: str, ylabel: str, ylim=None, percent: bool = False
) -> Figure:
    """The curves of both runs, and below them yours minus the sound run's.

    A colour is a run, and dashes are a curve.

    Args:
        series: {name: (x, yours, sound)}, at most four.
        alt, xlabel, ylabel, ylim, percent: as in `book.page.lines`.
    """
    fig, (above, below) = figure(alt=alt, height=4.4, nrows=2, sharex=True, height_ratios=(3, 2))
    below.axhline(0, color="0.62", linewidth=0.8)
    for dashes, (x, *both) in zip(DASHES, series.values(), strict=False):
        yours, sound = (torch.as_tensor(y).double() for y in both)
        above.plot(x, sound, color="0.5", linestyle=dashes, linewidth=2.4)
        above.plot(x, yours, color="C0", linestyle=dashes)
        below.plot(x, yours - sound, color="C3", linestyle=dashes)
    legend = [("yours", "C0", "-"), ("sound", "0.5", "-"), ("yours − sound", "C3", "-")]
    if len(series) > 1:
        legend += [(name, "0.15", dashes) for name, dashes in zip(series, DASHES, strict=False)]
    for name, color, dashes in legend:
        above.plot([], [], color=color, linestyle=dashes, label=name)
    fig.legend(
        loc="outside upper center", ncols=3, frameon=False, columnspacing=1, handlelength=1.6
    )
    above.set(ylabel=ylabel, ylim=ylim)
    below.set(xlabel=xlabel, ylabel="difference")
    if percent:
        above.yaxis.set_major_formatter(PercentFormatter(1))
        below.yaxis.set_major_formatter(PercentFormatter(1))
    return fig


def maps(pairs: Mapping, *, alt: str, xlabel: str, ylabel: str, rows=None, columns=None) -> Figure:
    """Maps of both runs and yours minus the sound one, a row for each pair, with one scale for all.

    Args:
        pairs: {title: (yours, sound)}; all matrices have one shape.
        alt, xlabel, ylabel, rows, columns: as in `book.page.heatmaps`.
    """
    both = {
        title: [torch.as_tensor(each).detach().double().numpy() for each in pair]
        for title, pair in pairs.items()
    }
    top = max(each.max() for pair in both.values() for each in pair)
    apart = max(abs(yours - sound).max() for yours, sound in both.values())
    height = 1.7 + 1.3 * len(both) if columns is not None else 1.2 + 1.4 * len(both)
    fig, axes = figure(
        alt=alt, height=height, nrows=len(both), ncols=3, sharex=True, sharey=True, squeeze=False
    )
    for line, (title, (yours, sound)) in zip(axes, both.items(), strict=True):
        for ax, matrix in zip(line[:2], (yours, sound), strict=True):
            shades = ax.imshow(matrix, vmin=0, vmax=top, cmap="Blues", aspect="auto")
        off = apart if apart > ROUNDING else top
        changes = line[2].imshow(yours - sound, vmin=-off, vmax=off, cmap="RdBu_r", aspect="auto")
        line[0].set_ylabel(f"{title}\n{ylabel}" if title else ylabel)
        for ax in line:
            ax.tick_params(length=0)
    for ax, name in zip(axes[0], ("yours", "sound", "yours − sound"), strict=True):
        ax.set_title(name)
    axes[-1, 1].set_xlabel(xlabel)
    if columns is not None:
        axes[-1, 0].set_xticks(range(len(columns)), columns)
        for ax in axes[-1]:
            ax.tick_params(axis="x", rotation=90)
    if rows is not None:
        axes[0, 0].set_yticks(range(len(rows)), rows)
    fig.colorbar(shades, ax=axes[:, :2], location="bottom", aspect=30)
    scale = fig.colorbar(changes, ax=axes[:, 2:], location="bottom", aspect=15)
    scale.set_ticks([-off, 0, off], labels=[typeset(f"{each:.2g}") for each in (-off, 0, off)])
    return fig


def suspects(program: ModuleType, faults: Sequence[Fault]) -> None:
    """Show the table of what may be wrong with a program, and of where in it each line stands."""
    source = inspect.getsource(program)

    def place(fault):
        number = source[: source.index(fault.line.strip())].count("\n") + 1
        return ".".join(_names(ast.parse(source), number)) or "constants"

    rows = [(fault.name, fault.what, f"`{place(fault)}`") for fault in faults]
    rows.append((SOUND, "The run is as sound as the other one.", ""))
    table(["name", "what it means", "where"], rows)


def _names(tree: ast.AST, line: int) -> list[str]:
    """The class and the function that a line stands in, outermost first."""
    for node in ast.iter_child_nodes(tree):
        if (
            isinstance(node, ast.ClassDef | ast.FunctionDef)
            and node.lineno <= line <= node.end_lineno
        ):
            return [node.name, *_names(node, line)]
    return []
