"""Answers to the exercises of book/what_the_stream_carries.ipynb."""

import torch

from book.what_the_stream_carries.checks import purity, pushed, sparse_code
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


# All one word


@right(purity)
def word_by_word(codes, words, k):
    shares = []
    for latent in codes.T:
        if (latent > 0).sum() < k:
            shares.append(0.0)
            continue
        top = words[latent.argsort(descending=True)[:k]].tolist()
        shares.append(max(top.count(word) for word in top) / k)
    return shares


@right(purity)
def by_comparing_all_pairs(codes, words, k):
    top = words[codes.topk(k, dim=0).indices]
    same = (top[:, None] == top).sum(0).amax(0)
    return same / k * ((codes > 0).sum(0) >= k)


@wrong(purity, "each has strongest tokens of its own")
def by_the_first_latent(codes, words, k):
    top = words[codes[:, 0].topk(k).indices]
    return (top == top.mode().values).float().mean().expand(codes.shape[1])


@wrong(purity, "a share of the k")
def counted(codes, words, k):
    top = words[codes.topk(k, dim=0).indices]
    count = (top == top.mode(0).values).sum(0)
    return torch.where((codes > 0).sum(0) < k, 0, count)
