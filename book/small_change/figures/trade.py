"""What several ways to train a model have left to learn, and have forgotten."""

from collections.abc import Mapping, Sequence

from book.page.live import LiveFigure, table


def trade_figure(
    methods: Mapping[str, Mapping[float, Sequence[Sequence[float]]]],
    *,
    method: str,
    at: int = 0,
    reference: str,
) -> LiveFigure:
    """The path of every run through the plane of learning and forgetting.

    Args:
        methods: by name and learning rate, slowest first, the path of a run: pairs of what is left
            to learn and what is forgotten, in nats, from the start to the last step.
        method, at: which run is lit first, its rate counted from 0.
        reference: the method that the goals ask the reader to beat.

    Raises:
        ValueError: there is no such run or method.
    """
    if method not in methods or reference not in methods or not 0 <= at < len(methods[method]):
        raise ValueError(
            f"there is no run {at} of {method!r}, or no method {reference!r}, among "
            f"{ {name: len(runs) for name, runs in methods.items()} }"
        )
    runs = {
        name: [
            {"rate": rate, "path": [[float(x) for x in pair] for pair in path]}
            for rate, path in by_rate.items()
        ]
        for name, by_rate in methods.items()
    }
    left, lost = runs[method][at]["path"][-1]
    fallback = table(
        f"{method}, learning rate {runs[method][at]['rate']:g}",
        ["after the last step", "nats"],
        [("left to learn", left), ("forgotten", lost)],
    )
    data = {"methods": runs, "reference": reference}
    return LiveFigure(__file__, data, {"method": method, "at": at}, fallback)
