"""Checks for the exercises of book/picture_and_words.ipynb."""

import torch
import torch.nn.functional as F

from book.checking.exercise import climb, exercise
from book.checking.rungs import edited, ladder


@exercise
def contrastive(answer) -> str:
    """Check `contrastive(pictures, captions, log_scale)`, (n, d), (m, d) and () -> ()."""
    climb(CONTRASTIVE, answer)
    return "two scales, scores that are not symmetric, long vectors, hard negatives, gradients"


def _contrastive(pictures, captions, log_scale):
    u, v = F.normalize(pictures, dim=-1), F.normalize(captions, dim=-1)
    scores = log_scale.exp() * u @ v.T
    n = len(u)
    own = torch.arange(n)
    return (F.cross_entropy(scores, own) + F.cross_entropy(scores[:, :n].T, own)) / 2


@ladder(_contrastive)
def CONTRASTIVE(contrastive):
    """scale 1, and each picture equal to its caption: the diagonal of the scores is right"""
    pictures = torch.tensor([[1.0, 0.0], [0.6, 0.8]])
    yield contrastive(pictures, pictures.clone(), torch.tensor(0.0))

    """a logarithm of 2 is a scale of e² = 7.4, by which the cosines are multiplied"""
    pictures = torch.tensor([[1.0, 0.0], [0.6, 0.8]])
    yield contrastive(pictures, pictures.clone(), torch.tensor(2.0))

    """scores that are not symmetric: captions choose among pictures as well, and the two losses
    are averaged"""
    pictures = torch.tensor([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
    captions = torch.tensor([[0.8, 0.6], [0.0, 1.0], [-1.0, 0.0]])
    yield contrastive(pictures, captions, torch.tensor(1.0))

    """vectors of other lengths: only directions count"""
    pictures = torch.tensor([[5.0, 0.0], [0.3, 0.4], [0.0, 2.0]])
    captions = torch.tensor([[0.4, 0.3], [0.0, 7.0], [-1.0, 0.0]])
    yield contrastive(pictures, captions, torch.tensor(1.0))

    """more captions than pictures: the others are wrong for every picture, and choose none"""
    pictures, captions = torch.randn(3, 5), torch.randn(7, 5)
    yield contrastive(pictures, captions, torch.tensor(1.0))

    """a scale of 100, at which a score's exponential is too large for float32"""
    pictures = torch.tensor([[1.0, 0.0], [0.6, 0.8]])
    captions = torch.tensor([[0.96, 0.28], [0.6, 0.8], [1.0, 0.0]])
    yield contrastive(pictures, captions, torch.tensor(100.0).log())

    """the scale learns: the loss has a gradient with respect to its logarithm"""
    pictures, captions = torch.randn(3, 5), torch.randn(3, 5)
    log_scale = torch.tensor(1.0, requires_grad=True)
    loss = contrastive(pictures, captions, log_scale)
    yield torch.autograd.grad(loss, log_scale)[0]


BOTH = "(F.cross_entropy(scores, own) + F.cross_entropy(scores[:, :n].T, own)) / 2"
CONTRASTIVE.mistakes |= {
    "only the pictures choose; the captions are to choose among the pictures as well": edited(
        _contrastive, BOTH, "F.cross_entropy(scores, own)"
    ),
    "only the captions choose; the pictures are to choose among the captions as well": edited(
        _contrastive, BOTH, "F.cross_entropy(scores[:, :n].T, own)"
    ),
    "the vectors keep their lengths; a cosine is of vectors of length 1": edited(
        _contrastive, "F.normalize(pictures, dim=-1), F.normalize(captions, dim=-1)",
        "pictures, captions",
    ),
    "the columns of the batch have length 1; each vector is to have it": edited(
        _contrastive, "pictures, dim=-1", "pictures, dim=0", "captions, dim=-1", "captions, dim=0"
    ),
    "the scale is the logarithm itself; it is its exponential": edited(
        _contrastive, "log_scale.exp()", "log_scale"
    ),
    "the cosines are divided by the scale, as by a temperature; they are multiplied": edited(
        _contrastive, "log_scale.exp() * u @ v.T", "u @ v.T / log_scale.exp()"
    ),
    "the hard negatives are left out; the pictures choose among all captions": edited(
        _contrastive, "F.cross_entropy(scores, own) +", "F.cross_entropy(scores[:, :n], own) +"
    ),
    "each loss is a sum over its choices; it is their mean": edited(
        _contrastive, "(scores, own)", "(scores, own, reduction='sum')",
        ".T, own)", ".T, own, reduction='sum')",
    ),
    "the first caption is right for all; picture i belongs to caption i": edited(
        _contrastive, "torch.arange(n)", "torch.zeros(n, dtype=torch.long)"
    ),
    "the pictures choose twice: where the captions do, the scores are turned over with .T": edited(
        _contrastive, "scores[:, :n].T", "scores[:, :n]"
    ),
}  # fmt: skip


@exercise
def with_swapped(answer) -> str:
    """Check `with_swapped(captions, left)`, integers (n, k) and (n,) -> (2n, k)."""
    climb(WITH_SWAPPED, answer)
    return "one caption and several, three words and five, the first place and the last"


def _with_swapped(captions, left):
    swapped, row = captions.clone(), torch.arange(len(captions))
    swapped[row, left] = captions[row, left + 1]
    swapped[row, left + 1] = captions[row, left]
    return torch.cat([captions, swapped])


@ladder(_with_swapped)
def WITH_SWAPPED(with_swapped):
    """one caption: it comes first as it is, then with its first two words exchanged"""
    yield with_swapped(torch.tensor([[4, 9, 2]]), torch.tensor([0]))

    """place 1 is the second word: it changes places with the third"""
    yield with_swapped(torch.tensor([[4, 9, 2]]), torch.tensor([1]))

    """several captions: first all as they are, then all exchanged, in the same order"""
    yield with_swapped(torch.tensor([[4, 9, 2], [1, 5, 8]]), torch.tensor([0, 0]))

    """each caption has a place of its own"""
    captions = torch.tensor([[4, 9, 2, 7, 3], [1, 5, 8, 6, 0], [2, 3, 9, 4, 1]])
    yield with_swapped(captions, torch.tensor([3, 0, 1]))


WITH_SWAPPED.mistakes |= {
    "one word stands there twice, and the other is lost: it was overwritten before it was moved":
        edited(_with_swapped, "swapped[row, left + 1] = captions[row, left]",
               "swapped[row, left + 1] = swapped[row, left]"),
    "the word changes places with the one on its left; it is the one on its right": edited(
        _with_swapped, "swapped[row, left] = captions[row, left + 1]",
        "swapped[row, left] = captions[row, left - 1]",
        "swapped[row, left + 1] = captions[row, left]",
        "swapped[row, left - 1] = captions[row, left]",
    ),
    "all captions are exchanged at the place of the first": edited(
        _with_swapped, "torch.arange(len(captions))",
        "torch.arange(len(captions)); left = left[:1].expand(len(captions))",
    ),
    "only the exchanged captions are returned; those as they are come first": edited(
        _with_swapped, "torch.cat([captions, swapped])", "swapped"
    ),
    "each caption is followed by its exchanged one; first come all as they are": edited(
        _with_swapped, "torch.cat([captions, swapped])",
        "torch.stack([captions, swapped], 1).flatten(0, 1)",
    ),
    "all words are in the reverse order; two neighbours change places": edited(
        _with_swapped, "torch.cat([captions, swapped])", "torch.cat([captions, captions.flip(1)])"
    ),
    "each caption is exchanged at the places of all: [:, left] are whole columns; [row, left], "
    "with the numbers of the rows, is one word in each": edited(
        _with_swapped, "torch.arange(len(captions))", "slice(None)"
    ),
}  # fmt: skip


@exercise
def marks(answer) -> str:
    """Check `marks(says_yes, is_yes)`, booleans (n,) twice -> three numbers."""
    climb(MARKS, answer)
    return "somebody who always says yes, one who never does, and answers at random"


def _marks(says_yes, is_yes):
    right = (says_yes == is_yes).double()
    yes, no = right[is_yes].mean(), right[~is_yes].mean()
    return right.mean(), (yes + no) / 2, yes - no


@ladder(_marks)
def MARKS(marks):
    """all answers right: both shares are 1, and there is no tilt"""
    yield marks(torch.tensor([True, False]), torch.tensor([True, False]))

    """always yes, in an exam with as many yes as no: half is right, and the tilt is 1"""
    yield marks(torch.tensor([True, True]), torch.tensor([True, False]))

    """always yes, where four of five are yes: .8 is right here, half in a balanced exam"""
    yield marks(torch.ones(5, dtype=torch.bool), torch.tensor([True, True, False, True, True]))

    """right more often where the answer is no: the tilt is below zero"""
    yield marks(torch.tensor([False, False, True, False]), torch.tensor([True, False, True, False]))

    """answers at random"""
    yield marks(torch.rand(40) < 0.6, torch.arange(40) % 4 > 0)


MARKS.mistakes |= {
    "the share right is returned for the balanced exam as well; there yes and no count the same":
        edited(_marks, "(yes + no) / 2", "right.mean()"),
    "the tilt is how much more often yes is said than true; it is a difference of shares right":
        edited(_marks, "yes - no", "says_yes.double().mean() - is_yes.double().mean()"),
    "of the questions with the answer no, yes is counted as right": edited(
        _marks, "right[~is_yes].mean()", "says_yes[~is_yes].double().mean()"
    ),
    "the questions are sorted by what is said; they are to be sorted by what is right": edited(
        _marks, "right[is_yes].mean(), right[~is_yes].mean()",
        "right[says_yes].mean(), right[~says_yes].mean()",
    ),
    "both shares are of all questions; each is of those with its answer": edited(
        _marks, "right[is_yes].mean(), right[~is_yes].mean()",
        "(right * is_yes).mean(), (right * ~is_yes).mean()",
    ),
    "the tilt has no sign; it is negative where no is right more often": edited(
        _marks, "yes - no", "(yes - no).abs()"
    ),
    "the tilt is halved; it is the whole difference": edited(_marks, "yes - no", "(yes - no) / 2"),
}  # fmt: skip
