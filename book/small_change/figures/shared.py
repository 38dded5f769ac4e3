"""How many digits a student reads, by what its start shares with its teacher's."""

from collections.abc import Mapping, Sequence
from itertools import product

from book.page.live import LiveFigure, table


def shared_figure(runs: Sequence[Mapping], *, shared: Sequence[str] = ()) -> LiveFigure:
    """Three layers to share, and numbers of meaningless outputs to choose from.

    Args:
        runs: {"extra": number of meaningless outputs, "shared": names of layers, "reads": share}
            of every run; all choices of layers are there for each number.
        shared: the layers that are shared at first.

    Raises:
        ValueError: a choice of layers has no run.
    """
    layers = list(dict.fromkeys(layer for run in runs for layer in run["shared"]))
    extras = sorted({run["extra"] for run in runs})
    reads: dict[str, list[float]] = {}
    for run in runs:
        key = " ".join([str(run["extra"]), *run["shared"]])
        reads.setdefault(key, []).append(float(run["reads"]))
    for extra, kept in product(extras, product((True, False), repeat=len(layers))):
        chosen = [layer for layer, there in zip(layers, kept, strict=True) if there]
        if " ".join([str(extra), *chosen]) not in reads:
            raise ValueError(f"no run shares {chosen} with {extra} meaningless outputs")
    start = reads[" ".join([str(extras[0]), *(name for name in layers if name in shared)])]
    fallback = table(
        f"Share of digits read, {extras[0]} meaningless outputs",
        ["shared", "read"],
        [(", ".join(shared) or "nothing", sum(start) / len(start))],
    )
    value = {"extra": str(extras[0])} | {layer: layer in shared for layer in layers}
    data = {"layers": layers, "extras": [str(extra) for extra in extras], "reads": reads}
    return LiveFigure(__file__, data, value, fallback)
