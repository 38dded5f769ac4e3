"""Two layers of attention, and the wires from the first to the second, to be cut."""

from collections.abc import Mapping

from book.page.live import LiveFigure, table

NAMES = {"q": "queries", "k": "keys", "v": "values"}
CUTS = ("q", "", "k", "v", "qk", "qv", "kv", "qkv")  # the one that it opens on first


def wires_figure(losses: Mapping[str, float], *, even: float) -> LiveFigure:
    """Click the wires that carry layer 1 to the queries, keys and values of layer 2.

    Args:
        losses: the loss without the wires, for "", "q", "k", "v", "qk", "qv", "kv" and "qkv".
        even: the loss of an even guess.

    Raises:
        ValueError: a cut has no loss, or there is one of something else.
    """
    if set(losses) != set(CUTS):
        raise ValueError(f"a loss for each of {sorted(CUTS)} is needed, got {sorted(losses)}")
    rows = [
        (" and ".join(NAMES[letter] for letter in cut) or "nothing", float(losses[cut]))
        for cut in CUTS
    ]
    data = {"losses": {cut: float(losses[cut]) for cut in CUTS}, "even": float(even)}
    fallback = table("The loss without these wires", ["cut", "loss, nats"], rows)
    return LiveFigure(__file__, data, {"cut": "q"}, fallback)
