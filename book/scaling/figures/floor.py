"""A power law with a floor, through the losses of a few sizes and on to the next."""

from collections.abc import Sequence

from book.page.live import LiveFigure, table


def floor_figure(
    sizes: Sequence[int],
    losses: Sequence[float],
    next_size: tuple[int, float],
    entropy: float,
    *,
    tolerance: float,
    apart: float,
) -> LiveFigure:
    """The reader drags the floor of a fit, sees which floors pass, and then the next size.

    Args:
        sizes: parameters of the models that are fitted, from small to large, two or more.
        losses: their losses.
        next_size: parameters and loss of the model that is to be predicted.
        entropy: the loss of the best possible model, shown with the next size.
        tolerance: how near to all points a curve that passes is, in units of the losses.
        apart: how far apart, in the same units, the two floors are that a goal asks for.

    Raises:
        ValueError: sizes and losses are of different number, or fewer than two, or not in order.
    """
    if len(sizes) != len(losses) or len(sizes) < 2:
        raise ValueError(
            f"expected as many losses as sizes, two or more; got {len(sizes)} sizes and "
            f"{len(losses)} losses"
        )
    if list(sizes) != sorted(sizes) or next_size[0] <= sizes[-1]:
        raise ValueError(f"expected growing sizes, got {[*sizes, next_size[0]]}")
    highest = int(100 * min(losses)) / 100
    data = {
        "sizes": [int(n) for n in sizes],
        "losses": [float(loss) for loss in losses],
        "next": {"size": int(next_size[0]), "loss": float(next_size[1])},
        "entropy": float(entropy),
        "range": [round(highest - 1.0, 2), highest],
        "tolerance": tolerance,
        "apart": apart,
    }
    rows = [(f"{n:,} parameters", loss) for n, loss in zip(sizes, data["losses"], strict=True)]
    return LiveFigure(
        __file__,
        data,
        {"floor": round(highest - 0.5, 2), "exponent": 0.5, "auto": False}
        | {"shown": False, "guess": None},
        table(f"Loss by size; the entropy is {entropy:.2f}", ["", "loss"], rows),
    )
