"""Answers to the exercises of book/picture_and_words.ipynb."""

import torch

from book.picture_and_words.checks import contrastive, marks, with_swapped
from tests.book.answers import right, wrong

# Both ways


@right(contrastive)
def with_log_softmax(pictures, captions, log_scale):
    u = pictures / pictures.norm(dim=1, keepdim=True)
    v = captions / captions.norm(dim=1, keepdim=True)
    scores, n = (u @ v.T) * torch.exp(log_scale), len(u)
    rows = scores.log_softmax(1).diagonal()
    columns = scores[:, :n].log_softmax(0).diagonal()
    return -(rows.mean() + columns.mean()) / 2


@right(contrastive)
def in_a_loop(pictures, captions, log_scale):
    cosine = torch.nn.functional.cosine_similarity
    n, total = len(pictures), 0.0
    for i in range(n):
        chosen = log_scale.exp() * cosine(pictures[i : i + 1], captions)
        chooses = log_scale.exp() * cosine(captions[i : i + 1], pictures)
        total = total - chosen[i] + chosen.logsumexp(0) - chooses[i] + chooses.logsumexp(0)
    return total / (2 * n)


@wrong(contrastive, "the scale learns")
def a_scale_that_is_a_number(pictures, captions, log_scale):
    u, v = (torch.nn.functional.normalize(x) for x in (pictures, captions))
    own = torch.arange(len(u))
    # a scale without a gradient: `learned` is there only so that the loss has some graph
    learned = 0 * log_scale
    scores = log_scale.exp().detach() * u @ v.T + learned
    loss = torch.nn.functional.cross_entropy
    return (loss(scores, own) + loss(scores[:, : len(u)].T, own)) / 2


# A hard negative


@right(with_swapped)
def with_an_order(captions, left):
    order = torch.arange(captions.shape[1]).repeat(len(captions), 1)
    for places, i in zip(order, left.tolist(), strict=True):
        places[i], places[i + 1] = i + 1, i
    return torch.cat([captions, captions.gather(1, order)])


@right(with_swapped)
def with_lists(captions, left):
    found = captions.tolist()
    for words, i in zip(captions.tolist(), left.tolist(), strict=True):
        found.append([*words[:i], words[i + 1], words[i], *words[i + 2 :]])
    return found


@wrong(with_swapped, "changes its input captions")
def in_place(captions, left):
    before, row = captions.clone(), torch.arange(len(captions))
    captions[row, left] = before[row, left + 1]
    captions[row, left + 1] = before[row, left]
    return torch.cat([before, captions])


# An exam that tells


@right(marks)
def with_counts(says_yes, is_yes):
    n, yes = len(is_yes), int(is_yes.sum())
    both = int((says_yes & is_yes).sum()), int((~says_yes & ~is_yes).sum())
    shares = both[0] / yes, both[1] / (n - yes)
    return sum(both) / n, sum(shares) / 2, shares[0] - shares[1]


@right(marks)
def with_weights(says_yes, is_yes):
    weight = torch.where(is_yes, 0.5 / is_yes.sum(), 0.5 / (~is_yes).sum()).double()
    right = (says_yes == is_yes).double()
    sign = torch.where(is_yes, 2, -2)
    return right.mean(), (weight * right).sum(), (weight * right * sign).sum()


@wrong(marks, "the tilt is below zero")
def never_negative(says_yes, is_yes):
    right = (says_yes == is_yes).double()
    yes, no = right[is_yes].mean(), right[~is_yes].mean()
    return right.mean(), (yes + no) / 2, (yes - no).clamp(min=0)
