"""Changes of a model on trial: a bet on each, then what it did with every seed."""

from collections.abc import Mapping, Sequence

from book.page.live import LiveFigure, table

OUTCOMES = ("better", "no difference", "worse")


def outcome(effects: Sequence[float], limit: float) -> str:
    """What changes of a loss say: better or worse if each is larger than the limit."""
    if max(effects) < -limit:
        return "better"
    return "worse" if min(effects) > limit else "no difference"


def trial_figure(effects: Mapping[str, Sequence[float]], placebo: Sequence[float]) -> LiveFigure:
    """A row for each change: a bet on what it does, and a dot for each seed once they are shown.

    Args:
        effects: by the name of a change, how much it moves the gap (nats per token) for each seed.
        placebo: the same for a change that changes nothing.

    Raises:
        ValueError: there is no change, or not one effect for each seed of the placebo.
    """
    if not effects or {len(placebo)} != {len(values) for values in effects.values()}:
        counts = {name: len(values) for name, values in effects.items()}
        raise ValueError(f"each change needs {len(placebo)} effects, got {counts}")
    limit = 2 * float(max(map(abs, placebo)))
    rows = [("the placebo", placebo), *effects.items()]
    data = {
        "changes": [
            {"name": name, "effects": list(map(float, values)), "outcome": outcome(values, limit)}
            for name, values in rows
        ],
        "outcomes": OUTCOMES,
        "limit": limit,
    }
    fallback = table(
        "Change of the gap, nats per token, for each seed",
        ["change", *(f"seed {i + 1}" for i in range(len(placebo)))],
        [(one["name"], *one["effects"]) for one in data["changes"]],
    )
    return LiveFigure(__file__, data, {"bets": {"guess": {}, "shown": False}}, fallback)
