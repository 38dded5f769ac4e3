"""Checks for the steps of the pages in book/exercises/reproducing."""

import torch
from torch.nn.functional import cross_entropy

from book.checking.exercise import exercise, ladder
from book.checking.rungs import rungs


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


@exercise
def perplexity(answer) -> str:
    """Check `perplexity(model, text, length)`: by nonoverlapping inference.

    `text` (N,) holds token ids. It is cut into pieces of `length` inputs, the last of which may be
    shorter, and `model(ids)` reads each piece by itself: ids (B, T) to logits (B, T, V) of what
    follows each of them. So each token but the first is predicted once. The perplexity is e to the
    mean of their losses.
    """
    ladder(PERPLEXITY, _perplexity, perplexity=answer)
    return (
        "one piece and several, a last piece that is shorter, tokens of unequal difficulty, a "
        "model that knows the more the further it has read"
    )


def _perplexity(model, text, length):
    losses = []
    for start in range(0, len(text) - 1, length):
        targets = text[start + 1 : start + length + 1]
        inputs = text[start : start + len(targets)]
        losses += [cross_entropy(model(inputs[None])[0], targets, reduction="none")]
    return torch.cat(losses).mean().exp()


PERPLEXITY = rungs(
    _perplexity,
    """
one piece, and a model that holds all four tokens for equally likely: the perplexity is 4
    text = torch.tensor([0, 1, 3, 2])
    perplexity(lambda ids: torch.zeros(*ids.shape, 4), text, 3)
  - this is the mean loss; the perplexity is e to its power
    .mean().exp() => .mean()
  - the losses are natural logarithms, and 2 to their mean was taken, not e
    return torch.cat(losses).mean().exp() => return 2 ** torch.cat(losses).mean()
  - the losses are added up and not divided by the number of tokens
    .mean().exp() => .sum().exp()
  - the sum is divided by the number of all tokens; the first is never predicted
    .mean().exp() => .sum().div(len(text)).exp()
  - the sign is wrong: this is 1 over the perplexity
    .mean().exp() => .mean().neg().exp()
one piece, and a model that gives most to the right token, which is the next one of the text
    text = torch.tensor([0, 1, 2, 0, 1])
    perplexity(lambda ids: 2 * torch.eye(3)[(ids + 1) % 3], text, 4)
  - each token was looked up at its own place; logits at one place are for the token that follows
    text[start + 1 : start + length + 1] => text[start : start + length]
  - logits are no logarithms of probabilities yet, and were added up as if they were
    cross_entropy( => torch.nn.functional.nll_loss(
one piece with an easy token and a hard one: the mean of the losses comes first, then e to its power
    table = torch.tensor([[0.0, 3.0], [0.0, 3.0]])
    perplexity(lambda ids: table[ids], torch.tensor([0, 1, 0]), 2)
  - e to the power of each token's loss was averaged; average the losses
    .mean().exp() => .exp().mean()
two pieces of two, and a model that is the surer the further it has read: the second piece begins
as unsure as the first
    text = torch.tensor([0, 1, 2, 0, 1])
    seen = lambda ids: torch.arange(1, ids.shape[1] + 1)[:, None]
    perplexity(lambda ids: seen(ids) * torch.eye(3)[(ids + 1) % 3], text, 2)
  - the text was read in one piece; the model may read `length` tokens at a time
    range(0, len(text) - 1, length) => [0]
    start + length + 1 => len(text)
  - the first token of the second piece was not predicted; its input is the last one of the first
    start + length + 1 => start + length
  - only the last token of each piece is counted
    reduction="none") => reduction="none")[-1:]
  - only the first piece is counted
    range(0, len(text) - 1, length) => [0]
  - the pieces overlap: each token is predicted with all `length` tokens before it
    start in range(0, len(text) - 1, length) => end in range(1, len(text))
    text[start + 1 : start + length + 1] => text[end : end + 1]
    text[start : start + len(targets)] => text[max(0, end - length) : end]
    (inputs[None])[0] => (inputs[None])[0, -1:]
five tokens to predict in pieces of three: the last piece has two, and each token counts the same
    text = torch.tensor([0, 1, 2, 0, 2, 2])
    seen = lambda ids: torch.arange(1, ids.shape[1] + 1)[:, None]
    perplexity(lambda ids: seen(ids) * torch.eye(3)[(ids + 1) % 3], text, 3)
  - the last piece, which is shorter, was left out
    range(0, len(text) - 1, length) => range(0, len(text) - length, length)
  - each piece was averaged, and the pieces again; a short piece then counts as much as a long one
    reduction="none") => reduction="mean")[None]
  - the perplexities of the pieces were averaged; average the losses of all tokens first
    reduction="none") => reduction="mean")[None]
    .mean().exp() => .exp().mean()
a text that is shorter than one piece
    text = torch.tensor([1, 2, 2])
    seen = lambda ids: torch.arange(1, ids.shape[1] + 1)[:, None]
    perplexity(lambda ids: seen(ids) * torch.eye(3)[(ids + 1) % 3], text, 8)
a longer text, and a model that draws on all that it has read of a piece
    text, vectors = torch.randint(5, (30,)), torch.randn(5, 5)
    perplexity(lambda ids: vectors[ids].cumsum(1), text, 8)
""",
)


@exercise
def cache_mask(answer) -> str:
    """Check `cache_mask(length, first, recent)`: what a token sees that reads from such a cache.

    The cache holds the first tokens of the text and the most recent ones, the token itself among
    them. The result is boolean, (length, length): True where a query, the row, may attend to a key,
    the column.
    """
    ladder(CACHE_MASK, _cache_mask, cache_mask=answer)
    return "caches with and without first tokens, texts that are shorter and longer than the cache"


def _cache_mask(length, first, recent):
    token = torch.arange(length)
    back = token[:, None] - token
    kept = (back < recent) | (token < first)
    return (back >= 0) & kept


CACHE_MASK = rungs(
    _cache_mask,
    """
four tokens, a cache of no first and two recent ones: a token sees itself, and the one before it
    cache_mask(4, 0, 2)
  - True and False changed places: True is where a query may attend
    return (back >= 0) & kept => return ~((back >= 0) & kept)
  - later tokens can be seen, before they have been read
    return (back >= 0) & kept => return kept
  - one token too many is kept: the token itself is one of the most recent
    back < recent => back <= recent
  - one token too few is kept
    back < recent => back < recent - 1
  - rows and columns changed places: a row is a query, a column a key
    return (back >= 0) & kept => return ((back >= 0) & kept).T
  - everything up to the token is seen; nothing leaves this cache
    (back < recent) => (back < length)
five tokens, one first and two recent: token 0 stays when it is no longer recent, so its column is
open all the way down
    cache_mask(5, 1, 2)
  - the first tokens are forgotten like all others: this is a window
    | (token < first) =>
  - only the first tokens are kept, and the recent ones are not
    (back < recent) | (token < first) => token < first
  - a token must be first and recent; one of the two is enough
    (back < recent) | => (back < recent) &
  - the rows of the first tokens were opened, not their columns
    token < first => token[:, None] < first
  - one first token too many is kept
    token < first => token <= first
  - the recent tokens make room for the first ones; the cache holds both numbers
    back < recent => back < recent - first
three first tokens and one recent: the first tokens are not seen before they have been read
    cache_mask(5, 3, 1)
  - the first tokens are seen by those before them
    return (back >= 0) & kept => return (back >= 0) & (back < recent) | (token < first)
  - only token 0 is kept, or one token for any number of them
    token < first => token < min(first, 1)
the mask is boolean, as companion's attention wants it
    np.asarray(cache_mask(3, 1, 1)).dtype == bool
  - the mask holds numbers, not True and False
    return (back >= 0) & kept => return ((back >= 0) & kept).float()
a text that is shorter than the cache: all that has been read is seen
    cache_mask(3, 4, 4)
a cache of four and four
    cache_mask(12, 4, 4)
""",
)


@exercise
def fit_coverage(answer) -> str:
    """Check `fit_coverage(attempts, coverage)` -> (a, b), with coverage about exp(a k^b).

    A line through the points (ln k, ln(-ln c)) by least squares, each with the weight (c ln c)^2;
    its slope is b, and -a is e to the power of its height at ln k = 0. Points where the coverage is
    0 or 1 are left out.
    """
    ladder(FIT_COVERAGE, _fit_coverage, fit_coverage=answer)
    return (
        "two points on a curve and more, points beside it, attempts that begin above 1, and "
        "coverages of 0 and 1"
    )


def _fit_coverage(attempts, coverage):
    k, c = torch.tensor(attempts).double(), torch.tensor(coverage).double()
    inside = (c > 0) & (c < 1)
    k, c = k[inside], c[inside]
    x, y = k.log(), (-c.log()).log()
    weight = (c * c.log()) ** 2
    share = weight / weight.sum()
    away = x - (share * x).sum()
    b = (share * away * y).sum() / (share * away**2).sum()
    a = -torch.exp((share * y).sum() - b * (share * x).sum())
    return a, b


FIT_COVERAGE = rungs(
    _fit_coverage,
    """
two points that lie on the curve with a = -2 and b = -0.5
    fit_coverage([1, 4], [np.exp(-2.0), np.exp(-1.0)])
  - the two numbers changed places: a comes first
    return a, b => return b, a
  - a has the wrong sign: the logarithm of a coverage is below 0, so a is, too
    a = -torch => a = torch
  - b has the wrong sign: ln(-ln c) falls as the attempts grow
    return a, b => return a, -b
  - this is the height of the line; a is minus e to its power
    -torch.exp((share * y).sum() - b * (share * x).sum()) => (share * (y - b * x)).sum()
  - this is minus the height of the line; a is minus e to its power
    -torch.exp((share * y).sum() - b * (share * x).sum()) => -(share * (y - b * x)).sum()
  - the height of the line is a natural logarithm, and 10 to its power was taken
    -torch.exp((share * y).sum() - b * (share * x).sum()) => -10 ** (share * (y - b * x)).sum()
  - one logarithm is missing: the line goes through ln c, not through ln(-ln c)
    (-c.log()).log() => c.log()
  - the line is drawn over the attempts, not over their logarithm
    x, y = k.log() => x, y = k
  - a line was drawn through coverages, over the logarithm of the attempts
    (-c.log()).log() => c
  - the first logarithm was taken of the coverage that is missing, 1 - c
    (-c.log()).log() => (-(1 - c).log()).log()
attempts that begin at 10: a is what the line says for one attempt
    fit_coverage([10, 1000], [np.exp(-2.0), np.exp(-1.0)])
  - a was read off at the fewest attempts that were given, not at one
    a = -torch.exp((share * y).sum() - b * (share * x).sum()) => a = -torch.exp(y[0])
  - a was read off in the middle of the line, not at one attempt
    a = -torch.exp((share * y).sum() - b * (share * x).sum()) => a = -torch.exp((share * y).sum())
a third point with coverage 1: ln 1 is 0 and has no logarithm, so the point is left out
    fit_coverage([1, 4, 16], [np.exp(-2.0), np.exp(-1.0), 1.0])
a first point with coverage 0, which has no logarithm either
    fit_coverage([1, 4, 16], [0.0, np.exp(-2.0), np.exp(-1.0)])
three points, no curve through all of them: least squares in ln(-ln c), each with its weight
    fit_coverage([1, 10, 100], [np.exp(-2.0), np.exp(-1.9), np.exp(-0.1)])
  - all points have the same weight; each has (c ln c)^2
    weight = (c * c.log()) ** 2 => weight = torch.ones(len(c)).double()
  - the square is missing: each point has the weight (c ln c)^2
    weight = (c * c.log()) ** 2 => weight = -c * c.log()
  - the weights were squared once more: polyfit squares those that it is given
    weight = (c * c.log()) ** 2 => weight = (c * c.log()) ** 4
  - the weight is one over (c ln c)^2: where a small error of c moves the point far, it counts less
    weight = (c * c.log()) ** 2 => weight = (c * c.log()) ** -2
  - the weights were used for the slope, and not for the means
    away = x - (share * x).sum() => away = x - x.mean()
    (share * away * y).sum() => (share * away * (y - y.mean())).sum()
    (share * y).sum() - b * (share * x).sum() => y.mean() - b * x.mean()
  - the line goes through the first and the last point; the one between them counts as well
    return a, b => b = (y[-1] - y[0]) / (x[-1] - x[0]); return -torch.exp(y[0] - b * x[0]), b
many points beside a curve
    fit_coverage(list(range(1, 40)), (0.8 * torch.rand(39) + 0.1).tolist())
""",
)
