"""The trained ViT, reading what is drawn in the page."""

import torch

from companion.models import ViT
from companion.page.live import LiveFigure, packed, table

LEVELS = 16  # of ink in a pixel
NEEDED = {"channels": 1, "norm_first": True, "norm": "layer", "bias": True}


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
    config = model.config
    for name, needed in NEEDED.items():
        if getattr(config, name) != needed:
            raise ValueError(
                f"the figure computes {name}={needed!r}, got {getattr(config, name)!r}"
            )
    if config.activation == "swiglu":
        raise ValueError("the figure computes feed-forward networks without a gate, got 'swiglu'")
    first = {int(label): image for label, image in zip(labels.flip(0), images.flip(0), strict=True)}
    examples = [
        {"label": label, "pixels": (LEVELS * first[label]).round().int().flatten().tolist()}
        for label in sorted(first)
    ]
    parameters = dict(model.named_parameters())
    weight = parameters["patch_embedding.proj.weight"]
    parameters["patch_embedding.proj.weight"] = weight.flatten(1)
    parameters["cls_token"] = parameters["cls_token"][0]
    data = {
        "weights": {name: packed(parameter) for name, parameter in parameters.items()},
        "image_size": config.image_size,
        "patch_size": config.patch_size,
        "levels": LEVELS,
        "num_layers": config.num_layers,
        "block": {
            "numHeads": config.num_heads,
            "normFirst": True,
            "activation": config.activation,
            "eps": config.norm_eps,
        },
        "examples": examples,
    }
    value = {"example": "0", "pixels": examples[0]["pixels"], "brush": "soft", "view": "rollout"}
    value |= {"row": config.image_size // 2, "column": config.image_size // 2}
    shown = torch.tensor(examples[0]["pixels"]).view(1, 1, *[config.image_size] * 2) / LEVELS
    weight = next(model.parameters())
    with torch.no_grad():
        answers = model(shown.to(weight)).softmax(-1)[0].tolist()
    caption = f"What the model answers to a handwritten {examples[0]['label']}"
    fallback = table(caption, ["class", "probability"], enumerate(answers))
    return LiveFigure("digit", data, value, fallback)
