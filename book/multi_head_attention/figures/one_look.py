"""Six stories seen through one row of weights, or through two."""

import torch

from book.page.live import LiveFigure, table


def one_look_figure() -> LiveFigure:
    """What one average can tell of who did it to whom: the reader splits the row of the verb.

    The values of the three nouns say which noun it is and nothing of its role.
    """
    nouns = ["dog", "man", "cat"]
    values = torch.eye(3)
    data = {"nouns": nouns, "verb": "bites", "values": values.tolist()}
    value = {"weight": 0.75, "second": False, "other": 0.25, "ask": "whom"}
    row = torch.tensor([value["weight"], 1 - value["weight"]])
    rows = [
        (f"{nouns[subject]} bites {nouns[object_]}", *(row @ values[[subject, object_]]).tolist())
        for subject, object_ in ((0, 1), (1, 0))
    ]
    fallback = table("What the verb receives", ["", *nouns], rows)
    return LiveFigure(__file__, data, value, fallback)
