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
def of_the_mean_loss(matrices, losses):
    mean = sum(loss() for loss in losses) / len(losses)
    return [g.norm(p="fro") for g in torch.autograd.grad(mean, list(matrices))]


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


@wrong(cache_mask, "this is the causal mask: nothing ever leaves the cache")
def causal_only(length, first, recent):
    return torch.ones(length, length).tril().bool()


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
