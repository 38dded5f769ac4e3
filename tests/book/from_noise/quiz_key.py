"""Right options of the quiz on painting from noise, computed."""

import torch
from sklearn.svm import SVC

from book.from_noise.checks import _best_guess, _move
from companion.data import digits


def one_step() -> str:
    """Whether one step from noise ends at the mean of the images, or at one of them."""
    draw = torch.Generator().manual_seed(0)
    images = torch.randn(5, 7, generator=draw)
    noise = torch.randn(1, 7, generator=draw)
    end = _move(noise, _best_guess(noise, 0.0, images), 0.0, 1.0)[0]
    to_mean = (end - images.mean(0)).norm()
    to_one = (end - images).norm(dim=1).min()
    return "The mean of all images" if to_mean < 1e-5 < to_one else "A sharp digit"


def kept_part() -> str:
    """The seventh of eight steps, from a picture 0 to a guess 1."""
    part = _move(torch.zeros(1), torch.ones(1), 6 / 8, 7 / 8).item()
    return {1 / 8: "1/8, as", 7 / 8: "7/8, since", 1 / 2: "1/2, and"}[part]


def classifier() -> str:
    """Whether the mean of each digit is always read as it."""
    images, labels = digits(0)
    held, held_labels = digits(0, "test")
    reader = SVC(C=10).fit(held.flatten(1), held_labels)
    means = torch.stack([images[labels == digit].mean(0).flatten() for digit in range(10)])
    right = (reader.predict(means) == torch.arange(10).numpy()).all()
    return "One that paints the mean of each digit" if right else "None but a good one"


def guidance_zero() -> str:
    """What is left of two guesses with w = 0."""
    plain, asked = 3.0, 5.0
    left = plain + 0 * (asked - plain)
    return {plain: "Some digit", asked: "The digit that was asked for"}[left]


def zero() -> str:
    """What a gated sub-layer adds at the start, and whether its gate still learns."""
    c, added = torch.ones(4), torch.randn(4, generator=torch.Generator().manual_seed(0))
    gate = torch.nn.Linear(4, 4)
    torch.nn.init.zeros_(gate.weight)
    torch.nn.init.zeros_(gate.bias)
    out = gate(c) * added
    out.sum().backward()
    assert gate.weight.grad.abs().max() > 0
    return "So that every block" if out.abs().max() == 0 else "So that no gradient"
