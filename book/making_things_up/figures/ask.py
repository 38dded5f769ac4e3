"""All 4,096 names of the world, and what the model answers about each as it is trained."""

import base64
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from book.page.live import LiveFigure, table

SHOWN = 3  # answers whose probabilities a figure has, the likeliest first


def ask_figure(
    names: tuple[Sequence[str], Sequence[str]],
    answers: Sequence[str],
    told: Tensor,
    truth: Tensor,
    beliefs: Mapping[int, Tensor],
    *,
    person: tuple[int, int],
) -> LiveFigure:
    """A square of names, one of which is asked about.

    Args:
        names: the first names and the last names; a name's number is that of the first times the
            number of last names, plus that of the last.
        answers: what can be answered.
        told: how often the model was told of each name, (names,); -1 where it is nobody's.
        truth: the right answer to each, (names,).
        beliefs: by the number of epochs, the answers' probabilities, (names, answers).
        person: the first and the last name that are asked about first.

    Raises:
        ValueError: the sizes do not go together, or a number does not fit into a byte.
    """
    count = len(names[0]) * len(names[1])
    sizes = {len(told), len(truth), *(len(b) for b in beliefs.values())}
    widths = {b.shape[1] for b in beliefs.values()}
    if sizes != {count} or widths != {len(answers)} or len(answers) > 256:
        raise ValueError(
            f"{count} names and {len(answers)} answers (256 at most) need tensors of these sizes; "
            f"got {sorted(sizes)} names and {sorted(widths)} answers"
        )
    best = {epoch: b.topk(SHOWN) for epoch, b in beliefs.items()}
    data = {
        "firsts": list(names[0]),
        "lasts": list(names[1]),
        "answers": list(answers),
        "told": _bytes(told.clamp(max=2) + 1),
        "truth": _bytes(truth),
        "epochs": [
            [str(e), _bytes(b.indices), _bytes((255 * b.values).round())] for e, b in best.items()
        ],
    }
    first, last = person
    at = first * len(names[1]) + last
    epoch = max(beliefs)
    rows = [
        [answers[i], round(255 * p) / 255]
        for i, p in zip(*(x[at].tolist() for x in reversed(best[epoch])), strict=True)
    ]
    fallback = table(f"{names[0][first]} {names[1][last]}", ["answer", "probability"], rows)
    value = {"first": first, "last": last, "epoch": str(epoch), "shade": "told"}
    return LiveFigure(__file__, data, value, fallback)


def _bytes(numbers: Tensor) -> str:
    return base64.b64encode(numbers.to(torch.uint8).contiguous().numpy().tobytes()).decode()
