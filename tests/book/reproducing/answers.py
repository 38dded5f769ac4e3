"""Answers to the steps of the pages in book/exercises/reproducing."""

import math

import numpy as np
import torch
from torch.nn import functional as F

from book.reproducing.checks import (
    cache_mask,
    fit_coverage,
    gradient_scales,
    perplexity,
    position_tiles,
    traffic,
)
from tests.book.answers import right, wrong

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


# Perplexity over pieces of a text


@right(perplexity)
def piece_by_piece(model, text, length):
    total, count = 0.0, 0
    for start in range(0, len(text) - 1, length):
        piece = text[start : start + length + 1]
        log_p = torch.log_softmax(model(piece[None, :-1])[0], dim=-1)
        for t, token in enumerate(piece[1:]):
            total += log_p[t, token].item()
            count += 1
    return math.exp(-total / count)


@right(perplexity)
def full_pieces_at_once(model, text, length):
    whole = (len(text) - 1) // length * length
    losses = []
    if whole:
        ids, targets = text[:whole].view(-1, length), text[1 : whole + 1].view(-1, length)
        losses.append(F.cross_entropy(model(ids).mT, targets, reduction="none").flatten())
    if whole < len(text) - 1:
        losses.append(
            F.cross_entropy(model(text[None, whole:-1])[0], text[whole + 1 :], reduction="none")
        )
    return torch.cat(losses).mean().exp()


@right(perplexity)
def with_split(model, text, length):
    total = 0.0
    for inputs, targets in zip(text[:-1].split(length), text[1:].split(length), strict=True):
        p = model(inputs.unsqueeze(0)).softmax(-1).squeeze(0)
        total += p.gather(-1, targets[:, None]).log().sum()
    return (-total / text[1:].numel()).exp().item()


def _pieces(text, length):
    return zip(text[:-1].split(length), text[1:].split(length), strict=True)


def _losses(model, text, length):
    return [
        F.cross_entropy(model(inputs[None])[0], targets, reduction="none")
        for inputs, targets in _pieces(text, length)
    ]


@wrong(perplexity, "this is the mean loss")
def mean_loss(model, text, length):
    return torch.cat(_losses(model, text, length)).mean()


@wrong(perplexity, "2 to their mean was taken")
def in_bits(model, text, length):
    return 2.0 ** torch.cat(_losses(model, text, length)).mean()


@wrong(perplexity, "not divided by the number of tokens")
def of_the_whole_text(model, text, length):
    return torch.cat(_losses(model, text, length)).sum().exp()


@wrong(perplexity, "the first is never predicted")
def over_all_tokens(model, text, length):
    return (torch.cat(_losses(model, text, length)).sum() / text.numel()).exp()


@wrong(perplexity, "this is 1 over the perplexity")
def mean_probability(model, text, length):
    return torch.exp(-torch.cat(_losses(model, text, length)).mean())


@wrong(perplexity, "looked up at its own place")
def not_shifted(model, text, length):
    pieces = text.split(length)
    losses = [F.cross_entropy(model(p[None])[0], p, reduction="none") for p in pieces]
    return torch.cat(losses).mean().exp()


@wrong(perplexity, "added up as if they were")
def logits_added(model, text, length):
    total = 0.0
    for inputs, targets in _pieces(text, length):
        total -= model(inputs[None])[0].gather(-1, targets[:, None]).sum()
    return (total / (len(text) - 1)).exp()


@wrong(perplexity, "each token's loss was averaged")
def mean_of_perplexities(model, text, length):
    return torch.cat(_losses(model, text, length)).exp().mean()


@wrong(perplexity, "read in one piece")
def in_one_piece(model, text, length):
    return F.cross_entropy(model(text[None, :-1])[0], text[1:]).exp()


@wrong(perplexity, "its input is the last one of the first")
def inside_the_pieces(model, text, length):
    losses = []
    for piece in text.split(length):
        losses.append(F.cross_entropy(model(piece[None, :-1])[0], piece[1:], reduction="none"))
    return torch.cat(losses).mean().exp()


@wrong(perplexity, "only the last token of each piece")
def ends_only(model, text, length):
    return torch.stack([losses[-1] for losses in _losses(model, text, length)]).mean().exp()


@wrong(perplexity, "only the first piece")
def beginning_only(model, text, length):
    return _losses(model, text, length)[0].mean().exp()


@wrong(perplexity, "the pieces overlap")
def sliding(model, text, length):
    losses = []
    for t in range(1, len(text)):
        logits = model(text[None, max(0, t - length) : t])[0, -1]
        losses.append(F.cross_entropy(logits, text[t]))
    return torch.stack(losses).mean().exp()


@wrong(perplexity, "which is shorter, was left out")
def full_pieces_only(model, text, length):
    whole = (len(text) - 1) // length * length
    return torch.cat(_losses(model, text[: whole + 1], length)).mean().exp()


@wrong(perplexity, "a short piece then counts as much")
def mean_of_pieces(model, text, length):
    return torch.stack([losses.mean() for losses in _losses(model, text, length)]).mean().exp()


@wrong(perplexity, "the perplexities of the pieces were averaged")
def mean_of_pieces_perplexities(model, text, length):
    return torch.stack([losses.mean().exp() for losses in _losses(model, text, length)]).mean()


# What a cache with first tokens lets through


@right(cache_mask)
def token_by_token(length, first, recent):
    mask = torch.zeros(length, length, dtype=torch.bool)
    for i in range(length):
        cache = [j for j in range(i + 1) if j < first or j > i - recent]
        mask[i, cache] = True
    return mask


@right(cache_mask)
def from_triangles(length, first, recent):
    causal = torch.ones(length, length).tril().bool()
    forgotten = torch.ones(length, length).tril(-recent).bool()
    forgotten[:, :first] = False
    return causal & ~forgotten


@right(cache_mask)
def as_an_array(length, first, recent):
    i, j = np.indices((length, length))
    return (j <= i) & ((j < first) | (i - j < recent))


def _cache(i, j, first, recent):
    return (j <= i) & ((j < first) | (i - j < recent))


@wrong(cache_mask, "True and False changed places")
def forbidden(length, first, recent):
    i, j = torch.meshgrid(torch.arange(length), torch.arange(length), indexing="ij")
    return ~_cache(i, j, first, recent)


@wrong(cache_mask, "later tokens can be seen")
def not_causal(length, first, recent):
    i, j = torch.meshgrid(torch.arange(length), torch.arange(length), indexing="ij")
    return (j < first) | (i - j < recent)


@wrong(cache_mask, "one token too many is kept")
def itself_and_recent(length, first, recent):
    i, j = torch.meshgrid(torch.arange(length), torch.arange(length), indexing="ij")
    return _cache(i, j, first, recent + 1)


@wrong(cache_mask, "one token too few is kept")
def recent_less_one(length, first, recent):
    i, j = torch.meshgrid(torch.arange(length), torch.arange(length), indexing="ij")
    return _cache(i, j, first, recent - 1)


@wrong(cache_mask, "a row is a query, a column a key")
def columns_are_queries(length, first, recent):
    i, j = torch.meshgrid(torch.arange(length), torch.arange(length), indexing="xy")
    return _cache(i, j, first, recent)


@wrong(cache_mask, "nothing leaves this cache")
def causal_only(length, first, recent):
    return torch.ones(length, length).tril().bool()


@wrong(cache_mask, "this is a window")
def window_only(length, first, recent):
    return torch.ones(length, length).tril().triu(1 - recent).bool()


@wrong(cache_mask, "the recent ones are not")
def first_only_kept(length, first, recent):
    mask = torch.zeros(length, length).bool()
    mask[:, :first] = True
    return mask.tril()


@wrong(cache_mask, "one of the two is enough")
def first_and_recent(length, first, recent):
    i, j = torch.meshgrid(torch.arange(length), torch.arange(length), indexing="ij")
    return (j <= i) & (j < first) & (i - j < recent)


@wrong(cache_mask, "not their columns")
def rows_opened(length, first, recent):
    mask = torch.ones(length, length).triu(1 - recent)
    mask[:first] = 1
    return mask.tril().bool()


@wrong(cache_mask, "one first token too many")
def first_included(length, first, recent):
    i, j = torch.meshgrid(torch.arange(length), torch.arange(length), indexing="ij")
    return _cache(i, j, first + 1, recent)


@wrong(cache_mask, "make room for the first ones")
def recent_in_all(length, first, recent):
    i, j = torch.meshgrid(torch.arange(length), torch.arange(length), indexing="ij")
    return _cache(i, j, first, recent - first)


@wrong(cache_mask, "seen by those before them")
def sinks_for_everyone(length, first, recent):
    mask = torch.ones(length, length).tril().triu(1 - recent)
    mask[:, :first] = 1
    return mask.bool()


@wrong(cache_mask, "only token 0 is kept")
def one_sink(length, first, recent):
    mask = torch.ones(length, length).tril().triu(1 - recent).bool()
    if first:
        mask[:, 0] = True
    return mask


@wrong(cache_mask, "not True and False")
def of_numbers(length, first, recent):
    mask = torch.ones(length, length).triu(1 - recent)
    mask[:, :first] = 1
    return mask.tril()


# A curve through coverages


def _points(attempts, coverage):
    k, c = np.asarray(attempts, float), np.asarray(coverage, float)
    inside = (0 < c) & (c < 1)
    return k[inside], c[inside]


@right(fit_coverage)
def with_polyfit(attempts, coverage):
    k, c = _points(attempts, coverage)
    slope, height = np.polyfit(np.log(k), np.log(-np.log(c)), 1, w=-c * np.log(c))
    return -np.exp(height), slope


@right(fit_coverage)
def with_lstsq(attempts, coverage):
    points = [(k, c) for k, c in zip(attempts, coverage, strict=True) if 0 < c < 1]
    root = torch.tensor([[-c * math.log(c)] for _, c in points], dtype=torch.float64)
    x = torch.tensor([[1.0, math.log(k)] for k, _ in points], dtype=torch.float64)
    y = torch.tensor([[math.log(-math.log(c))] for _, c in points], dtype=torch.float64)
    height, slope = torch.linalg.lstsq(root * x, root * y).solution[:, 0].tolist()
    return -math.exp(height), slope


@right(fit_coverage)
def with_sums(attempts, coverage):
    total = sx = sy = sxx = sxy = 0.0
    for k, c in zip(attempts, coverage, strict=True):
        if 0 < c < 1:
            w, x, y = (c * math.log(c)) ** 2, math.log(k), math.log(-math.log(c))
            total, sx, sy, sxx, sxy = (
                total + w,
                sx + w * x,
                sy + w * y,
                sxx + w * x * x,
                sxy + w * x * y,
            )
    b = (total * sxy - sx * sy) / (total * sxx - sx * sx)
    return [-math.exp((sy - b * sx) / total), b]


def _line(x, y, c):
    slope, height = np.polyfit(x, y, 1, w=-c * np.log(c))
    return height, slope


@wrong(fit_coverage, "the two numbers changed places")
def b_first(attempts, coverage):
    return with_polyfit(attempts, coverage)[::-1]


@wrong(fit_coverage, "a has the wrong sign")
def positive_a(attempts, coverage):
    a, b = with_polyfit(attempts, coverage)
    return -a, b


@wrong(fit_coverage, "b has the wrong sign")
def positive_b(attempts, coverage):
    a, b = with_polyfit(attempts, coverage)
    return a, -b


@wrong(fit_coverage, "this is the height of the line")
def height_itself(attempts, coverage):
    k, c = _points(attempts, coverage)
    return _line(np.log(k), np.log(-np.log(c)), c)


@wrong(fit_coverage, "this is minus the height")
def minus_height(attempts, coverage):
    height, slope = height_itself(attempts, coverage)
    return -height, slope


@wrong(fit_coverage, "10 to its power was taken")
def mixed_bases(attempts, coverage):
    height, slope = height_itself(attempts, coverage)
    return -(10**height), slope


@wrong(fit_coverage, "one logarithm is missing")
def one_logarithm(attempts, coverage):
    k, c = _points(attempts, coverage)
    height, slope = _line(np.log(k), np.log(c), c)
    return -np.exp(height), slope


@wrong(fit_coverage, "over the attempts, not over their logarithm")
def over_attempts(attempts, coverage):
    k, c = _points(attempts, coverage)
    height, slope = _line(k, np.log(-np.log(c)), c)
    return -np.exp(height), slope


@wrong(fit_coverage, "a line was drawn through coverages")
def log_linear(attempts, coverage):
    k, c = _points(attempts, coverage)
    height, slope = _line(np.log(k), c, c)
    return -np.exp(height), slope


@wrong(fit_coverage, "the coverage that is missing")
def of_failures(attempts, coverage):
    k, c = _points(attempts, coverage)
    height, slope = _line(np.log(k), np.log(-np.log(1 - c)), c)
    return -np.exp(height), slope


@wrong(fit_coverage, "at the fewest attempts")
def first_height(attempts, coverage):
    _, c = _points(attempts, coverage)
    return np.log(c[0]), with_polyfit(attempts, coverage)[1]


@wrong(fit_coverage, "in the middle of the line")
def middle_height(attempts, coverage):
    _, c = _points(attempts, coverage)
    share = (c * np.log(c)) ** 2 / ((c * np.log(c)) ** 2).sum()
    return -np.exp((share * np.log(-np.log(c))).sum()), with_polyfit(attempts, coverage)[1]


@wrong(fit_coverage, "ln 1 is 0 and has no logarithm")
def with_coverage_one(attempts, coverage):
    k, c = np.asarray(attempts, float), np.asarray(coverage, float)
    with np.errstate(all="ignore"):
        x, y, w = np.log(k), np.log(-np.log(c)), (c * np.log(c)) ** 2
        mean_x, mean_y = (w * x).sum() / w.sum(), (w * y).sum() / w.sum()
        b = (w * (x - mean_x) * (y - mean_y)).sum() / (w * (x - mean_x) ** 2).sum()
        return -np.exp(mean_y - b * mean_x), b


@wrong(fit_coverage, "which has no logarithm either")
def with_coverage_zero(attempts, coverage):
    kept = [(k, c) for k, c in zip(attempts, coverage, strict=True) if c < 1]
    return with_coverage_one(*zip(*kept, strict=True))


@wrong(fit_coverage, "all points have the same weight")
def without_weights(attempts, coverage):
    k, c = _points(attempts, coverage)
    slope, height = np.polyfit(np.log(k), np.log(-np.log(c)), 1)
    return -np.exp(height), slope


@wrong(fit_coverage, "the square is missing")
def weight_not_squared(attempts, coverage):
    k, c = _points(attempts, coverage)
    slope, height = np.polyfit(np.log(k), np.log(-np.log(c)), 1, w=(-c * np.log(c)) ** 0.5)
    return -np.exp(height), slope


@wrong(fit_coverage, "polyfit squares those")
def weights_for_polyfit(attempts, coverage):
    k, c = _points(attempts, coverage)
    slope, height = np.polyfit(np.log(k), np.log(-np.log(c)), 1, w=(c * np.log(c)) ** 2)
    return -np.exp(height), slope


@wrong(fit_coverage, "one over")
def inverse_weights(attempts, coverage):
    k, c = _points(attempts, coverage)
    slope, height = np.polyfit(np.log(k), np.log(-np.log(c)), 1, w=-1 / (c * np.log(c)))
    return -np.exp(height), slope


@wrong(fit_coverage, "not for the means")
def plain_means(attempts, coverage):
    k, c = _points(attempts, coverage)
    w, x, y = (c * np.log(c)) ** 2, np.log(k), np.log(-np.log(c))
    b = (w * (x - x.mean()) * (y - y.mean())).sum() / (w * (x - x.mean()) ** 2).sum()
    return -np.exp(y.mean() - b * x.mean()), b


@wrong(fit_coverage, "through the first and the last point")
def two_ends(attempts, coverage):
    k, c = _points(attempts, coverage)
    return with_polyfit(k[[0, -1]], c[[0, -1]])
