"""Checks for the steps of the pages in book/exercises/reproducing."""

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from book.checking.exercise import climb, exercise
from book.checking.rungs import edited, ladder


@exercise
def gradient_scales(answer) -> str:
    """Check `gradient_scales(matrices, losses)`: for each matrix, how long its mean gradient is.

    Each of `losses` computes the loss of one mini-batch. A matrix's gradient is averaged over them
    entry by entry, and the number is the Frobenius norm of that average.
    """
    climb(GRADIENT_SCALES, answer)
    return "one matrix and two, one mini-batch to five, gradients that cancel or were there before"


def _gradient_scales(matrices, losses):
    sums = [torch.zeros_like(matrix) for matrix in matrices]
    for loss in losses:
        gradients = torch.autograd.grad(loss(), matrices)
        sums = [total + gradient for total, gradient in zip(sums, gradients, strict=True)]
    return [(total / len(losses)).norm() for total in sums]


@ladder(_gradient_scales)
def GRADIENT_SCALES(gradient_scales):
    """one matrix and one mini-batch: the Frobenius norm is the root of the sum of all squared
    entries, here of 3 and 4"""
    w = torch.ones(2, 2, requires_grad=True)
    yield gradient_scales([w], [lambda: 3 * w[0, 0] + 4 * w[1, 1]])

    """each matrix has a number of its own, in the order in which they were given"""
    u = torch.ones(1, 2, requires_grad=True)
    w = torch.ones(2, 1, requires_grad=True)
    yield gradient_scales([u, w], [lambda: 5 * u[0, 1] + 12 * w[0, 0]])

    """two mini-batches: their gradients are averaged first, to 3 and 4, and the norm comes
    last"""
    w = torch.ones(1, 2, requires_grad=True)
    yield gradient_scales([w], [lambda: 6 * w[0, 0], lambda: 8 * w[0, 1]])

    """what two mini-batches disagree about cancels: opposite gradients leave nothing"""
    w = torch.ones(1, 2, requires_grad=True)
    yield gradient_scales([w], [lambda: 7 * w[0, 0], lambda: -7 * w[0, 0]])

    """gradients that the matrices had before do not count"""
    w = torch.ones(1, 2, requires_grad=True)
    w.grad = torch.tensor([[50.0, 0.0]])
    yield gradient_scales([w], [lambda: 3 * w[0, 0] + 4 * w[0, 1]])

    """matrices of any shape and any number of mini-batches, each with a loss that is not
    linear"""
    x = torch.randn(5, 4, 3)
    u, w = torch.randn(3, 6, requires_grad=True), torch.randn(6, 2, requires_grad=True)
    yield gradient_scales(
        [u, w], [lambda i=i: ((x[i] @ u).relu() @ w).square().mean() for i in range(5)]
    )


GRADIENT_SCALES.mistakes |= {
    "the absolute entries are summed; sum their squares, and take the root": edited(
        _gradient_scales, ".norm()", ".abs().sum()"
    ),
    "the mean of the squares was taken; the Frobenius norm sums them": edited(
        _gradient_scales, ".norm()", ".square().mean().sqrt()"
    ),
    "this is the norm of the matrix itself, not of its gradient": edited(
        _gradient_scales,
        "torch.autograd.grad(loss(), matrices)",
        "[matrix.detach() for matrix in matrices]",
    ),
    "the norms of the mini-batches are averaged; average the gradients, then take the norm": edited(
        _gradient_scales, "total + gradient", "total + gradient.norm() / gradient.numel() ** 0.5"
    ),
    "the gradients are added up and not divided by the number of mini-batches": edited(
        _gradient_scales, "total / len(losses)", "total"
    ),
    "only the last mini-batch counts": edited(
        _gradient_scales, "total + gradient", "gradient * len(losses)"
    ),
    "an earlier mini-batch counts again with each later one: .grad adds up until it "
    "is emptied": edited(
        _gradient_scales,
        "in losses:",
        "in [x for i in range(len(losses)) for x in losses[: i + 1]]:",
    ),
    "only the last gradient is left, divided by the number of mini-batches; add them all "
    "up first": edited(_gradient_scales, "total + gradient", "gradient"),
    "the sum is divided by the number of matrices; divide it by that of the mini-batches": edited(
        _gradient_scales, "total / len(losses)", "total / len(matrices)"
    ),
    "the sum is divided by the root of the number of mini-batches; divide it by the number": edited(
        _gradient_scales, "len(losses)).norm", "len(losses) ** 0.5).norm"
    ),
}


@exercise
def traffic(answer) -> str:
    """Check `traffic(n, d, block)`: how many numbers the tiled forward pass reads and writes.

    One head with n queries and n keys of width d, in blocks of `block` keys, as in algorithm 1 of
    Dao et al. 2022.
    """
    climb(TRAFFIC, answer)
    return "several blocks, a last one that is not full, up to 1024 queries of width 64"


def _traffic(n, d, block):
    blocks = -(-n // block)
    once = 2 * n * d
    each = 2 * n * d + n * d + 2 * n + 2 * n
    return once + blocks * each


@ladder(_traffic)
def TRAFFIC(traffic):
    """six queries and keys of width 10, three blocks of two keys: keys and values come in once
    (120); in each block all queries and outputs come in and the outputs go back (180), and so
    do the two running numbers of each query (24)"""
    yield traffic(6, 10, 2)

    """a last block that is not full is a block as well: five keys are two blocks of three"""
    yield traffic(5, 10, 3)

    """the size of a head in the paper"""
    yield traffic(1024, 64, 256)


TRAFFIC.mistakes |= {
    "the output so far is counted in one direction; each block reads it and writes it back": edited(
        _traffic, "2 * n * d + n * d", "n * d + n * d"
    ),
    "the running maximum and sum are left out": edited(_traffic, "+ 2 * n + 2 * n", ""),
    "the running maximum and sum are two numbers for each query, read and written: "
    "four, not two": edited(_traffic, "+ 2 * n + 2 * n", "+ 2 * n"),
    "keys come in, and so do values: both are counted": edited(
        _traffic, "once = 2 * n * d", "once = n * d"
    ),
    "keys and values are counted again with each block; each of them comes in once": edited(
        _traffic, "once + blocks", "blocks * once + blocks"
    ),
    "the queries pass only once; they pass again for each block of keys": edited(
        _traffic, "once + blocks * each", "once + each"
    ),
    "the queries pass as often as a block has keys; they pass as often as there are blocks": edited(
        _traffic, "-(-n // block)", "block"
    ),
    "the number of blocks is rounded down": edited(_traffic, "-(-n // block)", "n // block"),
    "only what is read is counted; outputs and running numbers are written back as well": edited(
        _traffic, "each = 2 * n * d + n * d + 2 * n + 2 * n", "each = 2 * n * d + 2 * n"
    ),
    "these are bytes, four for each number; count the numbers": edited(
        _traffic, "return once + blocks * each", "return 4 * (once + blocks * each)"
    ),
    "one block too many is counted where the last one is full": edited(
        _traffic, "-(-n // block)", "n // block + 1"
    ),
    "the n times n weights are counted, too; they are neither read nor written": edited(
        _traffic, "return once", "return n * n + once"
    ),
    "queries come in once and outputs go back once; both pass with each block of keys": edited(
        _traffic,
        "once = 2 * n * d",
        "once = 4 * n * d",
        "each = 2 * n * d + n * d + 2 * n + 2 * n",
        "each = 2 * n + 2 * n",
    ),
}


@exercise
def position_tiles(answer) -> str:
    """Check `position_tiles(positions)`: how similar each patch's position vector is to all others.

    `positions` (1 + n², d) has the class token's first; [r, c] of the result (n, n, n, n) is a
    picture of the grid: the cosines of the patch in row r and column c with every patch.
    """
    climb(POSITION_TILES, answer)
    return (
        "grids of two and of five rows, long and short vectors, opposite ones, the order of patches"
    )


def _position_tiles(positions):
    patches = positions[1:]
    side = round(len(patches) ** 0.5)
    unit = patches / patches.norm(dim=1, keepdim=True)
    return (unit @ unit.T).reshape(side, side, side, side)


@ladder(_position_tiles)
def POSITION_TILES(position_tiles):
    """a grid of two by two, and the class token, which has no place in it: the first and the
    last patch point in opposite directions, so their cosine is -1; the other two are at a right
    angle to both"""
    yield position_tiles(
        torch.tensor([[9.0, 9.0], [2.0, 0.0], [0.0, 3.0], [0.0, 3.0], [-5.0, 0.0]])
    )

    """the patches come row by row: the second is right of the first, and here the only one like
    it"""
    yield position_tiles(
        torch.tensor([[9.0, 9.0], [2.0, 0.0], [5.0, 0.0], [0.0, 3.0], [0.0, -1.0]])
    )

    """a grid of five by five, with vectors of eight numbers"""
    yield position_tiles(torch.randn(26, 8))


POSITION_TILES.mistakes |= {
    "these are dot products; divide each vector by its length first": edited(
        _position_tiles, "patches / patches.norm(dim=1, keepdim=True)", "patches"
    ),
    "one of the two vectors is not divided by its length": edited(
        _position_tiles, "unit @ unit.T", "unit @ patches.T"
    ),
    "these are distances; a patch has the cosine 1 with itself, not 0": edited(
        _position_tiles, "unit @ unit.T", "torch.cdist(unit, unit)"
    ),
    "the mean of all positions was subtracted first; the figure compares the vectors "
    "as they are": edited(
        _position_tiles, "positions[1:]", "positions[1:] - positions[1:].mean(0)"
    ),
    "all vectors are divided by one length; each has its own": edited(
        _position_tiles, ".norm(dim=1, keepdim=True)", ".norm()"
    ),
    "the last vector was left out; the class token's is the first": edited(
        _position_tiles, "positions[1:]", "positions[:-1]"
    ),
    "columns, not vectors, have length 1; divide each patch's vector by its own length": edited(
        _position_tiles, ".norm(dim=1, keepdim=True)", ".norm(dim=0, keepdim=True)"
    ),
    "rows and columns changed places": edited(
        _position_tiles, "side, side, side, side)", "side, side, side, side).permute(1, 0, 3, 2)"
    ),
    "axes 1 and 2 changed places: [r, c] is a patch, and its picture has the last two axes": edited(
        _position_tiles, "side, side, side, side)", "side, side, side, side).transpose(1, 2)"
    ),
    "a softmax was taken; the cosines are asked for as they are": edited(
        _position_tiles, "(unit @ unit.T)", "(unit @ unit.T).softmax(-1)"
    ),
    "the class token's vector was subtracted from all others; leave it out": edited(
        _position_tiles, "positions[1:]", "positions[1:] - positions[0]"
    ),
}


@exercise
def perplexity(answer) -> str:
    """Check `perplexity(model, text, length)`: by nonoverlapping inference.

    The text (N,) is cut into pieces of `length` inputs, and the model, ids (B, T) to logits
    (B, T, V), reads each by itself: each token but the first is predicted once.
    """
    climb(PERPLEXITY, answer)
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


def surer(ids):
    """Logits of the token after each: the surer, the further in the text."""
    return torch.arange(1, ids.shape[1] + 1)[:, None] * torch.eye(3)[(ids + 1) % 3]


@ladder(_perplexity)
def PERPLEXITY(perplexity):
    """one piece, and a model that holds all four tokens for equally likely: the perplexity is
    4"""
    text = torch.tensor([0, 1, 3, 2])
    yield perplexity(lambda ids: torch.zeros(*ids.shape, 4), text, 3)

    """one piece, and a model that gives most to the right token, which is the next one of the
    text"""
    text = torch.tensor([0, 1, 2, 0, 1])
    yield perplexity(lambda ids: 2 * torch.eye(3)[(ids + 1) % 3], text, 4)

    """one piece with an easy token and a hard one: the mean of the losses comes first, then e
    to its power"""
    table = torch.tensor([[0.0, 3.0], [0.0, 3.0]])
    yield perplexity(lambda ids: table[ids], torch.tensor([0, 1, 0]), 2)

    """two pieces of two, and a model that is the surer the further it has read: the second
    piece begins as unsure as the first"""
    text = torch.tensor([0, 1, 2, 0, 1])
    yield perplexity(surer, text, 2)

    """five tokens to predict in pieces of three: the last piece has two, and each token counts
    the same"""
    text = torch.tensor([0, 1, 2, 0, 2, 2])
    yield perplexity(surer, text, 3)

    """a text that is shorter than one piece"""
    text = torch.tensor([1, 2, 2])
    yield perplexity(surer, text, 8)

    """a longer text, and a model that draws on all that it has read of a piece"""
    text, vectors = torch.randint(5, (30,)), torch.randn(5, 5)
    yield perplexity(lambda ids: vectors[ids].cumsum(1), text, 8)


PERPLEXITY.mistakes |= {
    "2 to the power of the mean; the losses are natural logarithms, so take e": edited(
        _perplexity, ".mean().exp()", ".mean().exp2()"
    ),
    "this is the mean loss; the perplexity is e to its power": edited(
        _perplexity, ".mean().exp()", ".mean()"
    ),
    "the means of the pieces were averaged; each token counts alike, in a short piece, too": edited(
        _perplexity, 'reduction="none")', 'reduction="mean")[None]'
    ),
    "the losses are added up and not divided by the number of tokens": edited(
        _perplexity, ".mean().exp()", ".sum().exp()"
    ),
    "the sum is divided by the number of all tokens; the first is never predicted": edited(
        _perplexity, ".mean().exp()", ".sum().div(len(text)).exp()"
    ),
    "e to the power of each token's loss was averaged; average the losses": edited(
        _perplexity, ".mean().exp()", ".exp().mean()"
    ),
    "the text was read in one piece; the model may read `length` tokens at a time": edited(
        _perplexity, "range(0, len(text) - 1, length)", "[0]", "start + length + 1", "len(text)"
    ),
    "the first token of the second piece was not predicted; its input is the last one "
    "of the first": edited(_perplexity, "start + length + 1", "start + length"),
    "the pieces overlap, each begins half a piece after the one before; begin where that "
    "one ends": edited(
        _perplexity, "len(text) - 1, length)", "len(text) - 1, max(1, length // 2))"
    ),
}


@exercise
def cache_mask(answer) -> str:
    """Check `cache_mask(length, first, recent)`: what a token sees that reads from such a cache.

    Boolean, (length, length): True where a query, the row, may attend to a key, the column.
    """
    climb(CACHE_MASK, answer)
    return "caches with and without first tokens, texts that are shorter and longer than the cache"


def _cache_mask(length, first, recent):
    token = torch.arange(length)
    back = token[:, None] - token
    kept = (back < recent) | (token < first)
    return (back >= 0) & kept


@ladder(_cache_mask)
def CACHE_MASK(cache_mask):
    """four tokens, a cache of no first and two recent ones: a token sees itself, and the one
    before it"""
    yield cache_mask(4, 0, 2)

    """five tokens, one first and two recent: token 0 stays when it is no longer recent, so its
    column is open all the way down"""
    yield cache_mask(5, 1, 2)

    """three first tokens and one recent: the first tokens are not seen before they have been
    read"""
    yield cache_mask(5, 3, 1)

    """a text that is shorter than the cache: all that has been read is seen"""
    yield cache_mask(3, 4, 4)

    """a cache of four and four"""
    yield cache_mask(12, 4, 4)


CACHE_MASK.mistakes |= {
    "later tokens can be seen, before they have been read": edited(
        _cache_mask, "return (back >= 0) & kept", "return kept"
    ),
    "rows and columns changed places: a row is a query, a column a key": edited(
        _cache_mask, "return (back >= 0) & kept", "return ((back >= 0) & kept).T"
    ),
    "a token must be first and recent; one of the two is enough": edited(
        _cache_mask, "(back < recent) |", "(back < recent) &"
    ),
    "the rows of the first tokens were opened, not their columns": edited(
        _cache_mask, "token < first", "token[:, None] < first"
    ),
    "one first token too many is kept": edited(_cache_mask, "token < first", "token <= first"),
    "the recent tokens make room for the first ones; the cache holds both numbers": edited(
        _cache_mask, "back < recent", "back < recent - first"
    ),
    "the first tokens are seen by those before them": edited(
        _cache_mask,
        "return (back >= 0) & kept",
        "return (back >= 0) & (back < recent) | (token < first)",
    ),
    "only token 0 is kept, or one token for any number of them": edited(
        _cache_mask, "token < first", "token < min(first, 1)"
    ),
    "this is the causal mask: nothing ever leaves the cache": edited(
        _cache_mask, "(back >= 0) & kept", "back >= 0"
    ),
    "only the recent tokens are kept, and the first ones are not": edited(
        _cache_mask, " | (token < first)", ""
    ),
    "the distance is taken without its sign: later tokens can be seen as far as earlier "
    "ones": edited(
        _cache_mask,
        "back < recent",
        "abs(back) < recent",
        "return (back >= 0) & kept",
        "return kept",
    ),
}


@exercise
def fit_coverage(answer) -> str:
    """Check `fit_coverage(attempts, coverage)` -> (a, b), with coverage about exp(a k^b).

    A line through the points (ln k, ln(-ln c)) by least squares, each with the weight (c ln c)^2;
    points where the coverage is 0 or 1 are left out.
    """
    climb(FIT_COVERAGE, answer)
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


@ladder(_fit_coverage)
def FIT_COVERAGE(fit_coverage):
    """two points that lie on the curve with a = -2 and b = -0.5"""
    yield fit_coverage([1, 4], [np.exp(-2.0), np.exp(-1.0)])

    """attempts that begin at 10: a is what the line says for one attempt"""
    yield fit_coverage([10, 1000], [np.exp(-2.0), np.exp(-1.0)])

    """a third point with coverage 1: ln 1 is 0 and has no logarithm, so the point is left
    out"""
    yield fit_coverage([1, 4, 16], [np.exp(-2.0), np.exp(-1.0), 1.0])

    """a first point with coverage 0, which has no logarithm either"""
    yield fit_coverage([1, 4, 16], [0.0, np.exp(-2.0), np.exp(-1.0)])

    """three points, no curve through all of them: least squares in ln(-ln c), where each counts
    with its weight, in the means as well as in the slope"""
    yield fit_coverage([1, 10, 100], [np.exp(-2.0), np.exp(-1.9), np.exp(-0.1)])

    """many points beside a curve"""
    yield fit_coverage(list(range(1, 40)), (0.8 * torch.rand(39) + 0.1).tolist())


FIT_COVERAGE.mistakes |= {
    "this is the height of the line; a is minus e to its power": edited(
        _fit_coverage,
        "-torch.exp((share * y).sum() - b * (share * x).sum())",
        "(share * (y - b * x)).sum()",
    ),
    "all points count alike; each has the weight (c ln c) squared": edited(
        _fit_coverage, "(c * c.log()) ** 2", "torch.ones_like(c)"
    ),
    "c ln c is squared twice; square it once, or not at all for np.polyfit, which does it": edited(
        _fit_coverage, "(c * c.log()) ** 2", "(c * c.log()) ** 4"
    ),
    "the weights are c ln c; they are its square": edited(
        _fit_coverage, "(c * c.log()) ** 2", "c * -c.log()"
    ),
    "one logarithm is missing: the line goes through ln c, not through ln(-ln c)": edited(
        _fit_coverage, "(-c.log()).log()", "c.log()"
    ),
    "the line is drawn over the attempts, not over their logarithm": edited(
        _fit_coverage, "x, y = k.log()", "x, y = k"
    ),
    "a line was drawn through coverages, over the logarithm of the attempts": edited(
        _fit_coverage, "(-c.log()).log()", "c"
    ),
    "the first logarithm was taken of the coverage that is missing, 1 - c": edited(
        _fit_coverage, "(-c.log()).log()", "(-(1 - c).log()).log()"
    ),
    "the weights are upside down: each is (c ln c) squared, not 1 divided by it": edited(
        _fit_coverage, "(c * c.log()) ** 2", "(c * c.log()) ** -2"
    ),
    "the logarithm of the attempts is to base 10; take the natural one": edited(
        _fit_coverage, "k.log()", "k.log10()"
    ),
}
