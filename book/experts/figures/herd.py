"""The load of each expert, batch by batch and on average."""

from collections.abc import Sequence

from book.page.live import LiveFigure, table


def herd_figure(loads: Sequence[Sequence[float]], *, batch: int = 0) -> LiveFigure:
    """Bars for the experts, of one batch or of the mean of all.

    Args:
        loads: for each batch the share of each expert; shares sum to 1.
        batch: which one is shown first, counted from 0.

    Raises:
        ValueError: there are fewer than two batches, they differ in their experts, the shares of
            one do not sum to 1, or there is no such batch.
    """
    rows = [list(map(float, row)) for row in loads]
    if len(rows) < 2 or len({len(row) for row in rows}) != 1:
        raise ValueError(f"two batches or more of as many experts are needed, got {len(rows)}")
    for i, row in enumerate(rows):
        if abs(sum(row) - 1) > 1e-3:
            raise ValueError(f"shares must sum to 1, those of batch {i} sum to {sum(row):.3f}")
    if not 0 <= batch < len(rows):
        raise ValueError(f"batch must be from 0 to {len(rows) - 1}, got {batch}")
    data = {"loads": [[round(share, 4) for share in row] for row in rows]}
    means = [sum(column) / len(rows) for column in zip(*data["loads"], strict=True)]
    fallback = table(
        f"The share of the questions that each expert gets: the mean of {len(rows)} batches, and "
        "the largest in one batch",
        ["expert", "mean", "largest"],
        [(str(i + 1), mean, max(row[i] for row in data["loads"])) for i, mean in enumerate(means)],
    )
    return LiveFigure(__file__, data, {"view": "mean", "batch": batch}, fallback)
