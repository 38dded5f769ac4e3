"""How tokens and their positions become learned vectors."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from companion.nn.positions import given_or_counted
from companion.validation import (
    require_choice,
    require_features,
    require_in_range,
    require_positive,
)


def look_up(name: str, ids: Tensor, table: Tensor, remedy: str) -> Tensor:
    """Rows `ids` (...) of a table (size, d_model), as (..., d_model); wrong ids are named."""
    if isinstance(ids, Tensor) and ids.is_meta and not table.is_meta:  # torch looks up noise
        raise ValueError(
            f"{name} are on the meta device, which holds no values, but the weights are on "
            f"{table.device}; make the ids there"
        )
    try:
        return F.embedding(ids, table)
    except (IndexError, RuntimeError, TypeError):  # right ids cost no look
        require_in_range(name, ids, len(table), remedy)
        raise


class TokenEmbedding(nn.Module):
    """One learned vector per token of the vocabulary.

    Args:
        vocab_size: number of tokens.
        d_model: width of a vector.
        scale: multiply by sqrt(d_model), as the original Transformer does (GPT and BERT do not).

    `weight` (vocab_size, d_model) starts normal with standard deviation 1 / sqrt(d_model), so that
    it can also serve as the output matrix.

    Source: Vaswani et al. 2017, section 3.4 (https://arxiv.org/abs/1706.03762).
    """

    def __init__(self, vocab_size: int, d_model: int, *, scale: bool = True) -> None:
        super().__init__()
        require_positive(vocab_size=vocab_size, d_model=d_model)
        require_choice("scale", scale, (True, False))  # no factor of one's own
        self.vocab_size, self.d_model = vocab_size, d_model
        self.scale = math.sqrt(d_model) if scale else 1.0
        # Tied and of size one, it starts confidently wrong:
        # book/full_model/full_model.ipynb#cell-claim-scale
        self.weight = nn.Parameter(torch.empty(vocab_size, d_model).normal_(std=d_model**-0.5))

    def forward(self, token_ids: Tensor) -> Tensor:
        """Look up integer token_ids (...) and return their vectors (..., d_model).

        Raises:
            ValueError: an id is not in [0, vocab_size) (checked on the CPU only).
            TypeError: the ids are not integers.
        """
        vectors = look_up("token_ids", token_ids, self.weight, "is vocab_size the tokenizer's?")
        return vectors if self.scale == 1.0 else vectors * self.scale


class LearnedPositions(nn.Module):
    """Adds one learned vector per position, up to a fixed number of positions.

    Args:
        max_len: number of positions that have a vector.
        d_model: width of the sequence.

    Source: Gehring et al. 2017, section 3.1 (https://arxiv.org/abs/1705.03122).
    """

    def __init__(self, max_len: int, d_model: int) -> None:
        super().__init__()
        require_positive(max_len=max_len, d_model=d_model)
        self.max_len, self.d_model = max_len, d_model
        self.weight = nn.Parameter(torch.empty(max_len, d_model).normal_(std=0.02))

    def forward(
        self, x: Tensor, positions: Tensor | None = None, *, start: int | Tensor = 0
    ) -> Tensor:
        """Add to x (B, T, d_model) the vectors of positions (T,) or (B, T).

        Left out, positions are counted on from `start`, an int or an integer tensor ().

        Raises:
            ValueError: a position is not in [0, max_len) (tensors are checked on the CPU only).
            TypeError: positions are not integers.
        """
        require_features("x", x, "(B, T, d_model)", self.d_model)
        if positions is not None or isinstance(start, Tensor):
            positions = given_or_counted(positions, x, start)
            remedy = "build a layer with a larger max_len"
            return x + look_up("positions", positions, self.weight, remedy)
        stop = start + x.shape[1]
        if start < 0 or stop > self.max_len:
            raise ValueError(
                f"positions {start} to {stop - 1} are needed, but only max_len = {self.max_len} "
                "are learned; shorten the sequence or build a layer with a larger max_len"
            )
        return x + self.weight[start:stop]
