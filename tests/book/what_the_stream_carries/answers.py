"""Answers to the exercises of book/what_the_stream_carries.ipynb."""

import torch

from book.what_the_stream_carries.checks import pushed, settled, sparse_code
from tests.book.answers import right, wrong

# A vector for "many"


@right(pushed)
def by_means(x, ones, twos, times):
    return x + times * (twos.mean(0) - ones.mean(0))


@right(pushed)
def by_sums(x, ones, twos, times):
    y = x.clone()
    y += times * twos.sum(0) / len(twos)
    y -= times * ones.sum(0) / len(ones)
    return y


@wrong(pushed, "their means")
def by_sums_alone(x, ones, twos, times):
    return x + times * twos.sum(0) - times * ones.sum(0)


# At most k at a time


@right(sparse_code)
def by_a_threshold(x, E, b, D, k):
    values = torch.einsum("nd,ld->nl", x, E) + b
    least = values.sort(descending=True).values[:, k - 1 : k]
    code = torch.where(values >= least, values, 0).clamp(min=0)
    return code, torch.einsum("nl,ld->nd", code, D)


@right(sparse_code)
def row_by_row(x, E, b, D, k):
    codes = []
    for row in x:
        values, code = E @ row + b, torch.zeros(len(E))
        for i in values.argsort(descending=True)[:k]:
            code[i] = max(values[i].item(), 0)
        codes.append(code)
    return torch.stack(codes), torch.stack(codes) @ D


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
