"""Checks for the exercises of book/vision_transformer.ipynb."""

import torch
import torch.nn.functional as F

from companion.checks.exercise import compare, exercise


@exercise
def patchify(answer) -> str:
    """Check `patchify(images, patch_size)`: (B, C, height, width) to (B, patches, C P P)."""
    numbers = torch.arange(2 * 3 * 4 * 6.0).view(2, 3, 4, 6)
    cases = [
        {"images": torch.arange(16.0).view(1, 1, 4, 4), "patch_size": 2},
        {"images": numbers, "patch_size": 2},
        {"images": torch.randn(2, 3, 15, 10), "patch_size": 5},
    ]
    compare(answer, cases, _patchify, PATCHIFY_MISTAKES)
    return "one channel and three, square images and others, patches of 2 and 5 pixels"


def _patchify(images, P, order="row column channel top left"):
    """Patches; `order` says what counts slowest, first the patches, then the pixels inside."""
    B, C, height, width = images.shape
    cut = images.reshape(B, C, height // P, P, width // P, P)
    axes = {"channel": 1, "row": 2, "top": 3, "column": 4, "left": 5}
    cut = cut.permute(0, *(axes[name] for name in order.split()))
    return (cut.reshape(B, (height // P) * (width // P), C * P * P),)


def _every_other_pixel(images, P):
    B, C, height, width = images.shape
    cut = images.reshape(B, C, P, height // P, P, width // P).permute(0, 3, 5, 1, 2, 4)
    return (cut.flatten(3).flatten(1, 2),)


PATCHIFY_MISTAKES = {
    "the image is cut into strips of its memory: split height and width into (which patch, where "
    "inside) and bring the two 'which' together before flattening": (
        lambda images, P: (images.reshape(images.shape[0], -1, images.shape[1] * P * P),)
    ),
    "the patches come column by column; they come row by row, from the top left": (
        lambda images, P: _patchify(images, P, "column row channel top left")
    ),
    "the pixels inside a patch come column by column; they come row by row": (
        lambda images, P: _patchify(images, P, "row column channel left top")
    ),
    "the channels of a pixel stand together; all pixels of the first channel come first, as in "
    "the weights of a convolution": (
        lambda images, P: _patchify(images, P, "row column top left channel")
    ),
    "a patch takes every so many pixels of the image; split height into (height // P, P), which "
    "patch and where inside, in this order, and width likewise": _every_other_pixel,
    "the patches are right, but their pixels stand along the axis of the patches: "
    "(B, patches, C P P) is asked for": (
        lambda images, P: (_patchify(images, P)[0].transpose(1, 2),)
    ),
}


@exercise
def resized_positions(answer) -> str:
    """Check `resized_positions(positions, side)`: (1 + n n, d_model) to (1 + side side, d_model).

    The first vector is the class token's; the others are interpolated, bilinearly, on the grid.
    """
    cases = [
        {"positions": torch.arange(10.0).view(5, 2), "side": 3},
        {"positions": torch.randn(10, 3), "side": 6},
        {"positions": torch.randn(26, 7), "side": 4},
        {"positions": torch.randn(17, 2), "side": 4},
    ]
    compare(answer, cases, _resized, RESIZE_MISTAKES)
    return "grids of 2, 3, 4 and 5 places a side, made larger, smaller and left alone"


def _resized(positions, side, *, turned=False, **how):
    n = round((len(positions) - 1) ** 0.5)
    grid = positions[1:].view(n, n, -1).permute(2, 0, 1)[None]  # (1, d_model, n, n)
    how = {"mode": "bilinear", "align_corners": False} | how
    grid = F.interpolate(grid, size=(side, side), **how)[0]
    grid = grid.permute(2, 1, 0) if turned else grid.permute(1, 2, 0)
    return (torch.cat([positions[:1], grid.reshape(side * side, -1)]),)


def _resized_as_a_line(positions, side):
    line = positions.T[None]
    size = 1 + side * side
    return (F.interpolate(line, size=size, mode="linear", align_corners=False)[0].T,)


def _resized_line_of_patches(positions, side):
    line = positions[1:].T[None]
    line = F.interpolate(line, size=side * side, mode="linear", align_corners=False)[0].T
    return (torch.cat([positions[:1], line]),)


def _resized_without_permuting(positions, side):
    n = round((len(positions) - 1) ** 0.5)
    grid = positions[1:].reshape(1, -1, n, n)
    grid = F.interpolate(grid, size=(side, side), mode="bilinear", align_corners=False)
    return (torch.cat([positions[:1], grid.reshape(side * side, -1)]),)


def _resized_not_turned_back(positions, side):
    grid = _resized(positions, side)[0][1:].T  # (d_model, places)
    return (torch.cat([positions[:1], grid.reshape(side * side, -1)]),)


RESIZE_MISTAKES = {
    "the class token's vector is missing: the first row stays as it is": (
        lambda positions, side: (_resized(positions, side)[0][1:],)
    ),
    "the class token's vector stands at the end; it is the first row": (
        lambda positions, side: (_resized(positions, side)[0].roll(-1, 0),)
    ),
    "the rows are stretched as one line, the class token with them: it has no place on the grid, "
    "and the grid has two directions": _resized_as_a_line,
    "the patches are stretched as one line; they stand on a grid, so interpolate in both "
    "directions": _resized_line_of_patches,
    "rows and columns of the new grid have changed places": (
        lambda positions, side: _resized(positions, side, turned=True)
    ),
    "the entries of the vectors are mixed with the places: F.interpolate wants (1, d_model, n, n), "
    "so move the last axis to the front instead of reshaping": _resized_without_permuting,
    "the grid is right, but on the way back the entries of the vectors are mixed with the places: "
    "move d_model from the front to the last axis": _resized_not_turned_back,
    "that is bicubic; bilinear is asked for": (
        lambda positions, side: _resized(positions, side, mode="bicubic")
    ),
    "the corners of both grids are laid on each other (align_corners=True); the edges of the "
    "pictures are: align_corners=False": (
        lambda positions, side: _resized(positions, side, align_corners=True)
    ),
    "each new place takes the nearest old vector; blend them, bilinearly": (
        lambda positions, side: _resized(positions, side, mode="nearest", align_corners=None)
    ),
}


def _reader(images):
    """Logits (N, 3) that depend on every pixel, and not linearly."""
    weights = torch.sin(torch.arange(3.0 * images[0].numel())).view(3, -1)
    return 3 * torch.tanh(images.flatten(1) @ weights.T)


@exercise
def occlusion(answer) -> str:
    """Check `occlusion(model, images, labels, patch_size)`: (N, patches), drops of probability.

    Entry (n, i): by how much the probability of the label falls when patch i is set to 0.
    """
    cases = [
        {
            "model": _reader,
            "images": torch.rand(count, channels, height, width),
            "labels": torch.arange(count) % 3,
            "patch_size": size,
        }
        for count, channels, height, width, size in (
            (1, 1, 4, 4, 2),
            (4, 1, 6, 9, 3),
            (5, 2, 4, 6, 2),
        )
    ]
    compare(answer, cases, _occlusion, OCCLUSION_MISTAKES)
    return "one image and several, one channel and two, images that are not square"


def _occlusion(model, images, labels, P, *, judge=None, paper=0.0, stays=False, by_columns=False):
    """Drops; `judge` makes of logits and labels what is to fall."""
    judge = judge or _probability
    before = judge(model(images), labels)
    rows, columns = images.shape[2] // P, images.shape[3] // P
    places = [(r, c) for r in range(rows) for c in range(columns)]
    if by_columns:
        places.sort(key=lambda place: place[::-1])
    drops, other = [], images.clone()
    for r, c in places:
        other = other if stays else images.clone()
        other[:, :, r * P : (r + 1) * P, c * P : (c + 1) * P] = paper
        drops.append(before - judge(model(other), labels))
    return (torch.stack(drops, dim=1),)


def _probability(logits, labels):
    return logits.softmax(-1).gather(1, labels[:, None])[:, 0]


def _logit(logits, labels):
    return logits.gather(1, labels[:, None])[:, 0]


def _log_probability(logits, labels):
    return logits.log_softmax(-1).gather(1, labels[:, None])[:, 0]


def _best(logits, labels):
    return logits.softmax(-1).amax(-1)


def _occluded_first_channel(model, images, labels, P):
    rest = images[:, 1:]
    return _occlusion(lambda first: model(torch.cat([first, rest], 1)), images[:, :1], labels, P)


def _occluded_pixel_by_pixel(model, images, labels, P):
    before, drops = _probability(model(images), labels), []
    for top in range(images.shape[2] // P):
        for left in range(images.shape[3] // P):
            other = images.clone()
            other[:, :, top : top + P, left : left + P] = 0
            drops.append(before - _probability(model(other), labels))
    return (torch.stack(drops, dim=1),)


OCCLUSION_MISTAKES = {
    "the sign is turned round: positive where blanking makes the label less probable": (
        lambda *inputs: (-_occlusion(*inputs)[0],)
    ),
    "this is the label's probability after blanking; subtract it from the one before": (
        lambda model, images, labels, P: (
            _probability(model(images), labels)[:, None] - _occlusion(model, images, labels, P)[0],
        )
    ),
    "the drop is one of logits; turn them into probabilities first, with a softmax": (
        lambda *inputs: _occlusion(*inputs, judge=_logit)
    ),
    "the drop is one of log-probabilities; probabilities are asked for": (
        lambda *inputs: _occlusion(*inputs, judge=_log_probability)
    ),
    "the drop is that of the largest probability; follow the label's, whatever the model prefers": (
        lambda *inputs: _occlusion(*inputs, judge=_best)
    ),
    "what was blanked stays blank: begin each patch with a fresh copy of the images": (
        lambda *inputs: _occlusion(*inputs, stays=True)
    ),
    "the patches overlap: each begins P pixels after the one before, not one pixel": (
        _occluded_pixel_by_pixel
    ),
    "the patches come column by column; they come row by row, from the top left": (
        lambda *inputs: _occlusion(*inputs, by_columns=True)
    ),
    "the patches are filled with 1, which is ink; 0 is paper": (
        lambda *inputs: _occlusion(*inputs, paper=1.0)
    ),
    "only the first channel is blanked: blank all of them": _occluded_first_channel,
    "the axes have changed places: a row for each image, a column for each patch": (
        lambda *inputs: (_occlusion(*inputs)[0].T,)
    ),
}
