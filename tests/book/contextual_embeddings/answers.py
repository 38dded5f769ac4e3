"""Answers to the exercises of book/contextual_embeddings.ipynb."""

from itertools import combinations, pairwise

import torch
import torch.nn.functional as F

from book.contextual_embeddings.checks import nearer_mean, self_similarity, vectors_at
from tests.book.answers import right, wrong

# 1. One vector of each sentence


@right(vectors_at)
def by_two_indices(hidden, positions):
    return hidden[torch.arange(len(hidden)), positions]


@right(vectors_at)
def by_a_loop(hidden, positions):
    return torch.stack([words[at] for words, at in zip(hidden, positions, strict=True)])


@right(vectors_at)
def by_gather(hidden, positions):
    index = positions[:, None, None].expand(-1, 1, hidden.shape[-1])
    return hidden.gather(1, index).squeeze(1)


@wrong(vectors_at, "pair the positions with the sentences")
def slice_and_index(hidden, positions):
    return hidden[:, positions]


@wrong(vectors_at, "at the position of the first one")
def one_place_for_all(hidden, positions):
    return hidden[:, positions[0].item(), :]


@wrong(vectors_at, "counted from 1")
def the_word_before(hidden, positions):
    return hidden[range(len(hidden)), positions - 1]


@wrong(vectors_at, "are averaged")
def mean_of_the_sentence(hidden, positions):
    return hidden.sum(1) / hidden.shape[1]


@wrong(vectors_at, "it returned shape (1, 2, 2), expected (2, 2)")
def an_axis_too_many(hidden, positions):
    return by_two_indices(hidden, positions)[None]


# 2. The nearer mean


@right(nearer_mean)
def by_distances(known, senses, new):
    means = torch.stack([known[senses == sense].mean(0) for sense in (0, 1)])
    return torch.cdist(new, means).argmin(1)


@right(nearer_mean)
def one_after_the_other(known, senses, new):
    zero, one = known[senses == 0].mean(0), known[senses == 1].mean(0)
    return torch.tensor([int((v - one).norm() < (v - zero).norm()) for v in new])


@right(nearer_mean)
def by_the_plane_between(known, senses, new):
    zero, one = known[senses == 0].mean(0), known[senses == 1].mean(0)
    return ((new - (zero + one) / 2) @ (one - zero) > 0).long()


def two_means(known, senses):
    return torch.stack([known[senses == 0].mean(0), known[senses == 1].mean(0)])


@wrong(nearer_mean, "the farther mean")
def largest_distance(known, senses, new):
    return torch.cdist(new, two_means(known, senses)).argmax(1)


@wrong(nearer_mean, "by dot product")
def dot_products(known, senses, new):
    return (new @ two_means(known, senses).T).argmax(1)


@wrong(nearer_mean, "by cosine")
def cosines(known, senses, new):
    means = two_means(known, senses)
    return F.cosine_similarity(new[:, None], means[None], dim=-1).argmax(1)


@wrong(nearer_mean, "are added up; their mean")
def sums_of_the_senses(known, senses, new):
    sums = F.one_hot(senses, 2).float().T @ known
    return torch.cdist(new, sums).argmin(1)


@wrong(nearer_mean, "the median")
def medians(known, senses, new):
    middle = torch.stack([known[senses == sense].median(dim=0)[0] for sense in (0, 1)])
    return torch.cdist(new, middle).argmin(1)


@wrong(nearer_mean, "the nearest single vector")
def nearest_neighbour(known, senses, new):
    return senses[torch.cdist(new, known).argmin(1)]


@wrong(nearer_mean, "the more frequent one")
def majority(known, senses, new):
    return torch.full((len(new),), int(senses.float().mean() > 0.5))


@wrong(nearer_mean, "these are the distances")
def the_distances_themselves(known, senses, new):
    return torch.cdist(new, two_means(known, senses))


# 3. How alike is a word to itself?


@right(self_similarity)
def off_the_diagonal(vectors):
    unit = F.normalize(vectors, dim=1)
    cosine = unit @ unit.T
    return (cosine.sum() - cosine.trace()) / (len(unit) * (len(unit) - 1))


@right(self_similarity)
def pair_by_pair(vectors):
    found = [F.cosine_similarity(x, y, dim=0) for x, y in combinations(vectors, 2)]
    return torch.stack(found).mean()


@wrong(self_similarity, "with itself, which is 1")
def the_whole_square(vectors):
    return F.cosine_similarity(vectors[:, None], vectors[None], dim=-1).mean()


@wrong(self_similarity, "these are dot products")
def not_scaled(vectors):
    i, j = torch.triu_indices(len(vectors), len(vectors), 1)
    return (vectors[i] * vectors[j]).sum(-1).mean()


@wrong(self_similarity, "the columns are scaled")
def scaled_down_the_columns(vectors):
    rows = vectors / vectors.norm(dim=0)
    i, j = torch.triu_indices(len(rows), len(rows), 1)
    return (rows[i] * rows[j]).sum(-1).mean()


@wrong(self_similarity, "their mean was asked for")
def sum_of_all(vectors):
    return off_the_diagonal(vectors) * len(vectors) * (len(vectors) - 1)


@wrong(self_similarity, "divide by n(n - 1)")
def zeros_on_the_diagonal(vectors):
    unit = F.normalize(vectors, dim=1)
    return (unit @ unit.T).fill_diagonal_(0).mean()


@wrong(self_similarity, "that follow each other")
def neighbours_in_the_list(vectors):
    found = [F.cosine_similarity(a, b, dim=0) for a, b in pairwise(vectors)]
    return torch.stack(found).mean()


@wrong(self_similarity, "compared with their mean")
def with_the_mean(vectors):
    unit, mean = F.normalize(vectors, dim=1), F.normalize(vectors.mean(0), dim=0)
    return (unit @ mean).mean()
