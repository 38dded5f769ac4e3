"""Answers by somebody who had not read the checks."""

import math

import torch
import torch.nn.functional as F

from tests.book.unseen import answers_to

right, wrong = answers_to("vision_transformer")


@right
def patchify(images, patch_size):
    P, out = patch_size, []
    for r in range(0, images.shape[2], P):
        for q in range(0, images.shape[3], P):
            out.append(images[:, :, r : r + P, q : q + P].flatten(1))
    return torch.stack(out, 1)


wrong(
    "plain reshape",
    lambda images, patch_size: images.reshape(images.shape[0], -1, images.shape[1] * patch_size**2),
)
wrong("square images only", "images.shape[3]", "images.shape[2]")
wrong("overlapping patches", "range(0, images.shape[3], P)", "range(0, images.shape[3] - P + 1)")


@right
def resized_positions(positions, side):
    n = math.isqrt(len(positions) - 1)
    m = torch.zeros(side, n)
    for i in range(side):
        at = min(max((i + 0.5) * n / side - 0.5, 0), n - 1)
        low = int(at)
        high = min(low + 1, n - 1)
        m[i, low] += 1 - (at - low)
        m[i, high] += at - low
    grid = positions[1:].reshape(n, n, -1)
    return torch.cat([positions[:1], torch.einsum("ai,bj,ijd->abd", m, m, grid).flatten(0, 1)])


wrong(
    "reshape without moving axes",
    lambda positions, side: torch.cat(
        [
            positions[:1],
            F.interpolate(
                positions[1:].reshape(1, positions.shape[1], math.isqrt(len(positions) - 1), -1),
                (side, side),
                mode="bilinear",
            ).reshape(side * side, -1),
        ]
    ),
)
wrong("align_corners=True", "(i + 0.5) * n / side - 0.5", "i * (n - 1) / max(side - 1, 1)")
wrong(
    "class token last",
    "[positions[:1], torch.einsum",
    "[torch.einsum",
    ".flatten(0, 1)])",
    ".flatten(0, 1), positions[:1]])",
)


@right
def occlusion(model, images, labels, patch_size):
    P, rows = patch_size, torch.arange(len(images))
    before = model(images).softmax(-1)[rows, labels]
    out = []
    for r in range(0, images.shape[2], P):
        for q in range(0, images.shape[3], P):
            keep = torch.ones(images.shape[2:])
            keep[r : r + P, q : q + P] = 0
            out.append(before - model(images * keep).softmax(-1)[rows, labels])
    return torch.stack(out, 1)


wrong("patch first", "torch.stack(out, 1)", "torch.stack(out, 0)")
wrong(
    "sign",
    "before - model(images * keep).softmax(-1)[rows, labels]",
    "model(images * keep).softmax(-1)[rows, labels] - before",
)
wrong("patch first", "torch.stack(out, 1)", "torch.stack(out, 0)")
wrong("log-probability", ".softmax(-1)", ".log_softmax(-1)")
wrong(
    "the mean colour instead of 0",
    "model(images * keep)",
    "model(images * keep + images.mean() * (1 - keep))",
)


@right
def patchify(images, patch_size):
    B, C, height, width = images.shape
    P = patch_size
    x = images.reshape(B, C, height // P, P, width // P, P)
    x = x.permute(0, 2, 4, 1, 3, 5)
    return x.reshape(B, (height // P) * (width // P), C * P * P)


wrong("no axes moved", "    x = x.permute(0, 2, 4, 1, 3, 5)\n", "")


@right
def resized_positions(positions, side):
    class_token, grid = positions[:1], positions[1:]
    n = int(round(len(grid) ** 0.5))
    d = positions.shape[1]
    picture = grid.reshape(n, n, d).permute(2, 0, 1)
    picture = F.interpolate(picture[None], size=(side, side), mode="bilinear", align_corners=False)[
        0
    ]
    grid = picture.permute(1, 2, 0).reshape(side * side, d)
    return torch.cat([class_token, grid])


wrong(
    "reshaped to channels at once",
    "grid.reshape(n, n, d).permute(2, 0, 1)",
    "grid.reshape(d, n, n)",
    "picture.permute(1, 2, 0).reshape(side * side, d)",
    "picture.reshape(side * side, d)",
)


@right
def occlusion(model, images, labels, patch_size):
    N, C, height, width = images.shape
    P = patch_size

    def probability(x):
        logits = model(x)
        return logits.softmax(-1)[torch.arange(N), labels]

    before = probability(images)
    falls = []
    for top in range(0, height, P):
        for left in range(0, width, P):
            blank = images.clone()
            blank[:, :, top : top + P, left : left + P] = 0
            falls.append(before - probability(blank))
    return torch.stack(falls, dim=1)


wrong(
    "blanks stay",
    "    falls = []\n",
    "    falls = []\n    blank = images.clone()\n",
    "            blank = images.clone()\n",
    "",
)


wrong("a rise, not a fall", "before - probability(blank)", "probability(blank) - before")


@right
def patchify(images, patch_size):
    patches = []
    P = patch_size
    for top in range(0, images.shape[2], P):
        for left in range(0, images.shape[3], P):
            patches.append(images[:, :, top : top + P, left : left + P].flatten(1))
    return torch.stack(patches, dim=1)


wrong(
    "pixels of a patch column by column",
    "left : left + P].flatten(1)",
    "left : left + P].mT.flatten(1)",
)


@right
def resized_positions(positions, side):
    d = positions.shape[1]
    n = round((positions.shape[0] - 1) ** 0.5)
    picture = positions[1:].T.reshape(1, d, n, n)
    stretched = F.interpolate(picture, size=(side, side), mode="bilinear", align_corners=False)
    return torch.cat([positions[0:1], stretched.reshape(d, side * side).T])


wrong(
    "the class token is left out",
    "torch.cat([positions[0:1], stretched.reshape(d, side * side).T])",
    "stretched.reshape(d, side * side).T",
)


@right
@torch.no_grad()
def occlusion(model, images, labels, patch_size):
    N, C, height, width = images.shape
    mine = labels.view(N, 1)
    full = model(images).softmax(dim=1).gather(1, mine)
    drops = []
    for top in range(0, height, patch_size):
        for left in range(0, width, patch_size):
            blank = images.clone()
            blank[:, :, top : top + patch_size, left : left + patch_size] = 0
            drops.append(full - model(blank).softmax(dim=1).gather(1, mine))
    return torch.cat(drops, dim=1)


wrong(
    "logits, not probabilities",
    "model(images).softmax(dim=1)",
    "model(images)",
    "model(blank).softmax(dim=1)",
    "model(blank)",
)
wrong("log-probabilities", ".softmax(dim=1)", ".log_softmax(dim=1)")


@right
def patchify(images, patch_size):
    B, C, H, W = images.shape
    P = patch_size
    x = images.reshape(B, C, H // P, P, W // P, P)
    return x.permute(0, 2, 4, 1, 3, 5).reshape(B, -1, C * P * P)


wrong("strips in place of squares", "(0, 2, 4, 1, 3, 5)", "(0, 2, 3, 1, 4, 5)")


@right
def resized_positions(positions, side):
    n = round((len(positions) - 1) ** 0.5)
    grid = positions[1:].T.reshape(1, -1, n, n)
    grid = F.interpolate(grid, size=(side, side), mode="bilinear", align_corners=False)
    return torch.cat([positions[:1], grid[0].permute(1, 2, 0).reshape(side * side, -1)])


wrong("reshaped to channels at once", "positions[1:].T", "positions[1:]")


@right
def occlusion(model, images, labels, patch_size):
    N, _, height, width = images.shape
    everyone = torch.arange(N)

    def chance(shown):
        with torch.no_grad():
            logits = model(shown)
        return logits.softmax(dim=-1)[everyone, labels]

    whole, falls = (chance(images), [])
    for top in range(0, height, patch_size):
        for left in range(0, width, patch_size):
            shown = images.clone()
            shown[:, :, top : top + patch_size, left : left + patch_size] = 0
            falls.append(whole - chance(shown))
    return torch.stack(falls, dim=1)


wrong(
    "patches stay blank: each image is blank in all places so far",
    "    whole, falls = (chance(images), [])",
    "    whole, falls = (chance(images), [])\n    shown = images.clone()",
    "            shown = images.clone()",
    "",
)
