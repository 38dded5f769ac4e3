"""Changes of a model on trial: a bet on each, then what it did with every seed."""

from collections.abc import Mapping, Sequence

from book.page.live import LiveFigure, table

OUTCOMES = ("better", "no difference", "worse")


def trial_figure(effects: Mapping[str, Sequence[float]], bands: Sequence[float]) -> LiveFigure:
    """A row for each change: a bet on what it does, and its effects once they are shown.

    A change is better or worse if the mean of its effects lies outside the band of as many seeds.

    Args:
        effects: by the name of a change, how much it moves the gap (nats per token) for each seed.
        bands: for one seed, two and so on, how far a mean may lie from 0 if nothing was changed.

    Raises:
        ValueError: there is no change, or not one effect for each band.
    """
    if not effects or {len(bands)} != {len(values) for values in effects.values()}:
        counts = {name: len(values) for name, values in effects.items()}
        raise ValueError(f"each change needs {len(bands)} effects, got {counts}")
    data = {
        "changes": [
            {"name": name, "effects": list(map(float, values))} for name, values in effects.items()
        ],
        "outcomes": OUTCOMES,
        "bands": list(map(float, bands)),
    }
    fallback = table(
        "Change of the gap, nats per token, for each seed",
        ["change", *(f"seed {i + 1}" for i in range(len(bands)))],
        [(one["name"], *one["effects"]) for one in data["changes"]],
    )
    value = {"bets": {"guess": {}, "shown": False}, "seeds": len(bands)}
    return LiveFigure(__file__, data, value, fallback)
