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


@exercise
def traffic(answer) -> str:
    """Check `traffic(n, d, block)`: how many numbers the tiled forward pass reads and writes.

    One head with n queries and n keys of width d, in blocks of `block` keys, as in algorithm 1 of
    Dao et al. 2022: keys and values pass once; for each block of them every query, its output so
    far and its two running numbers come in, and output and running numbers go back.
    """
    ladder(TRAFFIC, _traffic, traffic=answer)
    return "one block and several, a last block that is not full, up to 1024 queries of width 64"


def _traffic(n, d, block):
    blocks = -(-n // block)
    once = 2 * n * d
    each = 2 * n * d + n * d + 2 * n + 2 * n
    return once + blocks * each


TRAFFIC = rungs(
    _traffic,
    """
six queries and keys of width 10, three blocks of two keys: keys and values come in once (120); in
each block all queries and outputs come in and the outputs go back (180), and so do the two running
numbers of each query (24)
    traffic(6, 10, 2)
  - the output so far is counted in one direction; each block reads it and writes it back
    2 * n * d + n * d => n * d + n * d
  - the running maximum and sum are left out
    + 2 * n + 2 * n =>
  - the running maximum and sum are two numbers for each query, read and written: four, not two
    + 2 * n + 2 * n => + 2 * n
  - keys come in, and so do values: both are counted
    once = 2 * n * d => once = n * d
  - keys and values are counted again with each block; each of them comes in once
    once + blocks => blocks * once + blocks
  - the queries pass only once; they pass again for each block of keys
    once + blocks * each => once + each
  - the queries pass as often as a block has keys; they pass as often as there are blocks
    -(-n // block) => block
  - the queries pass once for each key; they pass once for each block of keys
    -(-n // block) => n
a last block that is not full is a block as well: five keys are two blocks of three
    traffic(5, 10, 3)
  - the number of blocks is rounded down
    -(-n // block) => n // block
  - the number of blocks is not whole
    -(-n // block) => n / block
a block that is larger than the sequence is one block
    traffic(3, 10, 8)
the size of a head in the paper
    traffic(1024, 64, 256)
""",
)


@exercise
def position_tiles(answer) -> str:
    """Check `position_tiles(positions)`: how similar each patch's position vector is to all others.

    `positions` (1 + n², d) has the class token's vector first, then those of the patches of a grid
    of n by n, row by row. Of the result (n, n, n, n), the entry [r, c] is a picture of the grid:
    the cosines between the patch in row r and column c and every patch.
    """
    ladder(POSITION_TILES, _position_tiles, position_tiles=answer)
    return (
        "grids of two and of five rows, long and short vectors, opposite ones, the order of patches"
    )


def _position_tiles(positions):
    patches = positions[1:]
    side = round(len(patches) ** 0.5)
    unit = patches / patches.norm(dim=1, keepdim=True)
    return (unit @ unit.T).reshape(side, side, side, side)


POSITION_TILES = rungs(
    _position_tiles,
    """
a grid of two by two, and the class token, which has no place in it: the first and the last patch
point in opposite directions, so their cosine is -1; the other two are at a right angle to both
    position_tiles(torch.tensor([[9.0, 9.0], [2.0, 0.0], [0.0, 3.0], [0.0, 3.0], [-5.0, 0.0]]))
  - these are dot products; divide each vector by its length first
    patches / patches.norm(dim=1, keepdim=True) => patches
  - one of the two vectors is not divided by its length
    unit @ unit.T => unit @ patches.T
  - these are distances; a patch has the cosine 1 with itself, not 0
    unit @ unit.T => torch.cdist(unit, unit)
  - the mean of all positions was subtracted first; the figure compares the vectors as they are
    positions[1:] => positions[1:] - positions[1:].mean(0)
  - the sign is lost; opposite vectors have the cosine -1
    (unit @ unit.T) => (unit @ unit.T).abs()
  - all vectors are divided by one length; each has its own
    .norm(dim=1, keepdim=True) => .norm()
  - the last vector was left out; the class token's is the first
    positions[1:] => positions[:-1]
  - in [r, c] are not the cosines of one patch: the first two axes are its row and column
    .reshape(side, side, side, side) => .reshape(side, side, side, side).permute(0, 2, 1, 3)
the patches come row by row: the second is right of the first, and here the only one like it
    position_tiles(torch.tensor([[9.0, 9.0], [2.0, 0.0], [5.0, 0.0], [0.0, 3.0], [0.0, -1.0]]))
  - rows and columns changed places
    side, side, side, side) => side, side, side, side).permute(1, 0, 3, 2)
  - rows and columns changed places inside each picture
    side, side, side, side) => side, side, side, side).transpose(2, 3)
a grid of five by five, with vectors of eight numbers
    position_tiles(torch.randn(26, 8))
""",
)
