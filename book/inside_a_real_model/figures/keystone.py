"""One number of a language model's stream, turned down."""

from collections.abc import Mapping, Sequence

import torch

from book.page.live import LiveFigure, packed, table


def keystone_figure(
    first: torch.Tensor,
    other: torch.Tensor,
    factors: Sequence[float],
    losses: Sequence[float],
    stories: Mapping[str, Sequence[str]],
    *,
    block: int,
    even: float,
) -> LiveFigure:
    """Turn the largest number of the first token down: the loss, and what the model writes.

    Args:
        first: the vector (d_model,) of the first token after the block.
        other: that of another token, to compare.
        factors: what the largest number of `first` is multiplied by, 1 to begin with.
        losses: the loss for each of them.
        stories: for each beginning of a text, how the model goes on, for each factor.
        block: after which block.
        even: the loss of an even guess over the vocabulary.

    Raises:
        ValueError: there is not one loss and one continuation of each text for every factor.
    """
    factors, losses = [float(x) for x in factors], [float(x) for x in losses]
    if any(len(rows) != len(factors) for rows in (losses, *stories.values())) or not stories:
        raise ValueError(
            f"each of {len(factors)} factors needs a loss and a continuation of every text, got "
            f"{len(losses)} losses and {[len(rows) for rows in stories.values()]} continuations"
        )
    data = {"first": packed(first), "other": packed(other), "factors": factors, "losses": losses}
    data |= {"dimension": int(first.abs().argmax()), "block": block, "even": float(even)}
    data |= {"stories": {prompt: list(rows) for prompt, rows in stories.items()}}
    value = {"level": 0, "token": "first", "prompt": next(iter(stories))}
    rows = [(f"{factor:g}", loss) for factor, loss in zip(factors, losses, strict=True)]
    fallback = table("The loss with one number turned down", ["times", "loss, nats"], rows)
    return LiveFigure(__file__, data, value, fallback)
