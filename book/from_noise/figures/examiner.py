"""The reader as an examiner: two pictures of a digit, one of which a person has drawn."""

from collections.abc import Mapping

import torch

from book.from_noise.figures.denoising import as_text
from book.page.live import LiveFigure, table

ROUNDS = 20


def examiner_figure(
    real: torch.Tensor,
    real_labels: torch.Tensor,
    painters: Mapping[str, tuple[torch.Tensor, float]],
    labels: torch.Tensor,
    *,
    seed: int = 0,
) -> LiveFigure:
    """Which of two pictures is real? Twenty pairs for each painter, and a classifier's score.

    Args:
        real: (N, 1, 8, 8) from 0 to 1, in sixteenths, drawn by people.
        real_labels: integers (N,).
        painters: {name: (pictures, share)}: pictures (M, 1, 8, 8), and the share of pictures on
            which a classifier that tells painted from real is right.
        labels: integers (M,), what the pictures of every painter should show.
        seed: decides the pairs and their sides.

    Raises:
        ValueError: there is no painter, or a pixel is no sixteenth.
    """
    if not painters:
        raise ValueError("the examiner needs at least one painter")
    draw = torch.Generator().manual_seed(seed)
    data = []
    for name, (pictures, share) in painters.items():
        chosen = torch.randperm(len(pictures), generator=draw)[:ROUNDS]
        pairs = []
        for i in chosen.tolist():
            same = (real_labels == labels[i]).nonzero()[:, 0]
            drawn = real[same[torch.randint(len(same), (1,), generator=draw)]]
            side = torch.randint(2, (1,), generator=draw).item()
            painted, handmade = as_text(pictures[i : i + 1])[0], as_text(drawn)[0]
            pairs.append({"painted": painted, "real": handmade, "side": side})
        data.append({"name": name, "share": share, "pairs": pairs})
    fallback = table(
        "How often a classifier is right that tells painted from real",
        ["painter", "share right"],
        [[painter["name"], float(painter["share"])] for painter in data],
    )
    value = {"painter": data[0]["name"], "answers": {painter["name"]: [] for painter in data}}
    return LiveFigure(__file__, {"painters": data}, value | {"shown": False}, fallback)
