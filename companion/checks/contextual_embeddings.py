"""Checks for the exercises of book/contextual_embeddings.ipynb."""

from functools import partial

import numpy as np
import torch
import torch.nn.functional as F

from companion.checks.exercise import compare, exercise


@exercise
def vectors_at(answer) -> str:
    """Check `vectors_at(hidden, positions)`: of each sentence the vector at its position, (B, d).

    hidden (B, T, d) holds a vector for every word, positions (B,) one place in each sentence.
    """
    by_hand = torch.tensor([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]])
    cases = [
        {"hidden": by_hand, "positions": torch.tensor([1, 0])},
        {"hidden": torch.randn(3, 7, 5), "positions": torch.tensor([4, 1, 4])},
        {"hidden": torch.randn(5, 5, 2), "positions": torch.tensor([3, 1, 4, 2, 1])},
    ]
    compare(answer, cases, _vectors_at, POSITION_MISTAKES)
    return "2, 3 and 5 sentences of 2, 7 and 5 words"


def _vectors_at(hidden, positions):
    return (hidden[torch.arange(len(hidden)), positions],)


POSITION_MISTAKES = {
    "every sentence gives a vector for every position: (B, B, d); pair the positions with the "
    "sentences": lambda hidden, positions: (hidden[:, positions],),
    "all sentences are read at the position of the first one": (
        lambda hidden, positions: (hidden[:, positions[0]],)
    ),
    "positions are counted from 0; here they are counted from 1": (
        lambda hidden, positions: _vectors_at(hidden, positions - 1)
    ),
    "the words of a sentence are averaged; only one of them was asked for": (
        lambda hidden, positions: (hidden.mean(1),)
    ),
}


@exercise
def nearer_mean(answer) -> str:
    """Check `nearer_mean(known, senses, new)`: for each new vector the sense of the nearer mean.

    known (n, d) are vectors whose senses (n,), 0 or 1, are given; new (m, d) are the others.
    """
    by_hand = {
        "known": torch.tensor([[1.0, 0.0], [3.0, 0.0], [11.0, 1.0]]),
        "senses": torch.tensor([0, 0, 1]),
        "new": torch.tensor([[4.0, 0.0], [9.0, 9.0]]),
    }
    cases = [by_hand]
    for known, new, width in ((13, 29, 3), (17, 41, 2)):
        senses = (torch.arange(known) % 3 == 0).long()  # not equally many
        rows = torch.randn(known, width) + 2 + senses[:, None] * 0.7
        others = torch.randn(new, width) + 2.3
        cases.append({"known": rows, "senses": senses, "new": others})
    compare(answer, cases, _nearer_mean, PROBE_MISTAKES, numbers=np.integer)
    return "2, 29 and 41 new vectors; senses that are not equally frequent"


def _distance(new, means):
    return (new[:, None] - means).norm(dim=-1)


def _nearer_mean(
    known,
    senses,
    new,
    *,
    distance=_distance,
    summary=lambda rows: rows.mean(0),
    best=torch.argmin,
    fitted=lambda known, new: known,
):
    """The senses of the nearer means, or what they would be with one step done in another way."""
    known = fitted(known, new)
    means = torch.stack([summary(known[senses == sense]) for sense in (0, 1)])  # (2, d)
    return (best(distance(new, means), dim=1),)


PROBE_MISTAKES = {
    "the farther mean was taken, not the nearer": partial(_nearer_mean, best=torch.argmax),
    "the means are compared by dot product, so that a long mean wins; use the distance": partial(
        _nearer_mean, distance=lambda new, means: -(new @ means.T)
    ),
    "the means are compared by cosine, which forgets how far away they are; use the distance": (
        partial(
            _nearer_mean,
            distance=lambda new, means: -F.normalize(new, dim=1) @ F.normalize(means, dim=1).T,
        )
    ),
    "the vectors of a sense are added up; their mean was asked for": partial(
        _nearer_mean, summary=lambda rows: rows.sum(0)
    ),
    "the median was taken in each place; the mean was asked for": partial(
        _nearer_mean, summary=lambda rows: rows.median(0).values
    ),
    "the sense of the nearest single vector was taken; the means are to be compared": (
        lambda known, senses, new: (senses[_distance(new, known).argmin(1)],)
    ),
    "every new vector got the same sense, the more frequent one": (
        lambda known, senses, new: (senses.mode().values.repeat(len(new)),)
    ),
}


@exercise
def self_similarity(answer) -> str:
    """Check `self_similarity(vectors)`: the mean cosine of two different occurrences of a word.

    vectors (n, d) are those of its occurrences.
    """
    cases = [
        {"vectors": torch.tensor([[2.0, 0.0], [0.0, 1.0]])},
        {"vectors": torch.tensor([[1.0, 0.0], [3.0, 4.0], [0.0, -2.0]])},
        {"vectors": torch.randn(7, 5) + 1},
    ]
    compare(answer, cases, _self_similarity, SIMILARITY_MISTAKES)
    return "2, 3 and 7 occurrences"


def _pairs(vectors, *, prepare=lambda vectors: F.normalize(vectors, dim=1)):
    rows = prepare(vectors)
    cosine = rows @ rows.T
    return cosine[~torch.eye(len(rows), dtype=torch.bool)]


def _self_similarity(vectors):
    return (_pairs(vectors).mean(),)


def _with_itself(vectors):
    rows = F.normalize(vectors, dim=1)
    return ((rows @ rows.T).mean(),)


SIMILARITY_MISTAKES = {
    "the cosine of every vector with itself, which is 1, is counted as well": _with_itself,
    "these are dot products: the vectors are not scaled to length 1": (
        lambda vectors: (_pairs(vectors, prepare=lambda rows: rows).mean(),)
    ),
    "the columns are scaled to length 1; an occurrence is a row, dim=1": (
        lambda vectors: (_pairs(vectors, prepare=lambda rows: F.normalize(rows, dim=0)).mean(),)
    ),
    "the cosines are added up; their mean was asked for": lambda vectors: (_pairs(vectors).sum(),),
    "the zeros that stand for a vector with itself are counted in the mean: divide by n(n - 1)": (
        lambda vectors: (_pairs(vectors).sum() / len(vectors) ** 2,)
    ),
    "only occurrences that follow each other are compared": (
        lambda vectors: (F.cosine_similarity(vectors[1:], vectors[:-1], dim=1).mean(),)
    ),
    "each occurrence is compared with their mean, not with each of the others": (
        lambda vectors: (F.cosine_similarity(vectors, vectors.mean(0)[None], dim=1).mean(),)
    ),
}
