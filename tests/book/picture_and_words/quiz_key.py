"""Right options of the quiz on a picture and its words, computed."""

import torch

from book.picture_and_words import pairs
from book.picture_and_words.checks import _marks, _with_swapped


def choices() -> str:
    random = torch.Generator().manual_seed(0)
    rows = pairs.captions(64, random)
    read = _with_swapped(rows, torch.zeros(64, dtype=torch.long))
    scores = pairs.Pair()(torch.rand(64, 3, 192), read)
    return f"{scores.shape[1]} and {len(scores[:, :64])}"


def scale() -> str:
    p = (100 * torch.tensor([0.3, 0.2], dtype=torch.float64)).softmax(0)
    ratio = (p[0] / p[1]).item()
    return f"About {round(ratio, -3):,.0f} times"


def order() -> str:
    """Whether a reader of bags finds as many of 256 captions."""
    rows = pairs.captions(256, torch.Generator().manual_seed(0))
    bags = len(rows.sort(1).values.unique(dim=0))
    return "Nothing" if bags > 0.97 * len(rows) else "It reads it"


def company() -> str:
    stored = pairs.measured()

    def worst(**asked):
        return min(row["order"] for row in stored if row["asked"] == asked)

    found = {"Three times": worst(steps=1800), "Batch mates": worst(batch="twins")}
    return max(found, key=found.get)


def gap() -> str:
    widest = {
        name: max(row["gap"] for row in pairs.measured() if row["asked"] == asked)
        for name, asked in (
            ("With a scale that started at 14", {"kinds": 60}),
            ("With a scale that started at 100", {"scale": 100.0}),
        )
    }
    closed = [name for name, most in widest.items() if most < 0.15]
    return closed[0] if len(closed) == 1 else "Never"


def tilt() -> str:
    is_yes = torch.arange(100) < 80
    says = torch.cat([torch.arange(80) < 76, torch.arange(20) >= 5])
    here, balanced, _ = _marks(says, is_yes)
    return f"{here:.2f} and {balanced:.2f}".replace("0.", ".")
