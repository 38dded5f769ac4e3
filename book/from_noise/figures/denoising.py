"""A picture on its way from noise to a digit, painted in the page by a denoiser."""

import base64
from copy import deepcopy

import torch
from torch import nn

from book.page.live import LiveFigure, packed, table

SIDE, LEVELS, NOISES, ANY = 8, 16, 8, 10
SIGNS = "0123456789abcdefg"  # the levels of grey, for a text of 64 signs per image


def denoising_figure(
    images: torch.Tensor,
    labels: torch.Tensor,
    model: nn.Module | None = None,
    *,
    digit: int = 3,
    seed: int = 0,
) -> LiveFigure:
    """Drag between two noises: the picture at every step, and below it the guess of its end.

    Args:
        images: (N, 1, 8, 8) from 0 to 1, in sixteenths; every digit is among them.
        labels: integers (N,), from 0 to 9.
        model: the chapter's `DiT`, which guesses the clean image from (picture, time, digit); None
            for the best guess over the images, which has no weights.
        digit: what is asked for at the start.
        seed: decides the noises.

    Raises:
        ValueError: the images are of another size or hold other levels, or a digit is missing.
    """
    if images.shape[1:] != (1, SIDE, SIDE):
        raise ValueError(f"images must be (N, 1, {SIDE}, {SIDE}), got {tuple(images.shape)}")
    if set(labels.tolist()) != set(range(10)):
        raise ValueError(f"every digit must be there, got {sorted(set(labels.tolist()))}")
    draw = torch.Generator().manual_seed(seed)
    noises = torch.randn(NOISES, SIDE**2, generator=draw).half().float()
    flat = 2 * images.flatten(1) - 1
    means = torch.stack([flat[labels == number].mean(0) for number in range(10)]).half().float()
    data = {"noises": packed(noises), "means": packed(means)}
    if model is None:
        data |= {"images": as_text(images), "labels": labels.tolist()}
        guess = best_guess(flat, labels)
    else:
        guess = rounded(model).cpu()
        data |= {
            "weights": {name: _bytes(part) for name, part in model.named_parameters()},
            "layers": len(guess.blocks),
            "heads": guess.blocks[0].attention.num_heads,
        }
    value = {"digit": digit, "steps": 8, "between": 0, "pair": 0, "w": 1}
    end = painted(guess, noises[:1], digit, value["steps"]).view(SIDE, SIDE)
    fallback = table(
        f"The picture at the end, a {digit}, from -1 for paper to 1 for ink",
        ["", *(f"column {i + 1}" for i in range(SIDE))],
        [[f"row {i + 1}", *row] for i, row in enumerate(end.tolist())],
    )
    return LiveFigure(__file__, data, value, fallback)


def as_text(images: torch.Tensor) -> list[str]:
    """Each image as a text of one sign per pixel.

    Raises:
        ValueError: a pixel is no sixteenth from 0 to 1.
    """
    levels = LEVELS * images.flatten(1).cpu()
    whole = levels.round().int()
    if (levels - whole).abs().max() > 1e-3 or whole.min() < 0 or whole.max() > LEVELS:
        raise ValueError(f"pixels must be sixteenths from 0 to 1, got {images.flatten()[:5]}")
    return ["".join(SIGNS[level] for level in row) for row in whole.tolist()]


def _levels(parameter: torch.Tensor) -> tuple[torch.Tensor, float]:
    """Whole numbers from -127 to 127, and the step that they are to be multiplied by."""
    numbers = parameter.detach().cpu().double()
    step = numbers.abs().max().item() / 127 or 1.0
    return (numbers / step).round(), step


def _bytes(parameter: torch.Tensor) -> dict:
    """A parameter as JSON, a byte for each number; filters are rows."""
    levels, step = _levels(parameter.flatten(1) if parameter.dim() > 2 else parameter)
    content = base64.b64encode(levels.to(torch.int8).numpy().tobytes()).decode()
    return {"shape": list(levels.shape), "step": step, "int8": content}


@torch.no_grad()
def rounded(model: nn.Module) -> nn.Module:
    """A copy with the weights that the page gets: a byte each, in steps of their own per matrix."""
    model = deepcopy(model)
    for parameter in model.parameters():
        levels, step = _levels(parameter)
        parameter.copy_(levels * step)
    return model


def best_guess(flat: torch.Tensor, labels: torch.Tensor):
    """The guess with the least squared error, where the images (N, 64) are all there is."""

    def guess(z, t, digit):
        rows, t = z.flatten(1), t[:, None]
        distance = (rows[:, None] - t[..., None] * flat).square().sum(-1)
        other = (labels != digit[:, None]) & (digit[:, None] != ANY)
        scores = (-distance / (2 * (1 - t) ** 2)).masked_fill(other, -torch.inf)
        return (scores.softmax(1) @ flat).view_as(z)

    return guess


@torch.no_grad()
def painted(guess, noise: torch.Tensor, digit: int, steps: int, w: float = 1) -> torch.Tensor:
    """The picture (64,) at the end of so many steps from the noise (1, 64), with guidance w."""
    z = noise.view(1, 1, SIDE, SIDE)
    for k in range(steps):
        t = torch.full((1,), k / steps, dtype=z.dtype)
        aim = guess(z, t, torch.tensor([digit]))
        if w != 1:
            plain = guess(z, t, torch.tensor([ANY]))
            aim = plain + w * (aim - plain)
        z = z + (aim - z) / (steps - k)
    return z.flatten()
