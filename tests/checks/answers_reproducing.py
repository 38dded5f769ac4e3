"""Answers to the steps of the pages in book/exercises/reproducing."""

import math

import torch

from companion.checks.reproducing import gradient_scales, position_tiles, traffic
from tests.checks.answers import right, wrong

# Gradients before the first step


@right(gradient_scales)
def with_backward(matrices, losses):
    for matrix in matrices:
        matrix.grad = None
    for loss in losses:
        (loss() / len(losses)).backward()
    return [matrix.grad.pow(2).sum().sqrt().item() for matrix in matrices]


@right(gradient_scales)
def stacked(matrices, losses):
    each = [torch.autograd.grad(loss(), matrices) for loss in losses]
    means = [torch.stack(gradients).mean(0) for gradients in zip(*each, strict=True)]
    return torch.stack([torch.linalg.matrix_norm(mean) for mean in means])


@right(gradient_scales)
def of_the_mean_loss(matrices, losses):
    mean = sum(loss() for loss in losses) / len(losses)
    return [g.norm(p="fro") for g in torch.autograd.grad(mean, list(matrices))]


@wrong(gradient_scales, "the norms of the mini-batches are averaged")
def mean_of_norms(matrices, losses):
    norms = torch.zeros(len(matrices))
    for loss in losses:
        norms += torch.stack([g.norm() for g in torch.autograd.grad(loss(), matrices)])
    return norms / len(losses)


@wrong(gradient_scales, "not divided by the number of mini-batches")
def summed(matrices, losses):
    gradients = torch.autograd.grad(sum(loss() for loss in losses), matrices)
    return [g.norm() for g in gradients]


@wrong(gradient_scales, "only the last mini-batch counts")
def emptied_every_time(matrices, losses):
    for loss in losses:
        for matrix in matrices:
            matrix.grad = None
        loss().backward()
    return [matrix.grad.norm() for matrix in matrices]


@wrong(gradient_scales, "counts again with each later one")
def never_emptied(matrices, losses):
    for matrix in matrices:
        matrix.grad = None
    sums = [torch.zeros_like(matrix) for matrix in matrices]
    for loss in losses:
        loss().backward()
        sums = [total + matrix.grad for total, matrix in zip(sums, matrices, strict=True)]
    return [(total / len(losses)).norm() for total in sums]


@wrong(gradient_scales, "only the first mini-batch counts")
def first_only(matrices, losses):
    return [g.norm() for g in torch.autograd.grad(losses[0](), matrices)]


@wrong(gradient_scales, "what was in .grad before is counted")
def on_top_of_the_old(matrices, losses):
    for loss in losses:
        (loss() / len(losses)).backward()
    return [matrix.grad.norm() for matrix in matrices]


@wrong(gradient_scales, "the largest singular value")
def spectral(matrices, losses):
    mean = sum(loss() for loss in losses) / len(losses)
    gradients = torch.autograd.grad(mean, matrices)
    return [torch.linalg.matrix_norm(g, ord=2) for g in gradients]


@wrong(gradient_scales, "the root is missing")
def squared(matrices, losses):
    mean = sum(loss() for loss in losses) / len(losses)
    return [(g * g).sum() for g in torch.autograd.grad(mean, matrices)]


@wrong(gradient_scales, "the mean of the squares")
def root_mean_square(matrices, losses):
    mean = sum(loss() for loss in losses) / len(losses)
    return [(g**2).mean() ** 0.5 for g in torch.autograd.grad(mean, matrices)]


@wrong(gradient_scales, "the absolute entries are summed")
def absolute(matrices, losses):
    mean = sum(loss() for loss in losses) / len(losses)
    return [g.abs().sum() for g in torch.autograd.grad(mean, matrices)]


@wrong(gradient_scales, "the norm of the matrix itself")
def of_the_weights(matrices, losses):
    return [matrix.detach().norm() for matrix in matrices]


@wrong(gradient_scales, "one number for all matrices")
def clipping_norm(matrices, losses):
    mean = sum(loss() for loss in losses) / len(losses)
    gradients = torch.autograd.grad(mean, matrices)
    return torch.cat([g.flatten() for g in gradients]).norm()


# What passes between the chip and its memory


@right(traffic)
def step_by_step(n, d, block):
    moved = 0
    for start in range(0, n, block):
        keys = min(block, n - start)
        moved += 2 * keys * d
        for _ in range(n):
            moved += d + d + 2
            moved += d + 2
    return moved


@right(traffic)
def in_one_line(n, d, block):
    return n * (2 * d + math.ceil(n / block) * (3 * d + 4))


@right(traffic)
def as_a_float(n, d, block):
    return torch.tensor(2.0 * n * d + math.ceil(n / block) * n * (3.0 * d + 4.0))


@wrong(traffic, "the output so far is counted in one direction")
def output_written_only(n, d, block):
    return 2 * n * d + math.ceil(n / block) * n * (2 * d + 4)


@wrong(traffic, "running maximum and sum are left out")
def matrices_only(n, d, block):
    return 2 * n * d + math.ceil(n / block) * 3 * n * d


@wrong(traffic, "four, not two")
def numbers_read_only(n, d, block):
    return 2 * n * d + math.ceil(n / block) * n * (3 * d + 2)


@wrong(traffic, "both are counted")
def values_forgotten(n, d, block):
    return n * d + math.ceil(n / block) * n * (3 * d + 4)


@wrong(traffic, "counted again with each block")
def keys_every_time(n, d, block):
    return math.ceil(n / block) * n * (5 * d + 4)


@wrong(traffic, "the queries pass only once")
def one_pass(n, d, block):
    return n * (5 * d + 4)


@wrong(traffic, "as often as a block has keys")
def by_the_block(n, d, block):
    return 2 * n * d + block * n * (3 * d + 4)


@wrong(traffic, "once for each key")
def key_by_key(n, d, block):
    return 2 * n * d + n * n * (3 * d + 4)


@wrong(traffic, "rounded down")
def whole_blocks(n, d, block):
    return 2 * n * d + n // block * n * (3 * d + 4)


@wrong(traffic, "not whole")
def share_of_a_block(n, d, block):
    return 2 * n * d + n / block * n * (3 * d + 4)


# How similar the positions of patches are


@right(position_tiles)
def with_cosine_similarity(positions):
    patches = positions[1:]
    n = math.isqrt(len(patches))
    cosines = torch.cosine_similarity(patches[:, None], patches[None], dim=-1)
    return cosines.view(n, n, n, n)


@right(position_tiles)
def patch_by_patch(positions):
    n = math.isqrt(len(positions) - 1)
    grid = torch.nn.functional.normalize(positions[1:], dim=-1).reshape(n, n, -1)
    return torch.stack([torch.stack([grid @ vector for vector in row]) for row in grid])


@right(position_tiles)
def with_einsum(positions):
    n = math.isqrt(len(positions) - 1)
    grid = positions[1:].double().unflatten(0, (n, n))
    dots = torch.einsum("rcd,ijd->rcij", grid, grid)
    lengths = grid.norm(dim=-1)
    return dots / (lengths[:, :, None, None] * lengths)


def _cosines(patches):
    return torch.cosine_similarity(patches[:, None], patches[None], dim=-1)


def _grid(matrix):
    return matrix.reshape([math.isqrt(len(matrix))] * 4)


@wrong(position_tiles, "these are dot products")
def dots(positions):
    return _grid(positions[1:] @ positions[1:].T)


@wrong(position_tiles, "one of the two vectors")
def one_length(positions):
    patches = positions[1:]
    return _grid(torch.nn.functional.normalize(patches, dim=1) @ patches.T)


@wrong(position_tiles, "these are distances")
def distances(positions):
    unit = torch.nn.functional.normalize(positions[1:], dim=1)
    return _grid((unit[:, None] - unit[None]).norm(dim=-1))


@wrong(position_tiles, "the mean of all positions was subtracted")
def centred(positions):
    return _grid(_cosines(positions[1:] - positions[1:].mean(0)))


@wrong(position_tiles, "the sign is lost")
def absolute_cosines(positions):
    return _grid(_cosines(positions[1:]).abs())


@wrong(position_tiles, "divided by one length")
def a_common_length(positions):
    unit = positions[1:] / positions[1:].norm()
    return _grid(unit @ unit.T)


@wrong(position_tiles, "the last vector was left out")
def class_token_last(positions):
    return _grid(_cosines(positions[:-1]))


@wrong(position_tiles, "not the cosines of one patch")
def interleaved(positions):
    return _grid(_cosines(positions[1:])).transpose(1, 2)


@wrong(position_tiles, "rows and columns changed places")
def column_by_column(positions):
    n = math.isqrt(len(positions) - 1)
    grid = positions[1:].reshape(n, n, -1).transpose(0, 1)
    return _grid(_cosines(grid.flatten(0, 1)))


@wrong(position_tiles, "rows and columns changed places inside each picture")
def transposed_pictures(positions):
    return _grid(_cosines(positions[1:])).mT
