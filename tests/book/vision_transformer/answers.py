"""Answers to the exercises of book/vision_transformer.ipynb."""

import torch
import torch.nn.functional as F

from book.vision_transformer.checks import occlusion, patchify, resized_positions
from tests.book.answers import right, wrong

# 1. Cut


@right(patchify)
def reshape_and_permute(images, patch_size):
    B, C, H, W = images.shape
    x = images.reshape(B, C, H // patch_size, patch_size, W // patch_size, patch_size)
    return x.permute(0, 2, 4, 1, 3, 5).flatten(3).flatten(1, 2)


@right(patchify)
def torch_unfold(images, patch_size):
    return F.unfold(images, patch_size, stride=patch_size).transpose(1, 2)


@right(patchify)
def in_loops(images, patch_size):
    patches = []
    for top in range(0, images.shape[2], patch_size):
        for left in range(0, images.shape[3], patch_size):
            part = images[:, :, top : top + patch_size, left : left + patch_size]
            patches.append(part.flatten(1))
    return torch.stack(patches, dim=1)


@wrong(patchify, "strips of its memory")
def only_reshaped(images, patch_size):
    return images.reshape(len(images), -1, images.shape[1] * patch_size**2)


@wrong(patchify, "patches come column by column")
def columns_of_patches(images, patch_size):
    x = images.unfold(2, patch_size, patch_size).unfold(3, patch_size, patch_size)
    return x.permute(0, 3, 2, 1, 4, 5).flatten(3).flatten(1, 2)


@wrong(patchify, "pixels inside a patch come column by column")
def columns_of_pixels(images, patch_size):
    x = images.unfold(2, patch_size, patch_size).unfold(3, patch_size, patch_size)
    return x.permute(0, 2, 3, 1, 5, 4).flatten(3).flatten(1, 2)


@wrong(patchify, "channels of a pixel stand together")
def channels_last(images, patch_size):
    x = images.unfold(2, patch_size, patch_size).unfold(3, patch_size, patch_size)
    return x.permute(0, 2, 3, 4, 5, 1).flatten(3).flatten(1, 2)


@wrong(patchify, "along the axis of the patches")
def unfold_as_it_comes(images, patch_size):
    return F.unfold(images, patch_size, stride=patch_size)


@wrong(patchify, "every so many pixels")
def every_other_pixel(images, patch_size):
    B, C, H, W = images.shape
    x = images.reshape(B, C, patch_size, H // patch_size, patch_size, W // patch_size)
    return x.permute(0, 3, 5, 1, 2, 4).flatten(3).flatten(1, 2)


@wrong(patchify, "returned shape")
def without_the_batch(images, patch_size):
    return torch_unfold(images, patch_size).flatten(0, 1)


@wrong(patchify, "returned shape")
def overlapping(images, patch_size):
    return F.unfold(images, patch_size, stride=1).transpose(1, 2)


# 2. A larger image


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


@wrong(resized_positions, "class token's vector is missing")
def class_token_forgotten(positions, side):
    return by_interpolate(positions, side)[1:]


@wrong(resized_positions, "class token's vector stands at the end")
def class_token_last(positions, side):
    whole = by_interpolate(positions, side)
    return torch.cat([whole[1:], whole[:1]])


@wrong(resized_positions, "the class token with them")
def one_line(positions, side):
    line = F.interpolate(positions.T[None], 1 + side**2, mode="linear")
    return line[0].T


@wrong(resized_positions, "patches are stretched as one line")
def line_of_patches(positions, side):
    line = F.interpolate(positions[1:].T[None], side**2, mode="linear")
    return torch.cat([positions[:1], line[0].T])


@wrong(resized_positions, "rows and columns of the new grid")
def turned(positions, side):
    whole = by_interpolate(positions, side)
    grid = whole[1:].view(side, side, -1).transpose(0, 1)
    return torch.cat([whole[:1], grid.reshape(side * side, -1)])


@wrong(resized_positions, "mixed with the places")
def reshaped(positions, side):
    n = round((len(positions) - 1) ** 0.5)
    grid = positions[1:].reshape(1, positions.shape[1], n, n)
    grid = F.interpolate(grid, (side, side), mode="bilinear")
    return torch.cat([positions[:1], grid.reshape(side * side, -1)])


@wrong(resized_positions, "align_corners")
def corners_on_corners(positions, side):
    n = round((len(positions) - 1) ** 0.5)
    grid = positions[1:].T.reshape(1, -1, n, n)
    grid = F.interpolate(grid, (side, side), mode="bilinear", align_corners=True)
    return torch.cat([positions[:1], grid.flatten(2)[0].T])


@wrong(resized_positions, "nearest old vector")
def nearest(positions, side):
    n = round((len(positions) - 1) ** 0.5)
    grid = F.interpolate(positions[1:].T.reshape(1, -1, n, n), (side, side))
    return torch.cat([positions[:1], grid.flatten(2)[0].T])


@wrong(resized_positions, "on the way back")
def not_turned_back(positions, side):
    n = round((len(positions) - 1) ** 0.5)
    grid = F.interpolate(positions[1:].T.reshape(1, -1, n, n), (side, side), mode="bilinear")
    return torch.cat([positions[:1], grid.reshape(side * side, -1)])


@wrong(resized_positions, "bicubic")
def as_many_libraries_do(positions, side):
    n = round((len(positions) - 1) ** 0.5)
    grid = F.interpolate(positions[1:].T.reshape(1, -1, n, n), (side, side), mode="bicubic")
    return torch.cat([positions[:1], grid.flatten(2)[0].T])


# 3. Blank it


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


@wrong(occlusion, "sign")
def gain(*inputs):
    return -patch_by_patch(*inputs)


@wrong(occlusion, "after blanking")
def what_is_left(model, images, labels, patch_size):
    before = model(images).softmax(1).gather(1, labels[:, None])
    return before - patch_by_patch(model, images, labels, patch_size)


def with_judge(judge, inside=None):
    """Occlusion with another number than the label's probability."""

    def answer(model, images, labels, patch_size):
        before, drops = judge(model(images), labels), []
        blanked = images.clone()
        for top in range(0, images.shape[2], patch_size):
            for left in range(0, images.shape[3], patch_size):
                if inside is None:
                    blanked = images.clone()
                blanked[:, :, top : top + patch_size, left : left + patch_size] = 0
                drops.append(before - judge(model(blanked), labels))
        return torch.stack(drops, dim=1)

    return answer


def of_label(table, labels):
    return table[torch.arange(len(labels)), labels]


@wrong(occlusion, "one of logits")
def logits(*inputs):
    return with_judge(of_label)(*inputs)


@wrong(occlusion, "log-probabilities")
def log_probabilities(*inputs):
    return with_judge(lambda x, labels: of_label(x.log_softmax(1), labels))(*inputs)


@wrong(occlusion, "largest probability")
def of_the_favourite(*inputs):
    return with_judge(lambda x, labels: x.softmax(1).max(1).values)(*inputs)


@wrong(occlusion, "stays blank")
def never_restored(*inputs):
    return with_judge(lambda x, labels: of_label(x.softmax(1), labels), "keep")(*inputs)


@wrong(occlusion, "changes its input")
def in_place(model, images, labels, patch_size):
    before = of_label(model(images).softmax(1), labels)
    images[:, :, :patch_size, :patch_size] = 0
    return (before - of_label(model(images).softmax(1), labels))[:, None]


@wrong(occlusion, "column by column")
def columns_first(model, images, labels, patch_size):
    def turned(x):
        return model(x.transpose(2, 3))

    return patch_by_patch(turned, images.transpose(2, 3), labels, patch_size)


@wrong(occlusion, "filled with 1")
def with_ink(model, images, labels, patch_size):
    def inverted(x):
        return model(1 - x)

    return patch_by_patch(inverted, 1 - images, labels, patch_size)


@wrong(occlusion, "only the first channel")
def first_channel(model, images, labels, patch_size):
    before, drops = of_label(model(images).softmax(1), labels), []
    for top in range(0, images.shape[2], patch_size):
        for left in range(0, images.shape[3], patch_size):
            blanked = images.clone()
            blanked[:, 0, top : top + patch_size, left : left + patch_size] = 0
            drops.append(before - of_label(model(blanked).softmax(1), labels))
    return torch.stack(drops, dim=1)


@wrong(occlusion, "axes have changed places")
def patches_first(*inputs):
    return patch_by_patch(*inputs).T


@wrong(occlusion, "overlap")
def a_pixel_further(model, images, labels, patch_size):
    before, drops = of_label(model(images).softmax(1), labels), []
    for top in range(images.shape[2] // patch_size):
        for left in range(images.shape[3] // patch_size):
            blanked = images.clone()
            blanked[:, :, top : top + patch_size, left : left + patch_size] = 0
            drops.append(before - of_label(model(blanked).softmax(1), labels))
    return torch.stack(drops, dim=1)
