"""Checks for the exercises of book/contextual_embeddings.ipynb."""

import torch
import torch.nn.functional as F

from book.checking.exercise import exercise, ladder
from book.checking.rungs import rungs


@exercise
def vectors_at(answer) -> str:
    """Check `vectors_at(hidden, positions)`: of each sentence the vector at its position, (B, d).

    hidden (B, T, d) holds a vector for every word, positions (B,) one place in each sentence.
    """
    ladder(VECTORS_AT, _vectors_at, vectors_at=answer)
    return "one sentence, two, as many as words, and seven; the first place and the last"


def _vectors_at(hidden, positions):
    sentences = torch.arange(len(hidden))
    return hidden[sentences, positions]


VECTORS_AT = rungs(
    _vectors_at,
    """
two sentences, read at the same place, which `positions` says: one vector of each
    hidden = torch.arange(20.0).reshape(2, 5, 2) ** 2
    vectors_at(hidden, torch.tensor([1, 1]))
  - positions are counted from 0; here they are counted from 1
    positions] => positions - 1]
  - that is the word behind the one that was asked for
    positions] => (positions + 1) % hidden.shape[1]]
  - that is the last word of every sentence; `positions` says which one is asked for
    positions] => -1]
  - positions are counted from the end; they count from the beginning
    positions] => -1 - positions]
  - rows are counted in one long list, and a sentence is taken to be B rows long; it is T
    hidden[sentences, positions] => hidden.flatten(0, 1)[sentences * len(hidden) + positions]
  - the first word of the sentence with this number is taken; a position is a place in a sentence
    hidden[sentences, positions] => hidden[positions % len(hidden), 0]
  - only the first sentence is read
    positions] => positions][:1]
  - all words up to the position are added up; only the one there was asked for
    hidden[sentences, positions] => hidden.cumsum(1)[sentences, positions]
  - the words of a sentence are averaged; only one of them was asked for
    hidden[sentences, positions] => hidden.mean(1)
  - every sentence gives a vector for every position: (B, B, d); pair the positions with the
  sentences
    hidden[sentences => hidden[:
  - a position picks a sentence, not a word: the first axis of hidden counts the sentences
    hidden[sentences, positions] => hidden[positions]
  - an axis of length 1 is left: (B, d) is asked for
    positions] => positions][:, None]
  - all vectors come from the first sentence
    [sentences => [0 * sentences
  - sentences and places have changed roles: hidden[sentence, place]
    hidden[sentences, positions] => hidden[positions, sentences]
one sentence: a matrix of one row, the vector at the place that `positions` says
    hidden = torch.tensor([[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]])
    vectors_at(hidden, torch.tensor([1]))
  - the axis of the sentences is lost: the result is (B, d), for one sentence, too
    positions] => positions][0]
two sentences, read at different places
    hidden = torch.arange(12.0).reshape(2, 3, 2)
    vectors_at(hidden, torch.tensor([1, 0]))
  - the positions are sorted; each belongs to its sentence
    positions] => positions.sort().values]
  - all sentences are read at the position of the first one
    hidden[sentences, positions] => hidden[:, positions[0]]
seven sentences of four words with five numbers each: each vector is of its own sentence, at its own
place, the first and the last among them
    hidden, positions = torch.randn(7, 4, 5), torch.tensor([3, 0, 1, 2, 0, 3, 1])
    vectors_at(hidden, positions)
""",
)


@exercise
def nearer_mean(answer) -> str:
    """Check `nearer_mean(known, senses, new)`: for each new vector the sense of the nearer mean.

    known (n, d) are vectors whose senses (n,), 0 or 1, are given; new (m, d) are the others.
    """
    ladder(NEARER_MEAN, _nearer_mean, nearer_mean=answer)
    return "one and many new vectors; senses in any order that are not equally frequent"


def _nearer_mean(known, senses, new):
    means = torch.stack([known[senses == sense].mean(0) for sense in (0, 1)])
    distance = (new[:, None] - means).norm(dim=-1)
    return distance.argmin(dim=1)


NEARER_MEAN = rungs(
    _nearer_mean,
    """
known vectors at 2 and at 6: a new one has the sense of the nearer
    known, senses = torch.tensor([[2.0], [6.0], [6.0]]), torch.tensor([0, 1, 1])
    nearer_mean(known, senses, torch.tensor([[1.0], [7.5], [3.0], [-5.0], [40.0]]))
  - the farther mean was taken, not the nearer
    argmin => argmax
  - one sense is found for all new vectors, that of their mean; each has its own
    distance.argmin(dim=1) => (new.mean(0) - means).norm(dim=-1).argmin().repeat(len(new))
  - one sense is found for all new vectors, with the smallest sum of distances; each has its own
    distance.argmin(dim=1) => distance.sum(0).argmin().repeat(len(new))
  - the distances are divided by how many known vectors a sense has: the frequent one is preferred
    distance.argmin(dim=1) => (distance / senses.bincount(minlength=2)).argmin(dim=1)
  - the distances are multiplied by how many known vectors a sense has: the rare one is preferred
    distance.argmin(dim=1) => (distance * senses.bincount(minlength=2)).argmin(dim=1)
  - the means are compared by dot product, so that a long mean wins; use the distance
    (new[:, None] - means).norm(dim=-1) => -(new @ means.T)
  - these are the distances; the sense is asked for, 0 or 1
    distance.argmin(dim=1) => distance
  - the smallest distance is sought over the new vectors; each of them has its own nearest mean
    argmin(dim=1) => argmin(dim=0)
  - every new vector got the same sense, the more frequent one
    distance.argmin(dim=1) => senses.mode().values.repeat(len(new))
  - the lengths of the vectors are compared; the distance is the length of their difference
    (new[:, None] - means).norm(dim=-1) => (new.norm(dim=1)[:, None] - means.norm(dim=1)).abs()
  - the differences are added up with their signs; they are squared first
    .norm(dim=-1) => .sum(-1)
a single new vector: the result has one entry, (1,)
    known, senses = torch.tensor([[2.0], [6.0]]), torch.tensor([0, 1])
    nearer_mean(known, senses, torch.tensor([[5.0]]))
the distance is Euclidean: the root of the sum of squares
    known, senses = torch.tensor([[0.0, 0.0], [4.0, 1.0]]), torch.tensor([0, 1])
    nearer_mean(known, senses, 8 * torch.rand(50, 2) - 2)
  - the means are compared by cosine, which forgets how far away they are; use the distance
    (new[:, None] - means).norm(dim=-1) => -F.normalize(new) @ F.normalize(means).T
  - the absolute differences are added up; the Euclidean distance adds their squares
    .norm(dim=-1) => .abs().sum(-1)
  - each entry is divided by its spread first; the distance is that of the vectors as they are
    (new[:, None] - means) => ((new[:, None] - means) / known.std(0, correction=0))
  - the vectors are scaled to length 1 before their means are taken; take them as they are
    known[senses == sense] => F.normalize(known)[senses == sense]
    new[:, None] => F.normalize(new)[:, None]
  - only the first entry of the vectors is compared
    .norm(dim=-1) => [..., 0].abs()
  - the largest difference of an entry was taken; the Euclidean distance takes all of them
    .norm(dim=-1) => .abs().amax(-1)
of several known vectors of a sense it is the mean that counts
    known, senses = torch.tensor([[0.0], [1.0], [8.0], [10.0]]), torch.tensor([0, 0, 0, 1])
    nearer_mean(known, senses, torch.linspace(-3, 13, 33)[:, None] + 0.1)
  - the vectors of a sense are added up; their mean was asked for
    .mean(0) => .sum(0)
  - the sum of each sense is divided by half of the number of all vectors, as if both senses were
  equally frequent
    .mean(0) => .sum(0) / (len(known) / 2)
  - the last known vector of each sense stands for all of them; their mean was asked for
    .mean(0) => [-1]
  - the middle between the smallest and the largest entry was taken; the mean was asked for
    known[senses == sense].mean(0) => (MIDDLE / 2)
    MIDDLE => (known[senses == sense].amax(0) + known[senses == sense].amin(0))
  - the sense of the farthest known vector decides; the means are to be compared
    distance.argmin(dim=1) => 1 - senses[(new[:, None] - known).norm(dim=-1).argmax(1)]
  - the sum of each sense is divided by the number of all vectors, not by its own
    .mean(0) => .sum(0) / len(known)
  - the median was taken in each place; the mean was asked for
    .mean(0) => .median(0).values
  - the first known vector of each sense stands for all of them; their mean was asked for
    .mean(0) => [0]
  - the first half of the known vectors is taken for sense 0; `senses` says which are
    known[senses == sense] => (known[: len(known) // 2], known[len(known) // 2 :])[sense]
  - the sense of the nearest single vector was taken; the means are to be compared
    distance.argmin(dim=1) => senses[(new[:, None] - known).norm(dim=-1).argmin(1)]
  - the mean of all vectors is the border; the border lies between the two means
    distance = => distance = (new - known.mean(0)) @ (means[0] - means[1])
    (new[:, None] - means).norm(dim=-1) =>
    distance.argmin(dim=1) => (distance < 0).long()
the senses come in any order
    known, senses = torch.tensor([[6.0], [2.0], [8.0], [1.0]]), torch.tensor([1, 0, 1, 0])
    nearer_mean(known, senses, torch.tensor([[1.0], [7.0]]))
many vectors with five entries, of which one third has sense 1
    senses = (torch.arange(30) % 3 == 0).long()
    known = torch.randn(30, 5) + 2 + 0.7 * senses[:, None]
    new = torch.randn(40, 5) + 2.3
    nearer_mean(known, senses, new)
""",
)


@exercise
def self_similarity(answer) -> str:
    """Check `self_similarity(vectors)`: the mean cosine of two different occurrences of a word.

    vectors (n, d) are those of its occurrences.
    """
    ladder(SELF_SIMILARITY, _self_similarity, self_similarity=answer)
    return "two, three, four and seven occurrences, parallel, perpendicular and opposite ones"


def _self_similarity(vectors):
    unit = F.normalize(vectors, dim=1)
    cosines = unit @ unit.T
    n = len(unit)
    return (cosines.sum() - n) / (n * (n - 1))


SELF_SIMILARITY = rungs(
    _self_similarity,
    """
three vectors in one direction: the cosine of each pair is 1, however long they are, and so is the
mean
over all pairs, one number: each pair counts once, or every pair twice and their number, too
    self_similarity(torch.tensor([[3.0, 4.0], [6.0, 8.0], [1.5, 2.0]]))
  - the vectors are not scaled to length 1, as the 1 that is taken off for each supposes
    F.normalize(vectors, dim=1) => vectors
  - each vector is divided by the square of its length; by its length
    F.normalize(vectors, dim=1) => (vectors / vectors.square().sum(1, keepdim=True))
  - each vector is divided by the square of its length; by its length, and without the diagonal
    F.normalize(vectors, dim=1) => (vectors / vectors.square().sum(1, keepdim=True))
    (cosines.sum() - n) => (cosines.sum() - cosines.trace())
  - only the products are divided by one of the two lengths; by both
    F.normalize(vectors, dim=1) => vectors
    unit @ unit.T => F.normalize(unit, dim=1) @ unit.T
    (cosines.sum() - n) => (cosines.sum() - cosines.trace())
  - angles are averaged; their cosines were asked for
    unit @ unit.T => (unit @ unit.T).clamp(-1, 1).arccos()
    (cosines.sum() - n) => (cosines.sum() - cosines.trace())
  - the columns are scaled to length 1, not the rows; an occurrence is a row
    dim=1 => dim=0
  - the vectors are divided by the sum of their entries; a length is the root of the squares' sum
    dim=1 => p=1, dim=1
  - these are dot products: the vectors are not scaled to length 1
    F.normalize(vectors, dim=1) => vectors
    (cosines.sum() - n) => (cosines.sum() - cosines.trace())
  - these are dot products, and those of every vector with itself are counted as well
    F.normalize(vectors, dim=1) => vectors
    (cosines.sum() - n) / (n * (n - 1)) => cosines.mean()
  - the cosines are added up; their mean was asked for
    / (n * (n - 1)) =>
  - the columns are scaled to length 1; an occurrence is a row, dim=1
    dim=1 => dim=0
    (cosines.sum() - n) => (cosines.sum() - cosines.trace())
  - each pair is counted once but divided by n(n - 1), the number of ordered pairs
    / (n * (n - 1)) => / 2 / (n * (n - 1))
  - the zeros that stand for a vector with itself are counted in the mean: divide by n(n - 1)
    / (n * (n - 1)) => / n**2
  - it is the distance that is averaged; 1 stands for the same direction
    (cosines.sum() - n) / (n * (n - 1)) => 1 - (cosines.sum() - n) / (n * (n - 1))
two perpendicular vectors: their cosine is 0, and no vector is compared with itself
    self_similarity(torch.tensor([[2.0, 0.0], [0.0, 1.0]]))
  - the cosine of every vector with itself, which is 1, is counted as well
    (cosines.sum() - n) / (n * (n - 1)) => cosines.mean()
  - the diagonal is counted as well: the pairs of different vectors lie above it
    (cosines.sum() - n) / (n * (n - 1)) => cosines[tuple(torch.triu_indices(n, n))].mean()
  - each occurrence is compared with their mean, not with each of the others
    (cosines.sum() - n) / (n * (n - 1)) => (unit @ F.normalize(vectors.mean(0), dim=0)).mean()
two opposite vectors: a cosine may be negative
    self_similarity(torch.tensor([[1.0, 2.0], [-2.0, -4.0]]))
  - the sign of the cosines is lost
    unit @ unit.T => (unit @ unit.T).abs()
  - the cosines are squared; their mean was asked for as they are
    unit @ unit.T => (unit @ unit.T) ** 2
three occurrences are three pairs: all of them count, and equally
    self_similarity(torch.tensor([[1.0, 0.0], [3.0, 4.0], [0.0, -2.0]]))
  - only occurrences that follow each other are compared
    (cosines.sum() - n) / (n * (n - 1)) => cosines.diagonal(1).mean()
  - the median of the pairs was taken; their mean was asked for
    (cosines.sum() - n) / (n * (n - 1)) => cosines[~torch.eye(n).bool()].median()
  - the largest cosine of a pair was taken; their mean was asked for
    (cosines.sum() - n) / (n * (n - 1)) => cosines[~torch.eye(n).bool()].max()
  - the smallest cosine of a pair was taken; their mean was asked for
    (cosines.sum() - n) / (n * (n - 1)) => cosines.min()
  - only the first occurrence is compared with the last
    (cosines.sum() - n) / (n * (n - 1)) => cosines[0, -1]
  - all are compared with the first one only
    (cosines.sum() - n) / (n * (n - 1)) => cosines[0, 1:].mean()
one number, a tensor without axes
    self_similarity(torch.tensor([[1.0, 0.0], [3.0, 4.0], [0.0, -2.0]])).shape
the cosine is that of the vectors as they are: nothing is taken off them first
    self_similarity(torch.tensor([[5.0, 1.0], [5.0, -1.0], [6.0, 0.5], [4.0, 0.0]]))
  - the mean is taken off the vectors first; their own cosines were asked for
    F.normalize(vectors, dim=1) => F.normalize(vectors - vectors.mean(0), dim=1)
seven occurrences with five entries
    vectors = torch.randn(7, 5) + 1
    self_similarity(vectors)
""",
)
