"""Where a token stands, by formula: waves added to embeddings, biases on scores."""

import math

import torch
from torch import Tensor, nn

from companion.validation import (
    require_even,
    require_features,
    require_integers,
    require_not_negative,
    require_positive,
)


def sinusoidal_encoding(
    length: int, d_model: int, *, device=None, dtype: torch.dtype | None = None
) -> Tensor:
    """The fixed waves of the original Transformer: sine in even columns, cosine in odd ones.

    PE(pos, 2i) = sin(pos / 10000^(2i / d_model)) and PE(pos, 2i + 1) = cos of the same angle.

    Args:
        length: number of positions, from 0.
        d_model: number of columns, even.
        device: where to make the table.
        dtype: of the result; torch's default dtype when left out. Angles are computed in float64
            on CPU and CUDA, elsewhere (MPS has none) in float32.

    Returns:
        (length, d_model).

    Raises:
        ValueError, TypeError: d_model is odd or not positive, the length negative, or one no int.

    Source: Vaswani et al. 2017, section 3.5 (https://arxiv.org/abs/1706.03762).
    """
    require_not_negative(length=length)
    require_even(d_model=d_model)
    encoding = _sinusoids(torch.arange(length, device=device), d_model)
    return encoding.to(torch.get_default_dtype() if dtype is None else dtype)


class SinusoidalPositions(nn.Module):
    """Adds the fixed waves to a sequence of any length; nothing to learn.

    Args:
        d_model: width of the sequence, even.

    Source: Vaswani et al. 2017, section 3.5 (https://arxiv.org/abs/1706.03762).
    """

    def __init__(self, d_model: int) -> None:
        super().__init__()
        require_even(d_model=d_model)
        self.d_model = d_model

    def forward(
        self, x: Tensor, positions: Tensor | None = None, *, start: int | Tensor = 0
    ) -> Tensor:
        """Add to x (B, T, d_model) the waves at positions (T,) or (B, T).

        Left out, positions are counted on from `start`, an int or an integer tensor ().
        """
        require_features("x", x, "(B, T, d_model)", self.d_model)
        positions = given_or_counted(positions, x, start)
        return x + _sinusoids(positions, self.d_model).to(x.dtype)


def alibi_bias(num_heads: int, T: int, S: int | None = None, *, device=None) -> Tensor:
    """A penalty on the scores that grows with distance, at another rate in every head.

    Args:
        num_heads: number of heads H.
        T: number of queries.
        S: number of keys; T when left out. The last query is aligned with the last key.
        device: where to make the bias.

    Returns:
        (H, T, S), to be given as `score_bias`; entry (h, i, j) is -m_h |i + S - T - j|. For H a
        power of two the slopes are m_h = 2^(-8h / H), h from 1; otherwise the remaining heads take
        every second slope of the next power of two.

    Raises:
        ValueError, TypeError: num_heads is not positive, a length negative, or one no int.

    Source: Press et al. 2022, section 3 (https://arxiv.org/abs/2108.12409); the case of other H is
    their published code's.
    """
    require_positive(num_heads=num_heads)
    S = T if S is None else S
    require_not_negative(T=T, S=S)
    power = 2 ** int(math.log2(num_heads))
    slopes = [2 ** (-8 * h / power) for h in range(1, power + 1)]
    slopes += [2 ** (-4 * h / power) for h in range(1, 2 * (num_heads - power), 2)]
    query_at = torch.arange(T, device=device) + S - T
    distance = (query_at[:, None] - torch.arange(S, device=device)).abs()  # (T, S)
    return -torch.tensor(slopes, device=device)[:, None, None] * distance


def given_or_counted(positions: Tensor | None, x: Tensor, start: int | Tensor) -> Tensor:
    """The positions of x (B, ..., T, width): given, (T,) or (B, T), or counted on from `start`."""
    batch, length = x.shape[0], x.shape[-2]
    if positions is None:
        positions = start + torch.arange(length, device=x.device)
    require_integers("positions", positions)
    if positions.shape not in ((length,), (batch, length), (1, length)):
        raise ValueError(
            f"positions must have shape (T,) = ({length},) or (B, T) = ({batch}, {length}), "
            f"got {tuple(positions.shape)}"
        )
    return positions


def angles(positions: Tensor, width: int, base: float, dtype: torch.dtype, scaling=None) -> Tensor:
    """Angle of every pair at every position: position * base^(-2i / width), (..., width / 2)."""
    pair = torch.arange(0, width, 2, device=positions.device, dtype=dtype)
    frequencies = base ** (-pair / width)
    if scaling is not None:
        frequencies = scaling(frequencies)
    return positions[..., None].to(dtype) * frequencies


def _sinusoids(positions: Tensor, d_model: int) -> Tensor:
    """(...) positions -> (..., d_model) waves in float64, or float32 where a device may lack it."""
    dtype = torch.float64 if positions.device.type in ("cpu", "cuda") else torch.float32
    angle = angles(positions, d_model, 10000.0, dtype)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)  # (..., d_model)
