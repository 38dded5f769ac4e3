"""Answers to the exercises of book/vision_transformer.ipynb."""

import torch
import torch.nn.functional as F

from book.vision_transformer.checks import occlusion, patchify, resized_positions
from tests.book.answers import right, wrong

# Cut


@right(patchify)
def reshape_and_permute(images, patch_size):
    B, C, H, W = images.shape
    x = images.reshape(B, C, H // patch_size, patch_size, W // patch_size, patch_size)
    return x.permute(0, 2, 4, 1, 3, 5).flatten(3).flatten(1, 2)


@right(patchify)
def torch_unfold(images, patch_size):
    return F.unfold(images, patch_size, stride=patch_size).transpose(1, 2)


@wrong(patchify, "the first axis is that of the images")
def without_the_batch(images, patch_size):
    return torch_unfold(images, patch_size).flatten(0, 1)


# A larger image


@right(resized_positions)
def by_interpolate(positions, side):
    first, rest = positions[:1], positions[1:]
    n = int(len(rest) ** 0.5 + 0.5)
    grid = rest.T.reshape(1, -1, n, n)
    grid = F.interpolate(grid, (side, side), mode="bilinear")
    return torch.cat([first, grid.flatten(2)[0].T])


@right(resized_positions)
def by_two_matrices(positions, side):
    n = round((len(positions) - 1) ** 0.5)
    at = ((torch.arange(side) + 0.5) * n / side - 0.5).clamp(0, n - 1)
    blend = (1 - (at[:, None] - torch.arange(n)).abs()).clamp(min=0)
    grid = positions[1:].view(n, n, -1)
    grid = torch.einsum("ri,cj,ijd->rcd", blend, blend, grid)
    return torch.cat([positions[:1], grid.flatten(0, 1)])


# Blank it


@right(occlusion)
def patch_by_patch(model, images, labels, patch_size):
    def probability(x):
        return model(x).softmax(dim=1)[torch.arange(len(labels)), labels]

    before, drops = probability(images), []
    for top in range(0, images.shape[2], patch_size):
        for left in range(0, images.shape[3], patch_size):
            blanked = images.clone()
            blanked[:, :, top : top + patch_size, left : left + patch_size] = 0
            drops.append(before - probability(blanked))
    return torch.stack(drops, dim=1)


@right(occlusion)
def all_at_once(model, images, labels, patch_size):
    N, C, H, W = images.shape
    rows, columns = H // patch_size, W // patch_size
    keep = 1 - torch.eye(rows * columns).view(-1, 1, rows, columns)
    keep = keep.repeat_interleave(patch_size, 2).repeat_interleave(patch_size, 3)
    many = (images[:, None] * keep).view(-1, C, H, W)
    after = F.softmax(model(many), -1).view(N, rows * columns, -1)
    before = F.softmax(model(images), -1)[:, None]
    at = labels.view(-1, 1, 1).expand(-1, rows * columns, 1)
    return (before - after).gather(2, at)[..., 0]


def of_label(table, labels):
    return table[torch.arange(len(labels)), labels]


@wrong(occlusion, "changes its input")
def in_place(model, images, labels, patch_size):
    before = of_label(model(images).softmax(1), labels)
    images[:, :, :patch_size, :patch_size] = 0
    return (before - of_label(model(images).softmax(1), labels))[:, None]
