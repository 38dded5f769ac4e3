"""The numbers of one layer on their way through its heads."""

import torch

from book.page.live import LiveFigure, table
from companion.nn import MultiHeadAttention


@torch.no_grad()
def shapes_figure(layer: MultiHeadAttention, x: torch.Tensor, words: list[str]) -> LiveFigure:
    """A small layer step by step: projected, cut into heads, mapped, averaged, joined, mixed.

    Args:
        layer: without biases; its numbers are shown, so 4 wide with two heads is a good size.
        x: one vector for each word, (T, d_model).
        words: the T words, an odd number of them; the captions follow the one in the middle.

    Raises:
        ValueError: x does not have a row for every word.
    """
    if x.shape != (len(words), layer.d_model):
        raise ValueError(
            f"x must have shape ({len(words)}, {layer.d_model}): a row for every word, "
            f"got {tuple(x.shape)}"
        )
    projections = {"query": layer.q_proj, "key": layer.k_proj, "value": layer.v_proj}
    projections["output"] = layer.out_proj
    data = {name: part.weight.T.tolist() for name, part in projections.items()}
    data |= {"words": words, "x": x.tolist(), "num_heads": layer.num_heads}
    rows = [(word, *row) for word, row in zip(words, x.tolist(), strict=True)]
    fallback = table("The vectors of the words", ["", *map(str, range(1, layer.d_model + 1))], rows)
    value = {"step": 2, "maps": {"guess": None, "shown": False}}
    return LiveFigure(__file__, data, value, fallback)
