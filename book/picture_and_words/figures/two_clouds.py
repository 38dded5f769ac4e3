"""The vectors of pictures and captions at several steps of training, in two directions."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from book.page.live import LiveFigure, table
from book.picture_and_words.pairs import gap, told_apart

SHOWN = 60  # pairs of points


def _points(seen: Tensor, read: Tensor) -> Tensor:
    """Points (2, n, 2): along the line through the centres, and along the widest other way."""
    middle = (seen.mean(0) + read.mean(0)) / 2
    along = torch.nn.functional.normalize(seen.mean(0) - read.mean(0), dim=0)
    both = torch.stack([seen, read]) - middle
    rest = both - (both @ along)[..., None] * along
    across = torch.pca_lowrank(rest.flatten(0, 1), q=2)[2][:, 0]
    return torch.stack([both @ along, rest @ across], -1)


def two_clouds_figure(runs: Mapping[str, Sequence[tuple[int, Tensor, Tensor]]]) -> LiveFigure:
    """Two clouds of points, step by step, for each of several runs.

    Args:
        runs: by the scale at the start as text: (step, vectors of pictures (n, d), vectors of
            their captions (n, d)), at the same steps in every run.

    Raises:
        ValueError: the runs have different steps.
    """
    steps = {tuple(step for step, *_ in run) for run in runs.values()}
    if len(steps) != 1:
        raise ValueError(f"every run needs the same steps, got {sorted(steps)}")
    data: dict[str, list[dict]] = {}
    for name, run in runs.items():
        before = None
        for step, seen, read in run:
            points = _points(seen, read)[:, :SHOWN]
            if before is not None and (points[..., 1] * before[..., 1]).sum() < 0:
                points = points * torch.tensor([1.0, -1.0])  # no cloud is turned over
            before = points
            own = (seen @ read.T).argmax(1) == torch.arange(len(seen))
            shown = {"step": step, "gap": gap(seen, read), "apart": told_apart(seen, read)}
            shown |= {"found": own.float().mean().item()}
            shown |= {"points": [[[round(x, 3) for x in p] for p in c] for c in points.tolist()]}
            data.setdefault(name, []).append(shown)
    first = next(iter(data))
    start = data[first][0]
    fallback = table(
        f"At step {start['step']}, scale {first}",
        ["", "number"],
        [("between the centres", start["gap"]), ("a plane knows a picture", start["apart"]),
         ("captions found", start["found"])],
    )  # fmt: skip
    return LiveFigure(__file__, {"runs": data}, {"run": first, "at": 0}, fallback)
