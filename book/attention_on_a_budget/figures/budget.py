"""What several memories give back, over the bytes that they hold."""

from collections.abc import Mapping

from book.page.live import LiveFigure, table


def budget_figure(
    facts: Mapping[str, Mapping[str, tuple[int, float]]], *, shown: str | None = None
) -> LiveFigure:
    """A dot for each memory, at its bytes and its share right, for several kinds of facts.

    Args:
        facts: by the name of each kind of facts, by that of each memory, the bytes that it holds
            and the share of questions that it answers. The first kind has all memories; another may
            leave out some, not the first.
        shown: the kind of facts that is shown first; None for the first but one.

    Raises:
        ValueError: there are fewer than two kinds, the first memory is missing, or a share is none.
    """
    kinds = list(facts)
    if len(kinds) < 2:
        raise ValueError(f"two kinds of facts at least are to be compared, got {kinds}")
    names = list(facts[kinds[0]])
    for kind, found in facts.items():
        if names[0] not in found or not set(found) <= set(names):
            raise ValueError(
                f"{kind}: it needs {names[0]!r} and may have {names}, got {list(found)}"
            )
        for name, (bytes_held, share) in found.items():
            if not (bytes_held > 0 and 0 <= share <= 1):
                raise ValueError(f"{kind}, {name}: no bytes and share: {bytes_held}, {share}")
    shown = kinds[1] if shown is None else shown
    if shown not in facts:
        raise ValueError(f"shown must be one of {kinds}, got {shown!r}")
    data = {
        "names": names,
        "facts": {kind: {name: list(point) for name, point in found.items()}
                  for kind, found in facts.items()},
    }  # fmt: skip
    rows = [
        (f"{kind}: {name}", bytes_held, float(share))
        for kind in (shown, *(kind for kind in kinds if kind != shown))
        for name, (bytes_held, share) in facts[kind].items()
    ]
    fallback = table("Share right, and the bytes held", ["", "bytes held", "right"], rows)
    return LiveFigure(__file__, data, {"facts": shown}, fallback)
