"""Answers to the exercises of book/inside_a_real_model.ipynb."""

import torch

from book.inside_a_real_model.checks import likest, settled, times_its_share
from tests.book.answers import right, wrong

# More than its share


@right(times_its_share)
def by_two_means(maps, start):
    even = (1 / torch.arange(1, maps.shape[1] + 1))[start:].mean()
    return maps[:, start:, 0].mean(1) / even


@right(times_its_share)
def by_two_sums(maps, start):
    seen = torch.ones(maps.shape[1:]).tril().sum(1)
    return maps[:, start:, 0].sum(1) / seen.reciprocal()[start:].sum()


@wrong(times_its_share, "among all T tokens")
def beside_an_even_row_of_all(maps, start):
    return maps[:, start:, 0].mean(1) * maps.shape[2]


@wrong(times_its_share, "each row's ratio")
def row_by_row(maps, start):
    seen = torch.arange(1, maps.shape[1] + 1)
    return (maps[..., 0] * seen)[:, start:].mean(1)


# One direction for the unlearned


@right(likest)
def by_cosines(E, known, k):
    likeness = torch.cosine_similarity(E, E[known].mean(0)[None])
    likeness[known] = -2
    return likeness.argsort(descending=True)[:k]


@right(likest)
def others_alone(E, known, k):
    others = [i for i in range(len(E)) if i not in known.tolist()]
    unit = E[others] / E[others].norm(dim=1, keepdim=True)
    best = (unit @ E[known].sum(0)).topk(k).indices
    return [others[i] for i in best]


@wrong(likest, "which long vectors win")
def by_products(E, known, k):
    scores = E @ E[known].mean(0)
    scores[known] = -torch.inf
    return scores.topk(k).indices


# A lens for every block


@right(settled)
def from_the_end(streams, norm, head, answers):
    right_ones = head(norm(streams)).argmax(-1) == answers
    return len(streams) - right_ones.flip(0).long().cumprod(0).sum(0)


@right(settled)
def after_the_last_wrong_one(streams, norm, head, answers):
    wrong_ones = head(norm(streams)).argmax(-1) != answers
    number = torch.arange(1, len(streams) + 1)[:, None]
    return (wrong_ones * number).amax(0)
