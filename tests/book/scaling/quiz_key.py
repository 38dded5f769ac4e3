"""Right options of the quiz on text, size and prediction, computed."""

import math

import torch

from book.scaling.checks import _bits_per_character, _fit_power_law


def halved_tokens() -> str:
    text = "x" * 40
    old = _bits_per_character(torch.full((10,), -2.0), text)
    new = _bits_per_character(torch.full((20,), -1.2), text)
    if new <= old:
        return "The new one"
    return "The old one" if math.isclose(new / old, 1.2, rel_tol=1e-4) else "Nobody"


def nats_to_bits() -> str:
    return f"About {_bits_per_character(torch.full((5,), -2.77), 'four' * 5).item():.1f}"


def doubled() -> str:
    small, large = (1.5 + 4 * n**-0.5 for n in (100, 400))
    if math.isclose(large, small / 2):
        return "It halves the loss"
    factor = (small - 1.5) / (large - 1.5)
    return {2.0: "It halves the distance", 4.0: "It divides"}[round(factor, 6)]


def floor_at_fixed_data() -> str:
    """The floor that is fitted to many sizes."""
    sizes = [100.0 * 2**i for i in range(8)]
    losses = [1.4 + 40 * n**-0.5 + 10 * 1000 ** (-1 / 3) for n in sizes]
    floor, _, _ = _fit_power_law(sizes, losses, [i / 20 for i in range(60)])
    return f"{floor:.1f}"


def many_floors() -> str:
    """Points near two laws of different floors; how far apart these are near, and far away."""
    n = torch.tensor([100.0, 200, 400])
    points = 1.5 + 3 * (n / 100) ** -0.7
    slope = torch.linalg.lstsq(
        torch.stack([torch.ones(3), n.log()], 1), (points - 0.7).log()[:, None]
    ).solution[:, 0]

    def other(size):
        return 0.7 + slope[0].exp() * size ** slope[1]

    both_pass = (other(n) - points).abs().max() < 0.05
    near = abs(other(torch.tensor(800.0)) - (1.5 + 3 * 8**-0.7))
    return "That these points do not" if both_pass and near < 0.3 else "That predictions"
