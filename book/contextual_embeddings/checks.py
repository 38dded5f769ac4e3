"""Checks for the exercises of book/contextual_embeddings.ipynb."""

import torch
import torch.nn.functional as F

from book.checking.exercise import climb, exercise
from book.checking.rungs import edited, ladder


@exercise
def vectors_at(answer) -> str:
    """Check `vectors_at(hidden, positions)`: of each sentence the vector at its position, (B, d).

    hidden (B, T, d) holds a vector for every word, positions (B,) one place in each sentence.
    """
    climb(VECTORS_AT, answer)
    return "one sentence, two, as many as words, and seven; the first place and the last"


def _vectors_at(hidden, positions):
    sentences = torch.arange(len(hidden))
    return hidden[sentences, positions]


@ladder(_vectors_at)
def VECTORS_AT(vectors_at):
    """two sentences, read at the same place, which `positions` says: one vector of each"""
    hidden = torch.arange(20.0).reshape(2, 5, 2) ** 2
    yield vectors_at(hidden, torch.tensor([1, 1]))

    """one sentence: a matrix of one row, the vector at the place that `positions` says"""
    hidden = torch.tensor([[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]])
    yield vectors_at(hidden, torch.tensor([1]))

    """two sentences, read at different places"""
    hidden = torch.arange(12.0).reshape(2, 3, 2)
    yield vectors_at(hidden, torch.tensor([1, 0]))

    """seven sentences of four words with five numbers each: each vector is of its own sentence,
    at its own place, the first and the last among them"""
    hidden, positions = torch.randn(7, 4, 5), torch.tensor([3, 0, 1, 2, 0, 3, 1])
    yield vectors_at(hidden, positions)


VECTORS_AT.mistakes |= {
    "positions are counted from 0; here they are counted from 1": edited(
        _vectors_at, "positions]", "positions - 1]"
    ),
    "the words of a sentence are averaged; only one of them was asked for": edited(
        _vectors_at, "hidden[sentences, positions]", "hidden.mean(1)"
    ),
    "every sentence gives a vector for every position: (B, B, d); pair the positions "
    "with the sentences": edited(_vectors_at, "hidden[sentences", "hidden[:"),
    "all sentences are read at the position of the first one": edited(
        _vectors_at, "hidden[sentences, positions]", "hidden[:, positions[0]]"
    ),
    "the two indices have changed places: the sentence comes first, then the position": edited(
        _vectors_at, "[sentences, positions]", "[positions, sentences]"
    ),
    "in one long table of words a sentence begins every T rows, not every B": edited(
        _vectors_at,
        "hidden[sentences, positions]",
        "hidden.flatten(0, 1)[(sentences * len(hidden) + positions) % hidden[..., 0].numel()]",
    ),
    "this is the mean of all words up to the position; take the vector at the position "
    "alone": edited(
        _vectors_at,
        "hidden[sentences, positions]",
        "hidden.cumsum(1)[sentences, positions] / (positions[:, None] + 1)",
    ),
    "only the first number of each vector is there; for `gather`, expand the index along "
    "the vector": edited(_vectors_at, "positions]", "positions, :1]"),
}


@exercise
def nearer_mean(answer) -> str:
    """Check `nearer_mean(known, senses, new)`: for each new vector the sense of the nearer mean.

    known (n, d) are vectors whose senses (n,), 0 or 1, are given; new (m, d) are the others.
    """
    climb(NEARER_MEAN, answer)
    return "one and many new vectors; senses in any order that are not equally frequent"


def _nearer_mean(known, senses, new):
    means = torch.stack([known[senses == sense].mean(0) for sense in (0, 1)])
    distance = (new[:, None] - means).norm(dim=-1)
    return distance.argmin(dim=1)


@ladder(_nearer_mean)
def NEARER_MEAN(nearer_mean):
    """known vectors at 2 and at 6: a new one has the sense of the nearer"""
    known, senses = torch.tensor([[2.0], [6.0], [6.0]]), torch.tensor([0, 1, 1])
    yield nearer_mean(known, senses, torch.tensor([[1.0], [7.5], [3.0], [-5.0], [40.0]]))

    """a single new vector: the result has one entry, (1,)"""
    known, senses = torch.tensor([[2.0], [6.0]]), torch.tensor([0, 1])
    yield nearer_mean(known, senses, torch.tensor([[5.0]]))

    """the distance is Euclidean: the root of the sum of squares"""
    known, senses = torch.tensor([[0.0, 0.0], [4.0, 1.0]]), torch.tensor([0, 1])
    yield nearer_mean(known, senses, 8 * torch.rand(50, 2) - 2)

    """of several known vectors of a sense it is the mean that counts"""
    known, senses = torch.tensor([[0.0], [1.0], [8.0], [10.0]]), torch.tensor([0, 0, 0, 1])
    yield nearer_mean(known, senses, torch.linspace(-3, 13, 33)[:, None] + 0.1)

    """the senses come in any order"""
    known, senses = torch.tensor([[6.0], [2.0], [8.0], [1.0]]), torch.tensor([1, 0, 1, 0])
    yield nearer_mean(known, senses, torch.tensor([[1.0], [7.0]]))

    """many vectors with five entries, of which one third has sense 1"""
    senses = (torch.arange(30) % 3 == 0).long()
    known = torch.randn(30, 5) + 2 + 0.7 * senses[:, None]
    new = torch.randn(40, 5) + 2.3
    yield nearer_mean(known, senses, new)


NEARER_MEAN.mistakes |= {
    "the farther mean was taken, not the nearer": edited(_nearer_mean, "argmin", "argmax"),
    "the means are compared by dot product, so that a long mean wins; use the distance": edited(
        _nearer_mean, "(new[:, None] - means).norm(dim=-1)", "-(new @ means.T)"
    ),
    "these are the distances; the sense is asked for, 0 or 1": edited(
        _nearer_mean, "distance.argmin(dim=1)", "distance"
    ),
    "every new vector got the same sense, the more frequent one": edited(
        _nearer_mean, "distance.argmin(dim=1)", "senses.mode().values.repeat(len(new))"
    ),
    "the means are compared by cosine, which forgets how far away they are; use the "
    "distance": edited(
        _nearer_mean,
        "(new[:, None] - means).norm(dim=-1)",
        "-F.normalize(new) @ F.normalize(means).T",
    ),
    "the vectors of a sense are added up; their mean was asked for": edited(
        _nearer_mean, ".mean(0)", ".sum(0)"
    ),
    "both sums are divided by the number of all; a mean is over the vectors of its own "
    "sense": edited(_nearer_mean, ".mean(0)", ".sum(0) / len(known)"),
    "the median was taken in each place; the mean was asked for": edited(
        _nearer_mean, ".mean(0)", ".median(0).values"
    ),
    "the sense of the nearest single vector was taken; the means are to be compared": edited(
        _nearer_mean,
        "distance.argmin(dim=1)",
        "senses[(new[:, None] - known).norm(dim=-1).argmin(1)]",
    ),
    "differences are added with their signs; a distance adds their squares": edited(
        _nearer_mean, ".norm(dim=-1)", ".sum(-1)"
    ),
    "the least is taken over the new vectors; take it over the two means, dim=1": edited(
        _nearer_mean, "dim=1", "dim=0"
    ),
    "the border is at the mean of all known vectors; it is half way between the two means": edited(
        _nearer_mean,
        "distance.argmin(dim=1)",
        "((new - known.mean(0)) @ (means[1] - means[0]) > 0).long()",
    ),
}


@exercise
def self_similarity(answer) -> str:
    """Check `self_similarity(vectors)`: the mean cosine of two different occurrences of a word.

    vectors (n, d) are those of its occurrences.
    """
    climb(SELF_SIMILARITY, answer)
    return "two, three, four and seven occurrences, parallel, perpendicular and opposite ones"


def _self_similarity(vectors):
    unit = F.normalize(vectors, dim=1)
    cosines = unit @ unit.T
    n = len(unit)
    return (cosines.sum() - n) / (n * (n - 1))


@ladder(_self_similarity)
def SELF_SIMILARITY(self_similarity):
    """three vectors in one direction: each is divided by its own length, so that the cosine of each
    pair is 1, and so is the mean over all pairs, one number: each pair counts once, or every pair
    twice and their number, too"""
    yield self_similarity(torch.tensor([[3.0, 4.0], [6.0, 8.0], [1.5, 2.0]]))

    """two perpendicular vectors: their cosine is 0, and no vector is compared with itself"""
    yield self_similarity(torch.tensor([[2.0, 0.0], [0.0, 1.0]]))

    """two opposite vectors: a cosine may be negative"""
    yield self_similarity(torch.tensor([[1.0, 2.0], [-2.0, -4.0]]))

    """three occurrences are three pairs: all of them count, and equally"""
    yield self_similarity(torch.tensor([[1.0, 0.0], [3.0, 4.0], [0.0, -2.0]]))

    """seven occurrences with five entries"""
    vectors = torch.randn(7, 5) + 1
    yield self_similarity(vectors)


SELF_SIMILARITY.mistakes |= {
    "these are dot products: the vectors are not scaled to length 1": edited(
        _self_similarity,
        "F.normalize(vectors, dim=1)",
        "vectors",
        "(cosines.sum() - n)",
        "(cosines.sum() - cosines.trace())",
    ),
    "the cosines are added up; their mean was asked for": edited(
        _self_similarity, "/ (n * (n - 1))", ""
    ),
    "the columns are scaled to length 1; an occurrence is a row, dim=1": edited(
        _self_similarity,
        "dim=1",
        "dim=0",
        "(cosines.sum() - n)",
        "(cosines.sum() - cosines.trace())",
    ),
    "the zeros that stand for a vector with itself are counted in the mean: divide by "
    "n(n - 1)": edited(_self_similarity, "/ (n * (n - 1))", "/ n**2"),
    "the cosine of every vector with itself, which is 1, is counted as well": edited(
        _self_similarity, "(cosines.sum() - n) / (n * (n - 1))", "cosines.mean()"
    ),
    "each occurrence is compared with their mean, not with each of the others": edited(
        _self_similarity,
        "(cosines.sum() - n) / (n * (n - 1))",
        "(unit @ F.normalize(vectors.mean(0), dim=0)).mean()",
    ),
    "only occurrences that follow each other are compared": edited(
        _self_similarity, "(cosines.sum() - n) / (n * (n - 1))", "cosines.diagonal(1).mean()"
    ),
    "their mean is subtracted first; a cosine is that of the vectors as they are": edited(
        _self_similarity, "F.normalize(vectors,", "F.normalize(vectors - vectors.mean(0),"
    ),
}
