"""Checks for the steps of the pages in book/exercises/reproducing."""

import torch

from companion.checks.exercise import exercise, ladder
from companion.checks.rungs import rungs


@exercise
def gradient_scales(answer) -> str:
    """Check `gradient_scales(matrices, losses)`: for each matrix, how long its mean gradient is.

    Each of `losses` computes the loss of one mini-batch. A matrix's gradient is averaged over them
    entry by entry, and the number is the Frobenius norm of that average.
    """
    ladder(GRADIENT_SCALES, _gradient_scales, gradient_scales=answer)
    return "one matrix and two, one mini-batch to five, gradients that cancel or were there before"


def _gradient_scales(matrices, losses):
    sums = [torch.zeros_like(matrix) for matrix in matrices]
    for loss in losses:
        gradients = torch.autograd.grad(loss(), matrices)
        sums = [total + gradient for total, gradient in zip(sums, gradients, strict=True)]
    return [(total / len(losses)).norm() for total in sums]


GRADIENT_SCALES = rungs(
    _gradient_scales,
    """
one matrix and one mini-batch: the Frobenius norm is the root of the sum of all squared entries,
here of 3 and 4
    w = torch.ones(2, 2, requires_grad=True)
    gradient_scales([w], [lambda: 3 * w[0, 0] + 4 * w[1, 1]])
  - the root is missing: this is the square of the norm
    .norm() => .norm() ** 2
  - the largest entry, or the largest singular value, was taken; the Frobenius norm counts all
    .norm() => .abs().max()
  - the absolute entries are summed; sum their squares, and take the root
    .norm() => .abs().sum()
  - the mean of the squares was taken; the Frobenius norm sums them
    .norm() => .square().mean().sqrt()
  - this is the norm of the matrix itself, not of its gradient
    torch.autograd.grad(loss(), matrices) => [matrix.detach() for matrix in matrices]
each matrix has a number of its own, in the order in which they were given
    u = torch.ones(1, 2, requires_grad=True)
    w = torch.ones(2, 1, requires_grad=True)
    gradient_scales([u, w], [lambda: 5 * u[0, 1] + 12 * w[0, 0]])
  - one number for all matrices together came back; each has its own
    [(total / len(losses)).norm() for total in sums] => torch.cat([x.ravel() for x in sums]).norm()
two mini-batches: their gradients are averaged first, to 3 and 4, and the norm comes last
    w = torch.ones(1, 2, requires_grad=True)
    gradient_scales([w], [lambda: 6 * w[0, 0], lambda: 8 * w[0, 1]])
  - the norms of the mini-batches are averaged; average the gradients, then take the norm
    total + gradient => total + gradient.norm() / gradient.numel() ** 0.5
  - the gradients are added up and not divided by the number of mini-batches
    total / len(losses) => total
  - only the last mini-batch counts
    total + gradient => gradient * len(losses)
  - only the first mini-batch counts
    in losses: => in losses[:1] * len(losses):
  - an earlier mini-batch counts again with each later one: .grad adds up until it is emptied
    in losses: => in [x for i in range(len(losses)) for x in losses[: i + 1]]:
what two mini-batches disagree about cancels: opposite gradients leave nothing
    w = torch.ones(1, 2, requires_grad=True)
    gradient_scales([w], [lambda: 7 * w[0, 0], lambda: -7 * w[0, 0]])
gradients that the matrices had before do not count
    w = torch.ones(1, 2, requires_grad=True)
    w.grad = torch.tensor([[50.0, 0.0]])
    gradient_scales([w], [lambda: 3 * w[0, 0] + 4 * w[0, 1]])
  - what was in .grad before is counted; set it to None first, or ask torch.autograd.grad
    torch.zeros_like(matrix) => torch.zeros_like(matrix) if matrix.grad is None else matrix.grad
matrices of any shape and any number of mini-batches, each with a loss that is not linear
    x = torch.randn(5, 4, 3)
    u, w = torch.randn(3, 6, requires_grad=True), torch.randn(6, 2, requires_grad=True)
    gradient_scales([u, w], [lambda i=i: ((x[i] @ u).relu() @ w).square().mean() for i in range(5)])
""",
)
