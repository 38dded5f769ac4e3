"""Answers to the exercises of book/embeddings.ipynb."""

from collections import Counter

import numpy as np
import torch
import torch.nn.functional as F

from book.embeddings.checks import (
    analogies,
    count_vectors,
    expected_loss,
    look_up,
    look_up_gradient,
    negative_sampling_loss,
)
from tests.book.answers import right, wrong

# The look-up


@right(look_up)
def by_index(table, ids):
    return table[ids]


@right(look_up)
def by_one_hot(table, ids):
    return F.one_hot(ids, num_classes=table.shape[0]).float() @ table


# Its gradient


@right(look_up_gradient)
def add_rows_into_rows(grad_output, ids, vocab_size):
    gradient = torch.zeros(vocab_size, grad_output.shape[-1])
    return gradient.index_add_(0, ids.flatten(), grad_output.reshape(-1, grad_output.shape[-1]))


@right(look_up_gradient)
def transposed_one_hot(grad_output, ids, vocab_size):
    return torch.einsum("...v,...d->vd", F.one_hot(ids, vocab_size).float(), grad_output)


@wrong(look_up_gradient, "it raised IndexError")
def forward_again(grad_output, ids, vocab_size):
    return grad_output.reshape(-1, grad_output.shape[-1])[ids]


# Real or made up?


@right(negative_sampling_loss)
def as_cross_entropy(centre, neighbour, made_up):
    words = torch.cat([neighbour[:, None], made_up], dim=1)
    logits = (words @ centre.unsqueeze(-1)).squeeze(-1)
    labels = torch.zeros_like(logits)
    labels[:, 0] = 1
    return F.binary_cross_entropy_with_logits(logits, labels, reduction="sum") / len(centre)


@right(negative_sampling_loss)
def softplus(centre, neighbour, made_up):
    total = 0
    for e, u, noise in zip(centre, neighbour, made_up, strict=True):
        total = total + F.softplus(-e @ u) + F.softplus(noise @ e).sum()
    return total / len(centre)


@wrong(negative_sampling_loss, "would cut the loss off")
def a_small_number_inside(centre, neighbour, made_up):
    real = torch.log(torch.sigmoid((centre * neighbour).sum(-1)) + 1e-9)
    false = torch.log(torch.sigmoid(-(made_up * centre[:, None]).sum(-1)) + 1e-9).sum(-1)
    return -(real + false).mean()


# An analogy


@right(analogies)
def with_scatter(vectors, a, b, c):
    unit = F.normalize(vectors, dim=1)
    cosine = F.normalize(unit[b] - unit[a] + unit[c], dim=1) @ unit.T
    return cosine.scatter(1, torch.stack([a, b, c], dim=1), -9).argmax(1)


@right(analogies)
def by_distance_in_a_loop(vectors, a, b, c):
    unit = vectors / vectors.norm(dim=1, keepdim=True)
    found = []
    for x, y, third in zip(a.tolist(), b.tolist(), c.tolist(), strict=True):
        distance = (unit - (unit[y] - unit[x] + unit[third])).norm(dim=1)
        order = [i for i in distance.argsort().tolist() if i not in (x, y, third)]
        found.append(order[0])
    return torch.tensor(found)


# Without sampling


@right(expected_loss)
def in_one_expression(scores, together, noise, k):
    false = k * together.sum(1, keepdim=True) * noise
    total = together * F.logsigmoid(scores) + false * F.logsigmoid(-scores)
    return -total.sum() / together.sum()


@right(expected_loss)
def row_by_row(scores, together, noise, k):
    total = 0.0
    for row, counts in zip(scores, together, strict=True):
        of_one = (F.softplus(row) * noise).sum() * k
        total = total + counts @ F.softplus(-row) + counts.sum() * of_one
    return total / together.sum()


@wrong(expected_loss, "`k` has no effect")
def without_k(scores, together, noise, k):
    return in_one_expression(scores, together, noise, 1)


# Vectors without training


def counted_by_pairs(sentences, window, *, both=True):
    """How often each pair of words is at most `window` apart in a sentence."""
    pairs = Counter()
    for sentence in sentences:
        for i, word in enumerate(sentence):
            for j in range(i + 1, min(i + window + 1, len(sentence))):
                pairs[word, sentence[j]] += 1
                if both:
                    pairs[sentence[j], word] += 1
    return pairs


def to_matrix(pairs, vocab_size):
    matrix = np.zeros((vocab_size, vocab_size))
    for (word, other), times in pairs.items():
        matrix[word, other] = times
    return matrix


def positive_pmi(counts):
    with np.errstate(all="ignore"):
        pmi = np.log(counts * counts.sum() / np.outer(counts.sum(1), counts.sum(0)))
    return np.where(counts > 0, np.maximum(pmi, 0), 0)


@right(count_vectors)
def in_numpy(sentences, vocab_size, window, d):
    pmi = positive_pmi(to_matrix(counted_by_pairs(sentences, window), vocab_size))
    U, S, _ = np.linalg.svd(pmi)
    return U[:, :d] * np.sqrt(S[:d])


@right(count_vectors)
def in_torch_by_shifted_sentences(sentences, vocab_size, window, d):
    together = torch.zeros(vocab_size, vocab_size)
    for sentence in map(torch.tensor, sentences):
        for distance in range(1, window + 1):
            here, there = sentence[:-distance], sentence[distance:]
            together.index_put_((here, there), torch.tensor(1.0), accumulate=True)
    together = together + together.T
    share = together / together.sum()
    chance = share.sum(1, keepdim=True) * share.sum(0)
    pmi = (share / chance).log().nan_to_num(0, 0, 0).clamp(min=0)
    U, S, _ = torch.linalg.svd(pmi)
    return U[:, :d] @ S[:d].sqrt().diag()


@wrong(count_vectors, "is its own neighbour")
def other_words_only(sentences, vocab_size, window, d):
    counts = to_matrix(counted_by_pairs(sentences, window), vocab_size)
    np.fill_diagonal(counts, 0)
    U, S, _ = np.linalg.svd(positive_pmi(counts))
    return U[:, :d] * np.sqrt(S[:d])
