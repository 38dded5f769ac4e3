"""One image on its way through a trained ViT, step by step."""

import torch

from book.page.live import LiveFigure, table
from companion.models import ViT

DIGITS = 4  # decimals of the numbers that travel
ROW = 2  # the step that shows the patches one after the other


@torch.no_grad()
def patches_figure(model: ViT, images: torch.Tensor, labels: torch.Tensor) -> LiveFigure:
    """Image, patches, projection, class token and positions, blocks, head: one scene.

    The page gets what the model computed, and no weights.

    Args:
        model: a trained `ViT` of grey images with at least one block.
        images: (N, 1, image_size, image_size) from 0 to 1.
        labels: integers (N,).

    Raises:
        ValueError: the images are not grey.
    """
    config = model.config
    if config.channels != 1:
        raise ValueError(f"the figure shows grey images, got {config.channels} channels")
    images = images.to(next(model.parameters()))
    data = {
        "image_size": config.image_size,
        "patch_size": config.patch_size,
        "heads": config.num_heads,
        "positions": _rounded(model.positions.weight),
        "examples": [
            _followed(model, image[None]) | {"label": int(label)}
            for image, label in zip(images, labels, strict=True)
        ],
    }
    first = data["examples"][0]
    caption = f"What the model answers to a handwritten {first['label']}"
    fallback = table(caption, ["class", "probability"], enumerate(first["probabilities"]))
    value = {"step": ROW, "example": 0, "patch": 6}
    return LiveFigure(__file__, data, value, fallback)


def _followed(model: ViT, image: torch.Tensor) -> dict:
    """Pixels, token vectors at every stage, [CLS]'s weights in every block, and the answer."""
    cls = model.cls_token.expand(1, -1, -1)
    stages = [torch.cat([cls, model.patch_embedding(image)], dim=1)]
    stages.append(model.positions(stages[0]))
    looks = []
    for block in model.blocks:
        x, weights = block(stages[-1], need_weights=True)
        stages.append(x)
        looks.append(weights[0, :, 0].mean(0))  # (T,), the mean over heads
    return {
        "pixels": _rounded(image.flatten()),
        "stages": [_rounded(stage[0]) for stage in stages],
        "looks": [_rounded(look) for look in looks],
        "probabilities": _rounded(model(image).softmax(-1)[0]),
    }


def _rounded(tensor: torch.Tensor) -> list:
    return (tensor.double() * 10**DIGITS).round().div(10**DIGITS).tolist()
