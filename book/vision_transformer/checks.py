"""Checks for the exercises of book/vision_transformer.ipynb."""

import torch
import torch.nn.functional as F

from book.checking.exercise import climb, exercise
from book.checking.rungs import edited, ladder


@exercise
def patchify(answer) -> str:
    """Check `patchify(images, patch_size)`: (B, C, height, width) to (B, patches, C P P)."""
    climb(PATCHIFY, answer)
    return "one channel and three, square images and others, patches of 1, 2, 3 and 5 pixels"


def _patchify(images, patch_size):
    B, C, height, width = images.shape
    P = patch_size
    cut = images.reshape(B, C, height // P, P, width // P, P)
    cut = cut.permute(0, 2, 4, 1, 3, 5)
    return cut.reshape(B, -1, C * P * P)


@ladder(_patchify)
def PATCHIFY(patchify):
    """an image that is one patch: its pixels row by row"""
    yield patchify(torch.arange(4.0).view(1, 1, 2, 2), 2)

    """two patches side by side, without overlap: as many as the width holds whole ones; split
    the width into (which patch, which pixel)"""
    yield patchify(torch.arange(8.0).view(1, 1, 2, 4), 2)

    """four patches: row by row, from the top left"""
    yield patchify(torch.arange(16.0).view(1, 1, 4, 4), 2)

    """three channels and one patch: all pixels of the first channel come first"""
    yield patchify(torch.arange(12.0).view(1, 3, 2, 2), 2)

    """several channels and several patches: a patch holds the pixels of all its channels"""
    yield patchify(torch.arange(24.0).view(1, 3, 2, 4), 2)

    """several images: each keeps its patches"""
    yield patchify(torch.arange(32.0).view(2, 1, 4, 4), 2)

    """patches of one pixel, and of three pixels in an image that is not square"""
    images = torch.arange(54.0).view(1, 1, 6, 9)
    yield patchify(images, 1), patchify(images, 3)

    """two images, three channels, patches of five pixels"""
    images = torch.randn(2, 3, 15, 10)
    yield patchify(images, 5)


PATCHIFY.mistakes |= {
    "the pixels inside a patch come column by column; they come row by row": edited(
        _patchify, "(0, 2, 4, 1, 3, 5)", "(0, 2, 4, 1, 5, 3)"
    ),
    "the patches are right, but their pixels stand along the axis of the patches: (B, "
    "patches, C P P) is asked for": edited(_patchify, "C * P * P)", "C * P * P).transpose(1, 2)"),
    "the image is cut into strips of its memory: split height and width into (which "
    "patch, where inside) and bring the two 'which' together before flattening": edited(
        _patchify, "cut = cut.permute(0, 2, 4, 1, 3, 5)", "cut = cut"
    ),
    "a patch takes every so many pixels of the image; split height into (height // P, "
    "P), which patch and where inside, in this order, and width likewise": edited(
        _patchify,
        "height // P, P, width // P, P)",
        "P, height // P, P, width // P)",
        "(0, 2, 4, 1, 3, 5)",
        "(0, 3, 5, 1, 2, 4)",
    ),
    "the patches come column by column; they come row by row, from the top left": edited(
        _patchify, "(0, 2, 4, 1, 3, 5)", "(0, 4, 2, 1, 3, 5)"
    ),
    "the channels of a pixel stand together; all pixels of the first channel come "
    "first, as in the weights of a convolution": edited(
        _patchify, "(0, 2, 4, 1, 3, 5)", "(0, 2, 4, 3, 5, 1)"
    ),
    "patches beside each other are mixed: 'which' of the width has to stand before 'where inside' "
    "of the height": edited(_patchify, "(0, 2, 4, 1, 3, 5)", "(0, 2, 3, 1, 4, 5)"),
    "height and width have changed places where the image is cut": edited(
        _patchify, "height // P, P, width // P, P)", "width // P, P, height // P, P)"
    ),
    "a reshape makes (patches, C P P) of (C P P, patches), as F.unfold gives it; exchange the two "
    "axes instead, by transpose(1, 2)": edited(
        _patchify,
        "return cut.reshape(B, -1, C * P * P)",
        "cut = cut.reshape(B, -1, C * P * P); return cut.mT.reshape(cut.shape)",
    ),
    "the patches of all images stand in one row; the first axis is that of the images": edited(
        _patchify, "reshape(B, -1, C * P * P)", "reshape(-1, C * P * P)"
    ),
}


@exercise
def resized_positions(answer) -> str:
    """Check `resized_positions(positions, side)`: (1 + n n, d_model) to (1 + side side, d_model).

    The first vector is the class token's; the others are interpolated, bilinearly, on the grid.
    """
    climb(RESIZED_POSITIONS, answer)
    return "grids of 1 to 5 places a side, made larger, smaller and left alone"


def _resized(positions, side):
    n, how = round((len(positions) - 1) ** 0.5), {"mode": "bilinear", "align_corners": False}
    first, rest = positions[:1], positions[1:]
    grid = rest.reshape(n, n, -1).permute(2, 0, 1)[None]
    grid = F.interpolate(grid, size=(side, side), **how)[0]
    rest = grid.permute(1, 2, 0).reshape(side * side, -1)
    return torch.cat([first, rest])


@ladder(_resized)
def RESIZED_POSITIONS(resized_positions):
    """the first row is the class token's vector: it has no place on the grid, and stays as it
    is"""
    positions = torch.tensor([[9.0, 5.0], [0, 1], [2, 3], [4, 5], [6, 7]])
    yield resized_positions(positions, 3)[:1]

    """the same side: nothing changes, (1 + side * side, d) comes back as it was"""
    yield resized_positions(torch.arange(10.0).view(5, 2), 2)

    """a grid of one place: every place of the larger grid gets its vector"""
    yield resized_positions(torch.tensor([[9.0], [1.0]]), 2)

    """vectors of one entry, from 2 x 2 to a side of 3, which is 9 places behind the class
    token's: interpolate in both directions, bilinearly"""
    yield resized_positions(torch.tensor([[9.0], [0.0], [1.0], [10.0], [11.0]]), 3)

    """from 3 x 3 to 2 x 2: the outer edges of both grids coincide, and a new place is
    interpolated between its nearest old ones; it is no mean over an area"""
    yield resized_positions(torch.arange(10.0).view(10, 1).square(), 2)

    """vectors of several entries: each entry is a picture of its own"""
    yield resized_positions(torch.arange(15.0).view(5, 3).sin(), 3)

    """from 5 x 5 to 4 x 4, and from 4 x 4 to 9 x 9"""
    larger, smaller = torch.randn(26, 7), torch.randn(17, 2)
    yield resized_positions(larger, 4), resized_positions(smaller, 9)


RESIZED_POSITIONS.mistakes |= {
    "that is align_corners=True, where the middles of the corner patches coincide; it is the "
    "outer edges of the grids": edited(_resized, '"align_corners": False', '"align_corners": True'),
    "the axis of the entries is still the first of the new grid; bring it back to the end before "
    "you flatten": edited(_resized, "grid.permute(1, 2, 0).reshape", "grid.reshape"),
    "rows and columns of the new grid have changed places": edited(
        _resized, "permute(1, 2, 0)", "permute(2, 1, 0)"
    ),
    "the rows are stretched as one line, the class token with them: it has no place "
    "on the grid, and the grid has two directions": edited(
        _resized,
        "return",
        'return F.interpolate(positions.T[None], 1 + side**2, mode="linear")[0].T;',
    ),
    "the patches are stretched as one line; they stand on a grid, so interpolate in "
    "both directions": edited(
        _resized,
        "return",
        'rest = F.interpolate(positions[1:].T[None], side**2, mode="linear")[0].T; return',
    ),
    "that is bicubic; bilinear is asked for": edited(_resized, "bilinear", "bicubic"),
    "each new place takes the nearest old vector; blend them, bilinearly": edited(
        _resized, '"bilinear", "align_corners": False', '"nearest"'
    ),
    "the entries of the vectors are mixed with the places: F.interpolate wants (1, "
    "d_model, n, n), so move the last axis to the front instead of reshaping": edited(
        _resized,
        "rest.reshape(n, n, -1).permute(2, 0, 1)[None]",
        "rest.reshape(1, -1, n, n)",
        "grid.permute(1, 2, 0).reshape",
        "grid.reshape",
    ),
    "a reshape makes pictures of the vectors, which mixes entries and places; move the last axis "
    "to the front, as it is moved back behind F.interpolate": edited(
        _resized, "rest.reshape(n, n, -1).permute(2, 0, 1)[None]", "rest.reshape(1, -1, n, n)"
    ),
}


def reader(images: torch.Tensor) -> torch.Tensor:
    """Logits (N, 3) that depend on every pixel, and not linearly."""
    weights = torch.sin(torch.arange(3.0 * images[0].numel())).view(3, -1)
    return 3 * torch.tanh(images.flatten(1) @ weights.T)


@exercise
def occlusion(answer) -> str:
    """Check `occlusion(model, images, labels, patch_size)`: (N, patches), drops of probability.

    Entry (n, i): by how much the probability of the label falls when patch i is set to 0.
    """
    with torch.no_grad():
        climb(OCCLUSION, answer)
    return "one image and several, one channel and two, images that are not square"


def _occlusion(model, images, labels, patch_size):
    P, N = patch_size, torch.arange(len(images))

    def judge(logits):
        return logits.softmax(-1)[N, labels]

    before, drops, other = judge(model(images)), [], images + 0
    places = [(r, c) for r in range(0, images.shape[2], P) for c in range(0, images.shape[3], P)]
    for r, c in places:
        other = images.clone()
        other[:, :, r : r + P, c : c + P] = 0
        drops.append(before - judge(model(other)))
    return torch.stack(drops, dim=1)


@ladder(_occlusion)
def OCCLUSION(occlusion):
    """a patch is set to 0, all of it: of an image that is one patch nothing is left"""

    class Told:
        ink = ()

    def model(images):
        Told.ink += tuple(image.abs().sum().item() for image in images)
        return reader(images)

    occlusion(model, torch.tensor([[[[1.0, 0.2], [0.4, 0.9]]]]), torch.tensor([0]), 2)
    yield min(Told.ink)

    """one image that is one patch: the probability of its label before, less that after"""
    images = torch.tensor([[[[1.0, 0.2], [0.4, 0.8]]]])
    yield occlusion(reader, images, torch.tensor([0]), 2)

    """a patch that speaks against the label: its drop is negative"""
    images = torch.tensor([[[[1.0, 0.2], [0.4, 0.8]]]])
    yield (
        occlusion(reader, images, torch.tensor([1]), 2),
        occlusion(reader, images, torch.tensor([2]), 2),
    )

    """two patches side by side: one of them is blank, never both"""
    images = torch.rand(1, 1, 2, 4)
    yield occlusion(reader, images, torch.tensor([1]), 2)

    """six patches: row by row, from the top left, in an image that is not square"""
    images = torch.rand(1, 1, 6, 9)
    yield occlusion(reader, images, torch.tensor([1]), 3)

    """two channels: a patch is blank in both"""
    images = torch.rand(1, 2, 2, 4)
    yield occlusion(reader, images, torch.tensor([1]), 2)

    """several images: each has its own label"""
    images, labels = torch.rand(4, 1, 4, 4), torch.tensor([0, 1, 2, 1])
    yield occlusion(reader, images, labels, 2)


OCCLUSION.mistakes |= {
    "the sign is turned round: positive where blanking makes the label less probable": edited(
        _occlusion, "before - judge(model(other))", "judge(model(other)) - before"
    ),
    "this is the label's probability after blanking; subtract it from the one before": edited(
        _occlusion, "before - judge", "judge"
    ),
    "the drop is one of logits; turn them into probabilities first, with a softmax": edited(
        _occlusion, "logits.softmax(-1)", "logits"
    ),
    "the drop is one of log-probabilities; probabilities are asked for": edited(
        _occlusion, "softmax", "log_softmax"
    ),
    "the drop is that of the largest probability; follow the label's, whatever the "
    "model prefers": edited(
        _occlusion, "logits.softmax(-1)[N, labels]", "logits.softmax(-1).amax(-1)"
    ),
    "the patches are filled with 1, which is ink; 0 is paper": edited(
        _occlusion, "P] = 0", "P] = 1"
    ),
    "what was blanked stays blank: begin each patch with a fresh copy of the images": edited(
        _occlusion, "other = images.clone()", "other = other"
    ),
    "the patches overlap: each begins P pixels after the one before, not one pixel": edited(
        _occlusion,
        "images.shape[3], P)",
        "images.shape[3] // P)",
        "images.shape[2], P)",
        "images.shape[2] // P)",
    ),
    "the axes have changed places: a row for each image, a column for each patch": edited(
        _occlusion, "dim=1", "dim=0"
    ),
    "the patches come column by column; they come row by row, from the top left": edited(
        _occlusion, "in places", "in sorted(places, key=lambda place: place[::-1])"
    ),
    "only the first channel is blanked: blank all of them": edited(
        _occlusion, "other[:, :,", "other[:, 0,"
    ),
    "the class that the model prefers is followed; follow the label, whatever it prefers": edited(
        _occlusion,
        "P, N = patch_size, torch.arange(len(images))",
        "P, N, labels = patch_size, torch.arange(len(images)), model(images).argmax(-1)",
    ),
    "the softmax runs over the images; it runs over the classes, the last axis": edited(
        _occlusion, "softmax(-1)", "softmax(0)"
    ),
    "the height is taken for the width: patches are blanked in as many columns as rows": edited(
        _occlusion, "images.shape[3]", "images.shape[2]"
    ),
}
