"""The trained ViT, reading what is drawn in the page."""

import torch

from book.page.live import LiveFigure, table
from book.page.weights import packed_vit
from companion.models import ViT

LEVELS = 16  # of ink in a pixel


def digit_figure(model: ViT, images: torch.Tensor, labels: torch.Tensor) -> LiveFigure:
    """Draw a digit: its patches, what the ViT answers, and where it looks.

    Args:
        model: a trained `ViT` of grey images, pre-norm, with layer norms, biases and any activation
            but "swiglu".
        images: (N, 1, image_size, image_size) from 0 to 1, examples among which the first of each
            class is taken.
        labels: integers (N,).

    Raises:
        ValueError: the model is configured otherwise, or a weight does not fit into float16.
    """
    first = {int(label): image for label, image in zip(labels.flip(0), images.flip(0), strict=True)}
    examples = [
        {"label": label, "pixels": (LEVELS * first[label]).round().int().flatten().tolist()}
        for label in sorted(first)
    ]
    config = model.config
    data = packed_vit(model) | {"levels": LEVELS, "examples": examples}
    value = {"example": 0, "pixels": examples[0]["pixels"], "brush": "soft", "view": "rollout"}
    value |= {"origin": examples[0]["label"]}  # the digit that the drawing was; -1: none
    value |= {"row": config.image_size // 2, "column": config.image_size // 2}
    shown = torch.tensor(examples[0]["pixels"]).view(1, 1, *[config.image_size] * 2) / LEVELS
    weight = next(model.parameters())
    with torch.no_grad():
        answers = model(shown.to(weight)).softmax(-1)[0].tolist()
    caption = f"What the model answers to a handwritten {examples[0]['label']}"
    fallback = table(caption, ["class", "probability"], enumerate(answers))
    return LiveFigure(__file__, data, value, fallback)
