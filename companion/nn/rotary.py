"""Rotary positions (RoPE): queries and keys turned by an angle that grows with the position."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from companion.nn.positions import angles, given_or_counted
from companion.validation import (
    require_choice,
    require_even,
    require_features,
    require_number,
    require_positive,
    require_positive_number,
)


@dataclass(frozen=True, kw_only=True)
class RotaryScaling:
    """Slower turns, so that a model can read longer texts than those it was first trained on.

    With `factor` alone, every frequency is divided by it. With `original_len` only slow pairs are,
    which never came far round in the first training; pairs in between are divided by less.

    Args:
        factor: what frequencies are divided by.
        original_len: number of positions of the first training; every pair is slow when None.
        slow_turns: a pair that turns at most so often within original_len is slow.
        fast_turns: a pair that turns at least so often keeps its frequency.

    Raises:
        ValueError: a value is not positive, or fast_turns is not above slow_turns.

    Source: factor alone: Chen et al. 2023, equation 4 (https://arxiv.org/abs/2306.15595); the
    rest: the published code of Llama 3.1 ("llama3" in transformers), after Peng et al. 2023,
    section 3.2 (https://arxiv.org/abs/2309.00071).
    """

    factor: float
    original_len: int | None = None
    slow_turns: float = 1.0
    fast_turns: float = 4.0

    def __post_init__(self) -> None:
        require_positive_number(factor=self.factor, slow_turns=self.slow_turns)
        require_number(fast_turns=self.fast_turns)
        if self.original_len is not None:
            require_positive(original_len=self.original_len)
        if not self.slow_turns < self.fast_turns:
            raise ValueError(
                f"fast_turns must be above slow_turns = {self.slow_turns}, got {self.fast_turns}"
            )

    def __call__(self, frequencies: Tensor) -> Tensor:
        """Radians per position of every pair, as they were, to what they become."""
        if self.original_len is None:
            return frequencies / self.factor
        turns = self.original_len * frequencies / (2 * math.pi)
        kept = ((turns - self.slow_turns) / (self.fast_turns - self.slow_turns)).clamp(0, 1)
        return frequencies * (kept + (1 - kept) / self.factor)


class Rotation(NamedTuple):
    """What turns queries and keys to their positions, as `RotaryEmbedding.rotation` makes it.

    Args:
        cos: of every pair's angle at each position, (T, d_k / 2) or (B, 1, T, d_k / 2).
        sin: likewise.
        pairing: which entries form a pair, as in `RotaryEmbedding`.
    """

    cos: Tensor
    sin: Tensor
    pairing: str

    def turn(self, x: Tensor) -> Tensor:
        """x (B, H, T, d_k), every pair of entries turned by the angle of its position."""
        T, d_k = self.cos.shape[-2], 2 * self.cos.shape[-1]
        if x.shape[-2:] != (T, d_k):
            raise ValueError(
                f"the rotation is that of {T} positions of width {d_k}, but x has shape "
                f"{tuple(x.shape)}; make another with RotaryEmbedding(d_k).rotation(x)"
            )
        # What the wrong pairing does to a trained model:
        # book/positional_encoding/positional_encoding.ipynb#cell-4ea2d8fd
        if self.pairing == "interleaved":
            first, second = x.to(self.cos.dtype).unflatten(-1, (-1, 2)).unbind(-1)
        else:
            first, second = x.to(self.cos.dtype).chunk(2, dim=-1)
        # Scores then depend on the distance alone:
        # book/positional_encoding/positional_encoding.ipynb#cell-97cc41e1
        turned = (first * self.cos - second * self.sin, first * self.sin + second * self.cos)
        if self.pairing == "interleaved":
            return torch.stack(turned, dim=-1).flatten(-2).to(x.dtype)
        return torch.cat(turned, dim=-1).to(x.dtype)


class RotaryEmbedding(nn.Module):
    """Turns pairs of entries of queries and keys by an angle that grows with the position.

    The product of a turned query and a turned key then depends on their distance only. The layer
    holds no table, so it has no length limit and nothing to go out of date.

    Args:
        d_k: width of a query and a key, even.
        base: pair number i turns by base^(-2i / d_k) radians per position.
        pairing: which entries form pair i: "interleaved" takes 2i and 2i + 1 (the paper, GPT-J);
            "half" takes i and i + d_k / 2 (GPT-NeoX, Llama in transformers). The two differ by a
            permutation of the entries, so weights made for one are wrong for the other.
        scaling: a `RotaryScaling` that slows the turns down.

    Raises:
        ValueError: d_k is odd, the base is not positive, or the pairing is unknown.

    Source: Su et al. 2021, section 3.2.2 (https://arxiv.org/abs/2104.09864).
    """

    def __init__(
        self,
        d_k: int,
        *,
        base: float = 10000.0,
        pairing: str = "interleaved",
        scaling: RotaryScaling | None = None,
    ) -> None:
        super().__init__()
        require_even(d_k=d_k)
        require_choice("pairing", pairing, ("interleaved", "half"))
        require_positive_number(base=base)
        if scaling is not None and not callable(scaling):
            raise TypeError(f"scaling must be a RotaryScaling(...) or None, got {scaling!r}")
        self.d_k, self.base, self.pairing, self.scaling = d_k, base, pairing, scaling

    def rotation(
        self, x: Tensor, positions: Tensor | None = None, *, start: int | Tensor = 0
    ) -> Rotation:
        """The `Rotation` of an x (B, ..., T, width) to its positions, (T,) or (B, T).

        All layers of a stack turn alike, so it is made once for them. Left out, positions are
        counted on from `start`, an int or an integer tensor ().
        """
        positions = given_or_counted(positions, x, start)
        dtype = torch.promote_types(x.dtype, torch.float32)
        angle = angles(positions, self.d_k, self.base, dtype, self.scaling)
        if angle.dim() == 3:  # (B, T, d_k / 2) rather than (T, d_k / 2)
            angle = angle[:, None]  # (B, 1, T, d_k / 2): the same for every head
        return Rotation(angle.cos(), angle.sin(), self.pairing)

    def forward(
        self, x: Tensor, positions: Tensor | None = None, *, start: int | Tensor = 0
    ) -> Tensor:
        """Return x (B, H, T, d_k) turned to its positions, (T,) or (B, T).

        Left out, positions are counted on from `start`.
        """
        require_features("x", x, "(B, H, T, d_k)", self.d_k)
        return self.rotation(x, positions, start=start).turn(x)

    def extra_repr(self) -> str:
        scaling = "" if self.scaling is None else f", scaling={self.scaling}"
        return f"d_k={self.d_k}, base={self.base}, pairing={self.pairing!r}{scaling}"
