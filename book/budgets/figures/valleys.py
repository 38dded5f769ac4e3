"""Budgets spent on models of several sizes: what each run reached, as the reader spends them."""

from collections.abc import Sequence

from book.page.live import LiveFigure, table


def valleys_figure(
    sizes: Sequence[int],
    bare: Sequence[int],
    budgets: Sequence[float],
    steps: Sequence[Sequence[int]],
    gaps: Sequence[Sequence],
    best: Sequence[float],
    bare_best: Sequence[float],
) -> LiveFigure:
    """The reader spends a budget on a size and sees the loss above the entropy; each run stays.

    Args:
        sizes: parameters of the models, from small to large.
        bare: the same without the embedding.
        budgets: operations, from small to large.
        steps: how many steps each budget buys each size: (budgets, sizes).
        gaps: nats above the entropy: (budgets, runs, sizes).
        best: the best size of each budget, between the measured ones.
        bare_best: the same, in parameters without the embedding.

    Raises:
        ValueError: there are fewer than two budgets or sizes, or the numbers of rows do not fit.
    """
    if min(len(sizes), len(budgets)) < 2 or len(bare) != len(sizes):
        raise ValueError(
            f"expected two sizes and budgets or more, and each size without its embedding; got "
            f"{len(sizes)} sizes, {len(bare)} without, {len(budgets)} budgets"
        )
    lengths = {len(rows) for rows in (steps, gaps, best, bare_best)}
    if lengths != {len(budgets)}:
        raise ValueError(f"{len(budgets)} budgets need as many rows of everything, got {lengths}")
    mean = [[sum(column) / len(column) for column in zip(*runs, strict=True)] for runs in gaps]
    first = min(range(len(sizes)), key=mean[0].__getitem__)
    data = {
        "sizes": list(map(int, sizes)),
        "bare": list(map(int, bare)),
        "budgets": list(map(float, budgets)),
        "steps": [list(map(int, row)) for row in steps],
        "gaps": [[[float(gap) for gap in run] for run in runs] for runs in gaps],
        "best": list(map(float, best)),
        "bareBest": list(map(float, bare_best)),
    }
    rows = [(f"{n:,} parameters", gap) for n, gap in zip(sizes, mean[0], strict=True)]
    return LiveFigure(
        __file__,
        data,
        {"budget": "0", "size": first, "bare": False},
        table(f"Nats above the entropy for {budgets[0]:.1e} operations", ["", "gap"], rows),
    )
