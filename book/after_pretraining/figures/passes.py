"""How often one of several answers passes, by the number of tries."""

from math import comb

from book.page.live import LiveFigure, table


def passes_figure(stages: dict[str, dict], *, k: int = 1) -> LiveFigure:
    """pass@k of several models over k, estimated without bias from what passed.

    Args:
        stages: by the model's name "trained" and "unseen", how many of the answers to each request
            passed, and "tries", how many answers there were to each. Other entries are left alone.
        k: the number of tries that is shown first.

    Raises:
        ValueError: a model has fewer answers than k, or a request more that passed than there are.
    """
    data = {
        name: {key: stage[key] for key in ("trained", "unseen", "tries")}
        for name, stage in stages.items()
    }
    for name, stage in data.items():
        most = max(*stage["trained"], *stage["unseen"])
        if not 1 <= k <= stage["tries"] or most > stage["tries"]:
            raise ValueError(
                f"{name!r} has {stage['tries']} answers to each request, of which up to {most} "
                f"passed; pass@{k} needs at least {k}"
            )
    rows = [
        (name, *(_mean_pass(stage[which], stage["tries"], k) for which in ("trained", "unseen")))
        for name, stage in data.items()
    ]
    return LiveFigure(
        __file__,
        {"stages": data, "most": min(stage["tries"] for stage in data.values())},
        {"k": k, "which": "trained", "shown": list(data)},
        table(f"pass@{k}", ["", "trained requests", "unseen requests"], rows),
    )


def _mean_pass(counts: list[int], tries: int, k: int) -> float:
    return sum(1 - comb(tries - right, k) / comb(tries, k) for right in counts) / len(counts)
