"""Two marks on the grid of a ViT's patches, to be dragged off it."""

import torch

from book.page.live import LiveFigure, table
from book.page.weights import packed_vit
from companion.models import ViT

SIDE = 4  # pixels of a mark, as `same_different` draws it


def marks_figure(model: ViT, images: torch.Tensor) -> LiveFigure:
    """Drag two marks over the patches: which patches hold them, and are they the same to the ViT?

    Args:
        model: a `ViT` of grey images with patches of 4 x 4 pixels and two classes, 1 for the same,
            otherwise as `digit_figure` takes it.
        images: (N, 1, image_size, image_size) of `same_different(..., grid=4)` whose two marks
            differ; each gives a pair of marks, and all of them the background.

    Raises:
        ValueError: the model is configured otherwise, or an image has not two whole marks in two
            patches.
    """
    config = model.config
    if (config.patch_size, config.num_classes) != (SIDE, 2):
        raise ValueError(
            f"the figure needs patches of {SIDE} and 2 classes, got {config.patch_size} and "
            f"{config.num_classes}"
        )
    across = config.image_size // SIDE
    patches = images.cpu().reshape(-1, across, SIDE, across, SIDE).transpose(2, 3).flatten(3)
    patches = patches.flatten(1, 2)  # (N, patches, 16)
    marked = (patches.abs() == 1).all(-1)
    if (marked.sum(1) != 2).any():
        raise ValueError(f"every image needs two whole marks, got {marked.sum(1).tolist()}")
    free = marked.int().argmin(0)  # of each patch, an image that has no mark there
    background = patches[free, torch.arange(across**2)]
    background = background.view(across, across, SIDE, SIDE).transpose(1, 2).flatten()
    marks = patches[marked].view(len(images), 2, SIDE * SIDE)
    data = packed_vit(model) | {"background": background.tolist(), "marks": marks.tolist()}
    value = {"pair": 0, "same": True, "corners": [[SIDE, 0], [2 * SIDE, 2 * SIDE]]}
    shown = background.view(config.image_size, config.image_size).clone()
    for row, column in value["corners"]:
        shown[row : row + SIDE, column : column + SIDE] = marks[0, 0].view(SIDE, SIDE)
    with torch.no_grad():
        answers = model(shown[None, None].to(next(model.parameters()))).softmax(-1)[0].tolist()
    rows = [("the same", answers[1]), ("different", answers[0])]
    fallback = table("Two equal marks, each in one patch", ["answer", "probability"], rows)
    return LiveFigure(__file__, data, value, fallback)
