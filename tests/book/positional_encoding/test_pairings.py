"""RoPE comes in two pairings, and `checks.rotate` takes either."""

import torch

from book.positional_encoding.checks import rotate


def slow_halves(x, positions):
    angle = positions[:, None] * 1000.0 ** (-torch.arange(0, x.shape[1], 2) / x.shape[1])
    a, b = x.chunk(2, dim=1)
    return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], dim=1)


def test_an_answer_in_halves_is_shown_the_numbers_of_halves():
    """The first pair of d_k = 4 is right: only the second turns by another speed."""
    lines = rotate(slow_halves).example.splitlines()[-2:]
    expected, yours = (torch.tensor(eval(line.partition(" = ")[2])) for line in lines)
    assert torch.equal(expected[0, [0, 2]], yours[0, [0, 2]])
    assert not torch.equal(expected[0, [1, 3]], yours[0, [1, 3]])
