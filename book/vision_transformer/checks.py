"""Checks for the exercises of book/vision_transformer.ipynb."""

import torch
import torch.nn.functional as F

from book.checking.exercise import exercise, ladder
from book.checking.rungs import rungs


@exercise
def patchify(answer) -> str:
    """Check `patchify(images, patch_size)`: (B, C, height, width) to (B, patches, C P P)."""
    ladder(PATCHIFY, _patchify, patchify=answer)
    return "one channel and three, square images and others, patches of 1, 2, 3 and 5 pixels"


def _patchify(images, patch_size):
    B, C, height, width = images.shape
    P = patch_size
    cut = images.reshape(B, C, height // P, P, width // P, P)
    cut = cut.permute(0, 2, 4, 1, 3, 5)
    return cut.reshape(B, -1, C * P * P)


PATCHIFY = rungs(
    _patchify,
    """
an image that is one patch: its pixels row by row
    patchify(torch.arange(4.0).view(1, 1, 2, 2), 2)
  - the pixels inside a patch come column by column; they come row by row
    (0, 2, 4, 1, 3, 5) => (0, 2, 4, 1, 5, 3)
  - patch_size is taken for the number of patches in a row; it is the side of one
    P = patch_size => P = width // patch_size
  - the patches are right, but their pixels stand along the axis of the patches:
  (B, patches, C P P) is asked for
    C * P * P) => C * P * P).transpose(1, 2)
two patches side by side, without overlap: as many as the width holds whole ones; split the width
into (which patch, which pixel)
    patchify(torch.arange(8.0).view(1, 1, 2, 4), 2)
  - height and width have changed places: images are (B, C, height, width)
    C, height, width = images => C, width, height = images
  - the image is cut into strips of its memory: split height and width into (which patch, where
  inside) and bring the two 'which' together before flattening
    cut = cut.permute(0, 2, 4, 1, 3, 5) => cut = cut
  - a patch takes every so many pixels of the image; split height into (height // P, P), which
  patch and where inside, in this order, and width likewise
    height // P, P, width // P, P) => P, height // P, P, width // P)
    (0, 2, 4, 1, 3, 5) => (0, 3, 5, 1, 2, 4)
  - which patch and where inside have changed places: the first axis is that of the place inside
    (0, 2, 4, 1, 3, 5) => (0, 3, 5, 1, 2, 4)
  - the row inside stands between the two 'which': first which row and which column of patches, then
  the rest
    (0, 2, 4, 1, 3, 5) => (0, 2, 3, 4, 1, 5)
  - row inside and channel stand between the two 'which'; bring these together in front
    (0, 2, 4, 1, 3, 5) => (0, 2, 3, 1, 4, 5)
two patches, one above the other
    patchify(torch.arange(8.0).view(1, 1, 4, 2), 2)
four patches: row by row, from the top left
    patchify(torch.arange(16.0).view(1, 1, 4, 4), 2)
  - the patches come column by column; they come row by row, from the top left
    (0, 2, 4, 1, 3, 5) => (0, 4, 2, 1, 3, 5)
  - rows and columns are exchanged, among the patches and inside them
    (0, 2, 4, 1, 3, 5) => (0, 4, 2, 1, 5, 3)
three channels and one patch: all pixels of the first channel come first
    patchify(torch.arange(12.0).view(1, 3, 2, 2), 2)
  - the channels of a pixel stand together; all pixels of the first channel come first, as in the
  weights of a convolution
    (0, 2, 4, 1, 3, 5) => (0, 2, 4, 3, 5, 1)
  - the channel stands between row and column inside; it comes before both
    (0, 2, 4, 1, 3, 5) => (0, 2, 4, 3, 1, 5)
  - the channels are in reverse order
    cut = cut.permute => cut = cut.flip(1).permute
  - only the first channel is cut
    C * P * P) => C * P * P)[..., : P * P]
several channels and several patches: a patch holds the pixels of all its channels
    patchify(torch.arange(24.0).view(1, 3, 2, 4), 2)
  - the channels are not brought to the patches: a row mixes the patches of one channel
    (0, 2, 4, 1, 3, 5) => (0, 1, 2, 4, 3, 5)
several images: each keeps its patches
    patchify(torch.arange(32.0).view(2, 1, 4, 4), 2)
  - all images have the patches of the first
    cut = cut.permute => cut = cut[:1].expand_as(cut).permute
patches of one pixel, and of three pixels in an image that is not square
    images = torch.arange(54.0).view(1, 1, 6, 9)
    patchify(images, 1), patchify(images, 3)
two images, three channels, patches of five pixels
    images = torch.randn(2, 3, 15, 10)
    patchify(images, 5)
""",
)


@exercise
def resized_positions(answer) -> str:
    """Check `resized_positions(positions, side)`: (1 + n n, d_model) to (1 + side side, d_model).

    The first vector is the class token's; the others are interpolated, bilinearly, on the grid.
    """
    ladder(RESIZED_POSITIONS, _resized, resized_positions=answer)
    return "grids of 1 to 5 places a side, made larger, smaller and left alone"


def _resized(positions, side):
    n, how = round((len(positions) - 1) ** 0.5), {"mode": "bilinear", "align_corners": False}
    first, rest = positions[:1], positions[1:]
    grid = rest.reshape(n, n, -1).permute(2, 0, 1)[None]
    grid = F.interpolate(grid, size=(side, side), **how)[0]
    rest = grid.permute(1, 2, 0).reshape(side * side, -1)
    return torch.cat([first, rest])


RESIZED_POSITIONS = rungs(
    _resized,
    """
the first row is the class token's vector: it has no place on the grid, and stays as it is
    resized_positions(torch.arange(10.0).view(5, 2), 3)[:1]
  - the class token's vector is missing: the first row stays as it is
    return torch.cat([first, rest]) => return rest
  - the class token's vector stands at the end; it is the first row
    [first, rest] => [rest, first]
  - the class token's vector is set to zero; it stays as it is
    [first, rest] => [0 * first, rest]
  - the class token gets the mean of the grid; its vector stays as it is
    [first, rest] => [rest.mean(0, keepdim=True), rest]
  - the last row is taken for the class token's; it is the first
    first, rest = positions[:1], positions[1:] => first, rest = positions[-1:], positions[:-1]
the same side: nothing changes, (1 + side * side, d) comes back as it was
    resized_positions(torch.arange(10.0).view(5, 2), 2)
  - the class token's vector is taken for the first place of the grid, too
    first, rest = positions[:1], positions[1:] => first, rest = positions[:1], positions[:-1]
  - rows and columns of the new grid have changed places
    permute(1, 2, 0) => permute(2, 1, 0)
  - the entries of the vectors are mixed with the places on the way back: move d_model from the
  front to the last axis
    grid.permute(1, 2, 0).reshape => grid.reshape
  - the new vectors are scaled to the mean length of the old ones; leave them as interpolated
    [first, rest] => [first, SCALED]
    SCALED => rest * positions[1:].norm(dim=1).mean() / rest.norm(dim=1, keepdim=True)
  - all vectors are multiplied by the ratio of the sides; leave them as interpolated
    [first, rest] => [first, (rest * n + rest) / side]
  - the places are flattened with d_model in front: rest.reshape(1, -1, n, n) takes numbers in the
  order of memory; move the last axis to the front
    rest.reshape(n, n, -1).permute(2, 0, 1)[None] => rest.reshape(1, -1, n, n)
a grid of one place: every place of the larger grid gets its vector
    resized_positions(torch.tensor([[9.0], [1.0]]), 2)
  - the new places are filled with zeros; stretch the grid
    F.interpolate(grid, size=(side, side), **how)[0] => F.pad(grid[0, :, :side, :side], MORE)
    MORE => 2 * (0, max(side - n, 0))
vectors of one entry, from 2 x 2 to a side of 3, which is 9 places behind the class token's:
interpolate in both directions, bilinearly
    resized_positions(torch.tensor([[9.0], [0.0], [1.0], [10.0], [11.0]]), 3)
  - the rows are stretched as one line, the class token with them: it has no place on the grid, and
  the grid has two directions
    return => return F.interpolate(positions.T[None], 1 + side**2, mode="linear")[0].T;
  - the patches are stretched as one line; they stand on a grid, so interpolate in both directions
    return => rest = F.interpolate(positions[1:].T[None], side**2, mode="linear")[0].T; return
  - the corners of both grids are laid on each other (align_corners=True); the edges of the pictures
  are: align_corners=False
    "align_corners": False => "align_corners": True
  - the list is filled up with its last vector; stretch the grid
    return => rest = positions[1:][torch.arange(side**2).clamp(max=n * n - 1)]; return
  - the grid is repeated like tiles; stretch it
    F.interpolate(grid, size=(side, side), **how)[0] => grid[0].repeat(1, side, side)
    grid.permute(1, 2, 0) => grid[:, :side, :side].permute(1, 2, 0)
  - that is bicubic; bilinear is asked for
    bilinear => bicubic
  - each new place takes the nearest old vector; blend them, bilinearly
    "bilinear", "align_corners": False => "nearest"
from 3 x 3 to 2 x 2: the outer edges of both grids coincide, and a new place is interpolated between
its nearest old ones; it is no mean over an area
    resized_positions(torch.arange(10.0).view(10, 1).square(), 2)
  - the larger grid is smoothed before it is made smaller (antialias=True)
    "align_corners": False => "align_corners": False, "antialias": True
vectors of several entries: each entry is a picture of its own
    resized_positions(torch.arange(15.0).view(5, 3).sin(), 3)
  - the entries of the vectors are mixed with the places: F.interpolate wants (1, d_model, n, n), so
  move the last axis to the front instead of reshaping
    rest.reshape(n, n, -1).permute(2, 0, 1)[None] => rest.reshape(1, -1, n, n)
    grid.permute(1, 2, 0).reshape => grid.reshape
from 5 x 5 to 4 x 4, and from 4 x 4 to 9 x 9
    larger, smaller = torch.randn(26, 7), torch.randn(17, 2)
    resized_positions(larger, 4), resized_positions(smaller, 9)
""",
)


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
        ladder(OCCLUSION, _occlusion, occlusion=answer)
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


OCCLUSION = rungs(
    _occlusion,
    """
a patch is set to 0, all of it: of an image that is one patch nothing is left
    class Told:
        ink = []
    def model(images):
        Told.ink += [float(image.abs().sum()) for image in images]
        return reader(images)
    _ = occlusion(model, torch.tensor([[[[1.0, 0.2], [0.4, 0.9]]]]), torch.tensor([0]), 2)
    min(Told.ink)
one image that is one patch: the probability of its label before, less that after
    images = torch.tensor([[[[1.0, 0.2], [0.4, 0.8]]]])
    occlusion(reader, images, torch.tensor([0]), 2)
  - the sign is turned round: positive where blanking makes the label less probable
    before - judge(model(other)) => judge(model(other)) - before
  - this is the label's probability after blanking; subtract it from the one before
    before - judge => judge
  - the drop is one of logits; turn them into probabilities first, with a softmax
    logits.softmax(-1) => logits
  - the drop is one of log-probabilities; probabilities are asked for
    softmax => log_softmax
  - the drop is that of the largest probability; follow the label's, whatever the model prefers
    logits.softmax(-1)[N, labels] => logits.softmax(-1).amax(-1)
  - the drop is divided by the probability before; the difference is asked for
    before - judge(model(other)) => 1 - judge(model(other)) / before
  - softmax over the images; it runs over the labels, the last axis
    softmax(-1) => softmax(0)
  - the drops are scaled, so that the largest is 1; they are asked for as they are
    torch.stack(drops, dim=1) => (d := torch.stack(drops, dim=1)) / d.abs().amax(1, keepdim=True)
  - only the first pixel of a patch is blanked
    r : r + P, c : c + P => r, c
  - every pixel begins a patch of its own; the next one begins P pixels further
    images.shape[2], P) => images.shape[2])
    images.shape[3], P) => images.shape[3])
  - the patches are filled with 1, which is ink; 0 is paper
    P] = 0 => P] = 1
  - the patches are filled with the mean of the image; 0 is paper
    P] = 0 => P] = images.mean()
  - everything but the patch is set to 0; the patch is to be blanked, and the rest left as it is
    other = images.clone() => other = images.clone() * 0
    P] = 0 => P] = images[:, :, r : r + P, c : c + P]
a patch that speaks against the label: its drop is negative
    images = torch.tensor([[[[1.0, 0.2], [0.4, 0.8]]]])
    occlusion(reader, images, torch.tensor([1]), 2), occlusion(reader, images, torch.tensor([2]), 2)
  - the sign is lost: a patch that speaks against the label has a negative drop
    before - judge(model(other)) => (before - judge(model(other))).abs()
  - negative drops are cut off
    before - judge(model(other)) => (before - judge(model(other))).clamp(min=0)
two patches side by side: one of them is blank, never both
    images = torch.rand(1, 1, 2, 4)
    occlusion(reader, images, torch.tensor([1]), 2)
  - what was blanked stays blank: begin each patch with a fresh copy of the images
    other = images.clone() => other = other
  - the patches overlap: each begins P pixels after the one before, not one pixel
    images.shape[3], P) => images.shape[3] // P)
    images.shape[2], P) => images.shape[2] // P)
  - each drop is counted from the patch before; count from the images as they were
    drops.append(before - judge(model(other))) => drops.append(before - judge(model(other))); DONE
    DONE => before = judge(model(other))
  - a whole row of patches is blanked at once
    r : r + P, c : c + P => r : r + P
  - the rows of patches run over the width; they run over the height
    images.shape[2], P) => images.shape[3], P)
  - the axes have changed places: a row for each image, a column for each patch
    dim=1 => dim=0
six patches: row by row, from the top left, in an image that is not square
    images = torch.rand(1, 1, 6, 9)
    occlusion(reader, images, torch.tensor([1]), 3)
  - the patches come column by column; they come row by row, from the top left
    in places => in sorted(places, key=lambda place: place[::-1])
two channels: a patch is blank in both
    images = torch.rand(1, 2, 2, 4)
    occlusion(reader, images, torch.tensor([1]), 2)
  - only the first channel is blanked: blank all of them
    other[:, :, => other[:, 0,
several images: each has its own label
    images, labels = torch.rand(4, 1, 4, 4), torch.tensor([0, 1, 2, 1])
    occlusion(reader, images, labels, 2)
  - the label of the first image is followed for all of them
    [N, labels] => [N, labels[0]]
  - one image alone is blanked; all of them are
    other[:, :, => other[:1, :,
  - the drops of the images are averaged; each image has a row of its own
    torch.stack(drops, dim=1) => torch.stack(drops, dim=1).mean(0)
""",
    before="from book.vision_transformer.checks import reader\n",
)
