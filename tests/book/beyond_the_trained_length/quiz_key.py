"""Right options of the quiz on lengths beyond the trained one, computed."""

import torch

from companion.nn import RotaryEmbedding, RotaryScaling, alibi_bias
from companion.nn import scaled_dot_product_attention as attention


def cosines(length: int, scaling: RotaryScaling | None = None) -> torch.Tensor:
    """Of every hand of a head 16 wide at every distance, (length, 8)."""
    rope = RotaryEmbedding(16, scaling=scaling)
    return rope.rotation(torch.zeros(1, length, 16, dtype=torch.float64)).cos


def false_twin() -> str:
    apart = cosines(160)[8:125]  # by how much further than 3 a distance is
    found = 3 + 8 + apart[:, :3].mean(1).argmax().item()
    slow = cosines(160)[found - 3, 3:]
    if found == 122 and slow.min() < 0:
        return "The hands that it reads"
    return "The slowest hand is back"


def interpolation() -> str:
    learned, slowed = cosines(160)[3], cosines(160, RotaryScaling(factor=5))
    nearest = (slowed - learned).abs().sum(1).argmin().item()
    return f"{nearest} back, where" if nearest > 3 else "Still 3 back"


def no_positions() -> str:
    words = torch.randn(7, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(7))
    other = words[[3, 0, 5, 2, 4, 1, 6]]  # the last word stays
    last, after = attention(words, words, words)[0][-1], attention(other, other, other)[0][-1]
    return "It could not tell" if torch.allclose(last, after) else "It would look mostly"


def three_back() -> str:
    penalty = -alibi_bias(4, 9)[:, 8]  # (heads, keys): of the last query
    nearer = penalty[:, 6:].amax(-1) < penalty[:, 5]
    return "Its penalty grows with distance" if nearer.all() else "It was trained"
