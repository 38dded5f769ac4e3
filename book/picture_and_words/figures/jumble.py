"""Pictures, captions in every order of their words, and the scores of several pairs."""

from collections.abc import Mapping
from itertools import permutations

import torch
from torch import Tensor

from book.page.live import LiveFigure, table
from book.picture_and_words.pairs import INKS, PLACES, Pair, words

FAR = 0.3  # a fall of the score that a goal asks for
ORDERS = [*permutations(range(PLACES))]


@torch.no_grad()
def jumble_figure(pairs: Mapping[str, Pair], rows: Tensor, seen: Tensor) -> LiveFigure:
    """What pairs of encoders say of pictures and captions, whose words can be exchanged.

    Args:
        pairs: two or more, by name; the second reads the order.
        rows: captions (n, 3) of the pictures, two or more.
        seen: the pictures (n, 3, 192).

    Raises:
        ValueError: there is one pair or picture only.
    """
    if len(pairs) < 2 or len(rows) < 2:
        raise ValueError(f"two pairs and pictures are needed, got {len(pairs)} and {len(rows)}")
    ordered = rows[:, torch.tensor(ORDERS)].flatten(0, 1)  # (n * 6, 3)
    shape = len(rows), len(rows), len(ORDERS)
    scores = {
        name: (pair.see(seen) @ pair.read(ordered).T).view(shape) for name, pair in pairs.items()
    }
    grey = seen.unflatten(2, (3, 64)).amax(2)
    data = {
        "pictures": [
            {
                "words": words(row),
                "kinds": row,
                "pixels": [[round(x, 2) for x in d] for d in pixels],
            }
            for row, pixels in zip(rows.tolist(), grey.tolist(), strict=True)
        ],
        "inks": [list(ink) for ink in INKS.values()],
        "orders": [list(order) for order in ORDERS],
        "scores": {
            name: [[[round(x, 4) for x in of] for of in row] for row in found.tolist()]
            for name, found in scores.items()
        },
        "far": FAR,
    }
    value = {"picture": 0, "caption": 1, "order": [*range(PLACES)], "held": -1}
    shown = [(name, found[0][1][0]) for name, found in data["scores"].items()]
    return LiveFigure(__file__, data, value, table("Scores of a caption", ["pair", "score"], shown))
