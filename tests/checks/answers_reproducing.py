"""Answers to the steps of the pages in book/exercises/reproducing."""

import torch

from companion.checks.reproducing import gradient_scales
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
