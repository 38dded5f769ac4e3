"""Which expert each of 256 questions gets, and who is turned away where room is scarce."""

from collections.abc import Mapping, Sequence
from math import ceil

from book.page.live import LiveFigure, table

SIDE, COUNT = 16, 8
ROOMS = (0.75, 1.0, 1.25, 1.5, 2.0, 3.0)


def routing_figure(
    views: Mapping[str, Sequence[int]], *, names: tuple[str, str] = ("domain", "key")
) -> LiveFigure:
    """A square of 16 x 16 questions for each router, with a limit to what an expert takes.

    Args:
        views: by the name of a router, the expert (0 to 7) of each question, row by row.
        names: what rows and columns are.

    Raises:
        ValueError: there are fewer than two routers, or not 256 experts from 0 to 7 for each.
    """
    lists = {name: list(map(int, experts)) for name, experts in views.items()}
    if len(lists) < 2 or any(
        len(experts) != SIDE**2 or not set(experts) <= set(range(COUNT))
        for experts in lists.values()
    ):
        sizes = {name: len(experts) for name, experts in lists.items()}
        raise ValueError(
            f"two routers or more are needed, with {SIDE**2} experts from 0 to {COUNT - 1} for "
            f"each; got {sizes}"
        )
    data = {
        "views": {name: "".join(map(str, experts)) for name, experts in lists.items()},
        "rooms": ROOMS,
        "names": names,
    }
    value = {"view": next(iter(lists)), "room": len(ROOMS), "order": "rows"}
    rows = []
    for name, experts in lists.items():
        counts = [experts.count(i) for i in range(COUNT)]
        over = sum(max(0, n - ceil(SIDE**2 / COUNT)) for n in counts)
        rows.append((name, *map(str, counts), str(over)))
    fallback = table(
        "Questions of each expert, and how many are turned away at room 1",
        ["router", *(f"expert {i + 1}" for i in range(COUNT)), "turned away"],
        rows,
    )
    return LiveFigure(__file__, data, value, fallback)
