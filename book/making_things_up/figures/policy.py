"""What a threshold scores under marks that punish wrong answers, for a model at several stages."""

from collections.abc import Mapping, Sequence

from book.page.live import LiveFigure, table


def policy_figure(
    stages: Mapping[int, Mapping[str, Sequence[float]]],
    *,
    stage: int,
    t: float,
    threshold: float,
) -> LiveFigure:
    """The score over the threshold, where a wrong answer costs t / (1 - t) and a refusal nothing.

    Args:
        stages: by the number of epochs, the shares of all questions that are answered rightly and
            wrongly, {"right": ..., "wrong": ...}, by a model that refuses wherever it is not surer
            than a threshold; the thresholds are 0 to 1 in equal steps, both ends included.
        stage: the stage that is shown first.
        t: the marks at first, from 0 (wrong answers cost nothing) to 0.9.
        threshold: where the reader's threshold stands at first.

    Raises:
        ValueError: the lists differ in length, or there is no such stage.
    """
    lengths = {len(curve) for way in stages.values() for curve in way.values()}
    if len(lengths) != 1 or stage not in stages:
        raise ValueError(
            f"stages with lists of one length are needed, {stage} among them; got stages "
            f"{list(stages)} and lengths {sorted(lengths)}"
        )
    [count] = lengths
    rounded = {
        str(e): {name: [round(x, 4) for x in curve] for name, curve in way.items()}
        for e, way in stages.items()
    }
    at = round(threshold * (count - 1))
    cost = t / (1 - t)
    now = rounded[str(stage)]
    scores = [r - cost * w for r, w in zip(now["right"], now["wrong"], strict=True)]
    rows = [
        [f"surer than {at / (count - 1):.2f}", scores[at]],
        [f"surer than t = {t:.2f}", scores[round(t * (count - 1))]],
        ["the best threshold", max(scores)],
    ]
    fallback = table(f"scores after {stage} epochs", ["who answers", "score"], rows)
    value = {"stage": str(stage), "t": t, "at": at}
    return LiveFigure(__file__, {"stages": rounded}, value, fallback)
