"""Answers to the exercises of book/in_any_order.ipynb."""

import math

import torch

from book.in_any_order.checks import any_order_loss, keep_surest, lost_in_one_pass, who_wrote
from tests.book.answers import right, wrong

# Keep some


@right(keep_surest)
def with_topk(blank, sure, keep):
    kept = torch.zeros_like(blank)
    for row in range(len(blank)):
        places = blank[row].nonzero().flatten()
        best = sure[row, places].topk(min(keep, len(places))).indices
        kept[row, places[best]] = True
    return kept


@right(keep_surest)
def by_counting_surer_blanks(blank, sure, keep):
    rows = []
    for blanks, numbers in zip(blank.tolist(), sure.tolist(), strict=True):
        pairs = [*zip(blanks, numbers, strict=True)]
        ahead = [sum(b and x > y for b, x in pairs) for _, y in pairs]
        rows.append([b and n < keep for b, n in zip(blanks, ahead, strict=True)])
    return rows


# What one pass loses


@right(lost_in_one_pass)
def as_a_divergence(joint):
    product = torch.ones_like(joint)
    for axis in range(joint.dim()):
        marginal = joint.movedim(axis, 0).flatten(1).sum(1)
        shape = [1] * joint.dim()
        shape[axis] = -1
        product = product * marginal.view(shape)
    there = joint > 0
    return (joint[there] * (joint[there] / product[there]).log()).sum()


@right(lost_in_one_pass)
def in_plain_python(joint):
    def entropy(numbers):
        return -sum(p * math.log(p) for p in numbers if p > 0)

    total = -entropy(joint.flatten().tolist())
    for axis in range(joint.dim()):
        total += entropy([joint.select(axis, i).sum().item() for i in range(joint.shape[axis])])
    return total


@wrong(lost_in_one_pass, "NaN or infinity")
def without_care_for_zeros(joint):
    def entropy(p):
        return -(p * p.log()).sum()

    axes = range(joint.dim())
    sums = [joint.sum([j for j in axes if j != i]) for i in axes]
    return sum(entropy(p) for p in sums) - entropy(joint)


# The loss of any order


@right(any_order_loss)
def as_a_mean_of_hidden_words(losses, hidden, is_word):
    costs = [
        n * row[asked].mean() for row, asked, n in zip(losses, hidden, is_word.sum(1), strict=True)
    ]
    return torch.stack(costs).mean()


@right(any_order_loss)
def with_a_weight_for_each_place(losses, hidden, is_word):
    weights = hidden * is_word.sum(1, keepdim=True) / hidden.sum(1, keepdim=True)
    return (weights * losses).sum() / len(losses)


@wrong(any_order_loss, "each has its own n and m")
def a_sentence_counts_by_its_length(losses, hidden, is_word):
    n, m = is_word.sum(1), hidden.sum(1)
    return (n / m * (losses * hidden).sum(1)).sum() / n.sum() * n[0]


# Ask a GPT backwards


@right(who_wrote)
def by_subtracting_the_evidence(log_p, log_prior):
    rows = log_p.T + log_prior
    return (rows - rows.logsumexp(1, keepdim=True)).exp()


@right(who_wrote)
def after_the_largest_is_taken_away(log_p, log_prior):
    rows = log_p.T + log_prior[None]
    shares = (rows - rows.max(dim=1, keepdim=True).values).exp()
    return shares / shares.sum(dim=1, keepdim=True)


@wrong(who_wrote, "shape")
def with_authors_in_rows(log_p, log_prior):
    return (log_p + log_prior[:, None]).softmax(0)
