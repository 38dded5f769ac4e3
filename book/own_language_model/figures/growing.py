"""A language model while it learns, beside the best that is possible."""

import math
from collections.abc import Mapping, Sequence

from book.page.live import LiveFigure, table


def growing_figure(
    records: Sequence[Mapping], rivals: Mapping[str, float], floor: float
) -> LiveFigure:
    """The loss of a model at several steps of its training, and what it writes there.

    Args:
        records: two or more, each with "step", "loss" (in nats per token, on fresh sentences) and
            "written", a list of (text, its log-probability in the language, in the model); the
            first of the two is -inf for a sentence that the language does not have.
        rivals: losses to compare with, by name.
        floor: the entropy of the language, in nats per token.

    Raises:
        ValueError: there are fewer than two records.
    """
    if len(records) < 2:
        raise ValueError(f"something grows from record to record: two or more, got {len(records)}")
    data = {
        "records": [
            {"step": record["step"], "loss": float(record["loss"])}
            | {
                "written": [
                    {
                        "text": text,
                        "truth": None if math.isinf(truth) else float(truth),
                        "model": float(model),
                    }
                    for text, truth, model in record["written"]
                ]
            }
            for record in records
        ],
        "rivals": [[name, float(loss)] for name, loss in rivals.items()],
        "floor": float(floor),
    }
    rows = [(f"after {record['step']} steps", record["loss"]) for record in data["records"]]
    caption = f"Loss in nats per token; the best possible is {floor:.2f}"
    return LiveFigure(__file__, data, {"step": 1}, table(caption, ["", "loss"], rows))
