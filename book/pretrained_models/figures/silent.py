"""Wrong settings that nothing reports: what each of them does to a text that is read."""

from collections.abc import Mapping, Sequence
from itertools import product

import torch

from book.page.live import LiveFigure, table


def silent_figure(
    pieces: Sequence[str],
    mistakes: Sequence[tuple[str, str]],
    runs: Mapping[tuple[bool, ...], tuple[torch.Tensor, float, str]],
) -> LiveFigure:
    """Mistakes that the reader switches on: the loss of every token, and what the model writes.

    Args:
        pieces: the tokens of a text.
        mistakes: for each a short name and what the setting says with it.
        runs: for every choice of mistakes, True where one is made, the losses of all tokens but
            the first, by how much the logits have moved, and what the model writes.

    Raises:
        ValueError: a choice is missing, or losses are as many as they should not be.
    """
    choices = list(product((False, True), repeat=len(mistakes)))
    if set(runs) != set(choices):
        raise ValueError(f"expected a run for each of {len(choices)} choices, got {len(runs)}")
    recorded = {}
    for choice in choices:
        losses, moved, writes = runs[choice]
        if len(losses) != len(pieces) - 1:
            raise ValueError(f"{len(pieces)} tokens have {len(pieces) - 1} losses: {len(losses)}")
        losses = [round(loss, 4) for loss in losses.tolist()]
        key = "".join(str(int(made)) for made in choice)
        recorded[key] = {"losses": losses, "moved": float(moved), "writes": writes}
    names = [{"name": name, "says": says} for name, says in mistakes]
    right = recorded["0" * len(mistakes)]["losses"]
    return LiveFigure(
        __file__,
        {"pieces": list(pieces), "mistakes": names, "runs": recorded},
        {name: False for name, _ in mistakes} | {"token": min(5, len(pieces))},
        table("As published", ["", "mean loss"], [("this text", sum(right) / len(right))]),
    )
