"""Right options of the quiz on positions, computed."""

import torch

from companion.nn import RotaryEmbedding, alibi_bias, sinusoidal_encoding
from companion.nn import scaled_dot_product_attention as attention


def random_words() -> torch.Tensor:
    return torch.randn(7, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(7))


def reordered() -> str:
    words, order = random_words(), torch.tensor([3, 0, 6, 2, 5, 1, 4])
    before, after = (attention(x, x, x)[0] for x in (words, words[order]))
    if torch.allclose(after, before):
        return "They do not change at all"
    return "They are reordered" if torch.allclose(after, before[order]) else "They change"


def the_leak() -> str:
    words, order = random_words(), torch.tensor([3, 0, 6, 2, 5, 1, 4])
    before, after = (attention(x, x, x, is_causal=True)[0] for x in (words, words[order]))
    return "Yes" if torch.allclose(after, before[order]) else "No"


def shift() -> str:
    waves = sinusoidal_encoding(2000, 16, dtype=torch.float64)
    found = torch.linalg.lstsq(waves[:500], waves[3:503]).solution

    def error(start: int) -> float:
        places = torch.arange(start, start + 400)
        return (waves[places] @ found - waves[places + 3]).abs().max().item()

    if error(0) > 1e-5:
        return "There is no such matrix"
    return "On the 3 alone" if error(1500) < 1e-5 else "On the 3 and on p"


def same_distance() -> str:
    rope = RotaryEmbedding(8)
    query, key = torch.randn(2, 1, 1, 1, 8, dtype=torch.float64)

    def score(i: int, j: int) -> float:
        return (rope(query, torch.tensor([i])) * rope(key, torch.tensor([j]))).sum().item()

    pairs = ((4, 9), (109, 104), (18, 8))
    same = [pair for pair in pairs if abs(score(*pair) - score(9, 4)) < 1e-9]
    return f"{same[0][0]} and {same[0][1]}" if len(same) == 1 else "None"


def wrong_pairing() -> str:
    """With another pairing nothing stops, and the score of two words changes with their place."""
    query, key = torch.randn(2, 1, 1, 1, 8, dtype=torch.float64)
    turn_query, turn_key = RotaryEmbedding(8), RotaryEmbedding(8, pairing="half")

    def score(i: int, j: int) -> float:
        return (
            (turn_query(query, torch.tensor([i])) * turn_key(key, torch.tensor([j]))).sum().item()
        )

    moved = abs(score(4, 2) - score(3, 1)) > 1e-3
    return "It runs, and answers worse" if moved else "Nothing"


def alibi_learns() -> str:
    bias = alibi_bias(4, 9)
    again = torch.equal(bias, alibi_bias(4, 9)) and not bias.requires_grad
    return "None" if again else "One rate for every head"
