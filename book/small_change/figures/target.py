"""What a student may be told after a prefix, and how far each target brings it."""

from collections.abc import Mapping, Sequence

from book.page.live import LiveFigure, table

SHOWN = 4  # words that can come


def target_figure(
    prefix: str,
    words: Sequence[str],
    told: Mapping[str, Sequence[float]],
    sizes: Sequence[int],
    gaps: Mapping[str, Sequence[float | None]],
) -> LiveFigure:
    """Targets after one prefix, and the students that they make.

    Args:
        prefix: what has been read.
        words: the vocabulary.
        told: by the name of a target the probability of every word; the true one is "truth".
        sizes: numbers of sentences that students learned from.
        gaps: for each target, and each of these numbers, how far its student ended from the truth;
            None where it was not tried. At every size one is known.

    Raises:
        ValueError: there is no target "truth", or the numbers do not belong together.
    """
    lengths = {len(row) for row in told.values()} | {len(words)}
    counts = {len(row) for row in gaps.values()} | {len(sizes)}
    if "truth" not in told or set(told) != set(gaps) or len(lengths) != 1 or len(counts) != 1:
        raise ValueError(
            f"targets with the name 'truth' among them and {len(words)} probabilities and "
            f"{len(sizes)} gaps each are needed, got {[*told]} and {[*gaps]} with {lengths} "
            f"probabilities and {counts} gaps"
        )
    truth = told["truth"]
    order = sorted(range(len(words)), key=lambda i: -truth[i])
    shown = [i for i in order[:SHOWN] if truth[i] > 0]
    others = [i for i in order[SHOWN:] if truth[i] > 0]
    wrong = [i for i in order if truth[i] == 0]
    rows = [
        *((words[i], [i]) for i in shown),
        ("other words that can come", others),
        ("words that cannot come", wrong),
    ]
    data = {
        "prefix": prefix,
        "words": [name for name, _ in rows],
        "told": {
            name: [float(sum(p[i] for i in group)) for _, group in rows] for name, p in told.items()
        },
        "sizes": list(sizes),
        "gaps": {name: list(gaps[name]) for name in told},
    }
    first = next(iter(told))
    fallback = table(
        f"Nats a word from the truth, after {sizes[0]} sentences",
        ["target", "gap"],
        [(name, row[0]) for name, row in data["gaps"].items()],
    )
    return LiveFigure(__file__, data, {"target": first, "size": 0}, fallback)
