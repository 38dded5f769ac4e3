"""Answers to the exercises of book/contextual_embeddings.ipynb."""

from itertools import combinations

import torch
import torch.nn.functional as F

from book.contextual_embeddings.checks import nearer_mean, self_similarity, vectors_at
from tests.book.answers import right, wrong

# One vector of each sentence


@right(vectors_at)
def by_two_indices(hidden, positions):
    return hidden[torch.arange(len(hidden)), positions]


@right(vectors_at)
def by_gather(hidden, positions):
    index = positions[:, None, None].expand(-1, 1, hidden.shape[-1])
    return hidden.gather(1, index).squeeze(1)


@wrong(vectors_at, "it returned shape (1, 2, 2), expected (2, 2)")
def an_axis_too_many(hidden, positions):
    return by_two_indices(hidden, positions)[None]


# The nearer mean


@right(nearer_mean)
def by_distances(known, senses, new):
    means = torch.stack([known[senses == sense].mean(0) for sense in (0, 1)])
    return torch.cdist(new, means).argmin(1)


@right(nearer_mean)
def by_the_plane_between(known, senses, new):
    zero, one = known[senses == 0].mean(0), known[senses == 1].mean(0)
    return ((new - (zero + one) / 2) @ (one - zero) > 0).long()


# How alike is a word to itself?


@right(self_similarity)
def off_the_diagonal(vectors):
    unit = F.normalize(vectors, dim=1)
    cosine = unit @ unit.T
    return (cosine.sum() - cosine.trace()) / (len(unit) * (len(unit) - 1))


@right(self_similarity)
def pair_by_pair(vectors):
    found = [F.cosine_similarity(x, y, dim=0) for x, y in combinations(vectors, 2)]
    return torch.stack(found).mean()


@right(self_similarity)
def as_a_plain_number(vectors):
    length = F.normalize(vectors, dim=1).sum(0).square().sum().item()
    return (length - len(vectors)) / (len(vectors) * (len(vectors) - 1))
