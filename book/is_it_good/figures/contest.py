"""A model and damaged copies of it on the same questions, asked and scored in several ways."""

import random
from collections.abc import Mapping, Sequence

from book.page.live import LiveFigure, table

DRAWS = 8  # orders of the questions that the reader can draw


def contest_figure(
    right: Mapping[str, Mapping[str, Mapping[str, Sequence[bool]]]],
    *,
    form: str,
    scorer: str,
    copy: str | None = None,
) -> LiveFigure:
    """Bars of two copies; the reader chooses how they are asked and scored, and how often.

    Args:
        right: right[form][scorer][copy] says of each question whether it was answered rightly. The
            first copy is the whole model; there are two others.
        form: the form that is shown first.
        scorer: the scorer that is shown first.
        copy: the damaged copy that is shown first; the second one when left out.

    Raises:
        ValueError: there are not three copies, or their answers differ in number.
    """
    cases = [case for scorers in right.values() for case in scorers.values()]
    copies = list(right[form][scorer])
    if len(copies) != 3 or any(list(case) != copies for case in cases):
        raise ValueError(f"three copies are compared, the same in every case; got {copies}")
    lengths = {len(answers) for case in cases for answers in case.values()}
    if len(lengths) != 1:
        raise ValueError(f"all answer the same questions, got {sorted(lengths)} answers")
    [count] = lengths
    rng = random.Random(0)
    orders = [rng.sample(range(count), count) for _ in range(DRAWS)]
    bits = {
        name: {
            by: {who: "".join(str(int(hit)) for hit in hits) for who, hits in case.items()}
            for by, case in scorers.items()
        }
        for name, scorers in right.items()
    }
    rows = [
        [f"{name}, {by}", *(sum(map(int, hits)) for hits in case.values())]
        for name, scorers in right.items()
        for by, case in scorers.items()
    ]
    shown = next(row for row in rows if row[0] == f"{form}, {scorer}")
    rows = [shown, *(row for row in rows if row is not shown)]
    fallback = table(f"Right answers of {count}", ["asked as, scored by", *copies], rows)
    value = {"form": form, "scorer": scorer, "copy": copy or copies[1], "count": count, "order": 0}
    return LiveFigure(
        __file__, {"copies": copies, "right": bits, "orders": orders}, value, fallback
    )
