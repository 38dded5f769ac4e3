"""Answers to the exercises of book/embeddings.ipynb."""

import math
from collections import Counter

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from book.embeddings.checks import (
    analogies,
    count_vectors,
    expected_loss,
    look_up,
    look_up_gradient,
    negative_sampling_loss,
)
from tests.book.answers import right, wrong

# 1. The look-up


@right(look_up)
def by_index(table, ids):
    return table[ids]


@right(look_up)
def by_one_hot(table, ids):
    return F.one_hot(ids, num_classes=table.shape[0]).float() @ table


@right(look_up)
def by_the_layer(table, ids):
    return nn.Embedding.from_pretrained(table)(ids)


@wrong(look_up, "counted from 1")
def from_one(table, ids):
    return table[ids - 1]


@wrong(look_up, "columns were picked")
def columns(table, ids):
    return table[:, ids]


@wrong(look_up, "each word comes once only")
def every_word_once(table, ids):
    return table[sorted(set(ids.flatten().tolist()))]


@wrong(look_up, "one-hot vectors")
def one_hot_only(table, ids):
    return F.one_hot(ids, len(table)).float()


@wrong(look_up, "the root of d")
def scaled_as_in_the_paper(table, ids):
    return table[ids] * math.sqrt(table.shape[-1])


@wrong(look_up, "added up: this is a bag")
def bag_sum(table, ids):
    return F.one_hot(ids, len(table)).sum(-2).float() @ table


@wrong(look_up, "averaged: this is a bag")
def bag_mean(table, ids):
    return table[ids].mean(dim=-2)


@wrong(look_up, "lost the shape of the ids")
def flat(table, ids):
    return torch.stack([table[i] for i in ids.flatten()])


# 2. Its gradient


@right(look_up_gradient)
def add_rows_into_rows(grad_output, ids, vocab_size):
    gradient = torch.zeros(vocab_size, grad_output.shape[-1])
    return gradient.index_add_(0, ids.flatten(), grad_output.reshape(-1, grad_output.shape[-1]))


@right(look_up_gradient)
def transposed_one_hot(grad_output, ids, vocab_size):
    return torch.einsum("...v,...d->vd", F.one_hot(ids, vocab_size).float(), grad_output)


@right(look_up_gradient)
def plain_loop(grad_output, ids, vocab_size):
    width = grad_output.shape[-1]
    gradient = torch.zeros(vocab_size, width, dtype=grad_output.dtype)
    for word, row in zip(ids.flatten(), grad_output.reshape(-1, width), strict=True):
        gradient[word] += row
    return gradient


@wrong(look_up_gradient, "keeps only its last gradient")
def plain_assignment(grad_output, ids, vocab_size):
    gradient = torch.zeros(vocab_size, grad_output.shape[-1])
    for word, row in zip(ids.flatten(), grad_output.flatten(0, -2), strict=True):
        gradient[word] = row
    return gradient


@wrong(look_up_gradient, "keeps only its last gradient")
def fancy_plus_equals(grad_output, ids, vocab_size):
    gradient = torch.zeros(vocab_size, grad_output.shape[-1])
    gradient[ids] += grad_output  # adds once only, however often an id occurs
    return gradient


@wrong(look_up_gradient, "keeps only its first gradient")
def the_first_wins(grad_output, ids, vocab_size):
    gradient, seen = torch.zeros(vocab_size, grad_output.shape[-1]), set()
    for word, row in zip(ids.flatten().tolist(), grad_output.flatten(0, -2), strict=True):
        if word not in seen:
            gradient[word] = row
            seen.add(word)
    return gradient


@wrong(look_up_gradient, "averaged; they should be added")
def mean_by_index(grad_output, ids, vocab_size):
    gradient = torch.zeros(vocab_size, grad_output.shape[-1])
    rows = grad_output.flatten(0, -2)
    return gradient.index_reduce_(0, ids.flatten(), rows, "mean", include_self=False)


@wrong(look_up_gradient, "leaves out the gradients that arrive")
def as_in_the_chapter(grad_output, ids, vocab_size):
    """There the loss was the sum, so that all gradients were 1."""
    return F.one_hot(ids, vocab_size).flatten(0, -2).sum(0)[:, None].float().expand(
        -1, grad_output.shape[-1]
    ) * torch.ones(1)


@wrong(look_up_gradient, "counted from 1")
def one_row_up(grad_output, ids, vocab_size):
    gradient = torch.zeros(vocab_size, grad_output.shape[-1])
    words = torch.where(ids == 0, ids.max(), ids - 1)
    return gradient.index_add_(0, words.flatten(), grad_output.flatten(0, -2))


@wrong(look_up_gradient, "this is (d, V)")
def transposed(grad_output, ids, vocab_size):
    return grad_output.flatten(0, -2).T @ F.one_hot(ids.flatten(), vocab_size).float()


@wrong(look_up_gradient, "only the rows of words that occur")
def without_rows_of_zeros(grad_output, ids, vocab_size):
    gradient = plain_loop(grad_output, ids, vocab_size)
    return gradient[gradient.abs().sum(1) > 0]


@wrong(look_up_gradient, "it raised IndexError")
def forward_again(grad_output, ids, vocab_size):
    return grad_output.reshape(-1, grad_output.shape[-1])[ids]


@wrong(look_up_gradient, "the sign is turned")
def already_a_step_down(grad_output, ids, vocab_size):
    return -plain_loop(grad_output, ids, vocab_size)


@wrong(look_up_gradient, "it raised")
def one_sentence_only(grad_output, ids, vocab_size):
    return torch.zeros(vocab_size, grad_output.shape[-1]).index_add_(0, ids, grad_output)


# 3. Real or made up?


@right(negative_sampling_loss)
def log_sigmoid(centre, neighbour, made_up):
    real = (centre * neighbour).sum(-1)
    false = torch.einsum("bkd,bd->bk", made_up, centre)
    return -(F.logsigmoid(real) + F.logsigmoid(-false).sum(1)).mean()


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


def pair_loss(centre, neighbour, made_up, sign, reduce):
    real = F.logsigmoid((centre * neighbour).sum(-1))
    false = reduce(F.logsigmoid(sign * (made_up * centre[:, None]).sum(-1)))
    return -(real + false).mean()


@wrong(negative_sampling_loss, "their dot product needs a minus")
def minus_forgotten(centre, neighbour, made_up):
    return pair_loss(centre, neighbour, made_up, 1, lambda x: x.sum(-1))


@wrong(negative_sampling_loss, "the signs are exchanged")
def signs_exchanged(centre, neighbour, made_up):
    return log_sigmoid(-centre, neighbour, made_up)


@wrong(negative_sampling_loss, "the mean over the made-up neighbours")
def mean_of_made_up(centre, neighbour, made_up):
    return pair_loss(centre, neighbour, made_up, -1, lambda x: x.mean(-1))


@wrong(negative_sampling_loss, "asked as a mean")
def sum_over_pairs(centre, neighbour, made_up):
    return log_sigmoid(centre, neighbour, made_up) * len(centre)


@wrong(negative_sampling_loss, "log-likelihood")
def without_the_leading_minus(centre, neighbour, made_up):
    real = F.logsigmoid((centre * neighbour).sum(-1))
    return (real + F.logsigmoid(-(made_up @ centre[..., None])[..., 0]).sum(-1)).mean()


@wrong(negative_sampling_loss, "the made-up neighbours are left out")
def real_only(centre, neighbour, made_up):
    return -F.logsigmoid((centre * neighbour).sum(-1)).mean()


@wrong(negative_sampling_loss, "the real pair is left out")
def made_up_only(centre, neighbour, made_up):
    return -F.logsigmoid(-(made_up * centre[:, None]).sum(-1)).sum(-1).mean()


@wrong(negative_sampling_loss, "all neighbours of the batch")
def everybody_with_everybody(centre, neighbour, made_up):
    real = F.logsigmoid(centre @ neighbour.T)
    return -(real + F.logsigmoid(-(made_up @ centre[..., None])[..., 0]).sum(-1)).mean()


@wrong(negative_sampling_loss, "they belong to the centre")
def made_up_for_the_neighbour(centre, neighbour, made_up):
    real = F.logsigmoid((centre * neighbour).sum(-1))
    false = torch.einsum("bkd,bd->bk", made_up, neighbour)
    return -(real + F.logsigmoid(-false).sum(1)).mean()


@wrong(negative_sampling_loss, "added before the sigmoid")
def sum_too_early(centre, neighbour, made_up):
    real = F.logsigmoid((centre * neighbour).sum(-1))
    false = torch.einsum("bkd,bd->b", made_up, centre)
    return -(real + F.logsigmoid(-false)).mean()


@wrong(negative_sampling_loss, "would cut the loss off")
def a_small_number_inside(centre, neighbour, made_up):
    real = torch.log(torch.sigmoid((centre * neighbour).sum(-1)) + 1e-9)
    false = torch.log(torch.sigmoid(-(made_up * centre[:, None]).sum(-1)) + 1e-9).sum(-1)
    return -(real + false).mean()


@wrong(negative_sampling_loss, "there is no logarithm")
def without_logarithm(centre, neighbour, made_up):
    real = (centre * neighbour).sum(-1).sigmoid()
    false = torch.sigmoid(-(made_up * centre[:, None]).sum(-1)).sum(-1)
    return -(real + false).mean()


@wrong(negative_sampling_loss, "a softmax over one real and k made-up")
def one_of_many(centre, neighbour, made_up):
    words = torch.cat([neighbour[:, None], made_up], dim=1)
    logits = torch.einsum("bkd,bd->bk", words, centre)
    return F.cross_entropy(logits, torch.zeros(len(logits), dtype=torch.long))


@wrong(negative_sampling_loss, "rounded to 0 before the logarithm")
def logarithm_of_a_sigmoid(centre, neighbour, made_up):
    real = torch.log(torch.sigmoid((centre * neighbour).sum(-1)))
    false = torch.log(torch.sigmoid(-(made_up * centre[:, None]).sum(-1))).sum(-1)
    return -(real + false).mean()


@wrong(negative_sampling_loss, "the mean over the pairs was asked for")
def one_loss_for_each_pair(centre, neighbour, made_up):
    real = F.logsigmoid((centre * neighbour).sum(-1))
    return -(real + F.logsigmoid(-(made_up * centre[:, None]).sum(-1)).sum(-1))


# 4. An analogy


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


@right(analogies)
def best_of_four(vectors, a, b, c):
    unit = F.normalize(vectors, dim=1)
    best = F.cosine_similarity((unit[b] - unit[a] + unit[c])[:, None], unit[None], dim=-1)
    best = best.topk(4, dim=1).indices
    given = (best[..., None] == torch.stack([a, b, c], dim=1)[:, None]).any(-1)
    return best[torch.arange(len(best)), given.int().argmin(1)]


def answer_of(vectors, target, *excluded):
    cosine = target @ vectors.T
    rows = torch.arange(len(cosine))
    for ids in excluded:
        cosine[rows, ids] = -torch.inf
    return cosine.argmax(1)


@wrong(analogies, "allowed as answers")
def nothing_excluded(vectors, a, b, c):
    unit = F.normalize(vectors, dim=1)
    return answer_of(unit, unit[b] - unit[a] + unit[c])


@wrong(analogies, "only the third word is excluded")
def only_the_third_excluded(vectors, a, b, c):
    unit = F.normalize(vectors, dim=1)
    return answer_of(unit, unit[b] - unit[a] + unit[c], c)


@wrong(analogies, "0 wins where all others are negative")
def zero_for_the_given(vectors, a, b, c):
    unit = F.normalize(vectors, dim=1)
    cosine = (unit[b] - unit[a] + unit[c]) @ unit.T
    return cosine.scatter(1, torch.stack([a, b, c], dim=1), 0).argmax(1)


@wrong(analogies, "excludes the words of all questions")
def whole_columns_excluded(vectors, a, b, c):
    unit = F.normalize(vectors, dim=1)
    cosine = (unit[b] - unit[a] + unit[c]) @ unit.T
    for ids in (a, b, c):
        cosine[:, ids] = -torch.inf
    return cosine.argmax(1)


@wrong(analogies, "the columns are scaled")
def normalised_along_the_words(vectors, a, b, c):
    unit = vectors / vectors.norm(dim=0)
    return answer_of(unit, unit[b] - unit[a] + unit[c], a, b, c)


@wrong(analogies, "a - b + c instead of b - a + c")
def step_back(vectors, a, b, c):
    unit = F.normalize(vectors, dim=1)
    return answer_of(unit, unit[a] - unit[b] + unit[c], a, b, c)


@wrong(analogies, "this is a + b - c")
def letters_in_the_wrong_places(vectors, a, b, c):
    unit = F.normalize(vectors, dim=1)
    return answer_of(unit, unit[a] + unit[b] - unit[c], a, b, c)


@wrong(analogies, "no arithmetic")
def nearest_to_the_third(vectors, a, b, c):
    unit = F.normalize(vectors, dim=1)
    return answer_of(unit, unit[c], a, b, c)


@wrong(analogies, "neither in the sum nor as answers")
def dot_products_of_raw_rows(vectors, a, b, c):
    return answer_of(vectors, vectors[b] - vectors[a] + vectors[c], a, b, c)


@wrong(analogies, "not scaled to length 1 before b - a + c")
def normalised_too_late(vectors, a, b, c):
    target = F.normalize(vectors[b] - vectors[a] + vectors[c], dim=1)
    return answer_of(F.normalize(vectors, dim=1), target, a, b, c)


@wrong(analogies, "long vectors win")
def raw_answers(vectors, a, b, c):
    unit = F.normalize(vectors, dim=1)
    return answer_of(vectors, unit[b] - unit[a] + unit[c], a, b, c)


@wrong(analogies, "the farthest word was taken")
def argmin(vectors, a, b, c):
    unit = F.normalize(vectors, dim=1)
    cosine = (unit[b] - unit[a] + unit[c]) @ unit.T
    return cosine.scatter(1, torch.stack([a, b, c], dim=1), 9).argmin(1)


@wrong(analogies, "the id of its row was asked for")
def the_cosine_itself(vectors, a, b, c):
    unit = F.normalize(vectors, dim=1)
    return ((unit[b] - unit[a] + unit[c]) @ unit.T).amax(1)


# 5. Without sampling


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


@wrong(expected_loss, "k is left out")
def without_k(scores, together, noise, k):
    return in_one_expression(scores, together, noise, 1)


@wrong(expected_loss, "every centre gets equally many")
def as_many_for_each_centre(scores, together, noise, k):
    total = together * F.logsigmoid(scores) + k * noise * F.logsigmoid(-scores)
    return -total.sum() / together.sum()


@wrong(expected_loss, "those of the centres are needed")
def sum_over_the_wrong_axis(scores, together, noise, k):
    false = k * together.sum(0) * noise
    total = together * F.logsigmoid(scores) + false * F.logsigmoid(-scores)
    return -total.sum() / together.sum()


@wrong(expected_loss, "belongs to the centres here")
def noise_down_the_rows(scores, together, noise, k):
    false = k * (together.sum(1) * noise)[:, None]
    total = together * F.logsigmoid(scores) + false * F.logsigmoid(-scores)
    return -total.sum() / together.sum()


@wrong(expected_loss, "only pairs that occur")
def noise_times_the_cells(scores, together, noise, k):
    total = together * (F.logsigmoid(scores) + k * noise * F.logsigmoid(-scores))
    return -total.sum() / together.sum()


@wrong(expected_loss, "of all real pairs")
def everything_for_each_centre(scores, together, noise, k):
    total = together * F.logsigmoid(scores) + k * together.sum() * noise * F.logsigmoid(-scores)
    return -total.sum() / together.sum()


@wrong(expected_loss, "keepdim=True")
def counts_along_the_columns(scores, together, noise, k):
    false = k * together.sum(1) * noise
    return -(together * F.logsigmoid(scores) + false * F.logsigmoid(-scores)).sum() / together.sum()


@wrong(expected_loss, "the noise is left out")
def all_words_alike(scores, together, noise, k):
    return in_one_expression(scores, together, torch.full_like(noise, 1 / len(noise)), k)


@wrong(expected_loss, "treated like real ones")
def both_with_plus(scores, together, noise, k):
    false = k * together.sum(1, keepdim=True) * noise
    return -((together + false) * F.logsigmoid(scores)).sum() / together.sum()


@wrong(expected_loss, "not divided by the number of real pairs")
def not_divided(scores, together, noise, k):
    return in_one_expression(scores, together, noise, k) * together.sum()


@wrong(expected_loss, "divided by the number of cells")
def mean_of_the_cells(scores, together, noise, k):
    false = k * together.sum(1, keepdim=True) * noise
    return -(together * F.logsigmoid(scores) + false * F.logsigmoid(-scores)).mean()


@wrong(expected_loss, "log-likelihood")
def to_be_maximised(scores, together, noise, k):
    return -in_one_expression(scores, together, noise, k)


# 6. Vectors without training


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


@wrong(count_vectors, "each pair counts both ways")
def to_the_right_only(sentences, vocab_size, window, d):
    pmi = positive_pmi(to_matrix(counted_by_pairs(sentences, window, both=False), vocab_size))
    U, S, _ = np.linalg.svd(pmi)
    return U[:, :d] * np.sqrt(S[:d])


@wrong(count_vectors, "the singular values are left out")
def directions_alone(sentences, vocab_size, window, d):
    pmi = positive_pmi(to_matrix(counted_by_pairs(sentences, window), vocab_size))
    return np.linalg.svd(pmi)[0][:, :d]


@wrong(count_vectors, "take the root of the singular values")
def without_the_root(sentences, vocab_size, window, d):
    pmi = positive_pmi(to_matrix(counted_by_pairs(sentences, window), vocab_size))
    U, S, _ = np.linalg.svd(pmi)
    return U[:, :d] * S[:d]


@wrong(count_vectors, "the counts themselves")
def counts_only(sentences, vocab_size, window, d):
    U, S, _ = np.linalg.svd(to_matrix(counted_by_pairs(sentences, window), vocab_size))
    return U[:, :d] * np.sqrt(S[:d])


@wrong(count_vectors, "across the end of a sentence")
def one_long_text(sentences, vocab_size, window, d):
    return in_numpy([sum(sentences, [])], vocab_size, window, d)  # noqa: RUF017


@wrong(count_vectors, "the window is one too small")
def half_open_range(sentences, vocab_size, window, d):
    return in_numpy(sentences, vocab_size, window - 1, d)


@wrong(count_vectors, "negative PMI is kept")
def with_the_negative(sentences, vocab_size, window, d):
    counts = to_matrix(counted_by_pairs(sentences, window), vocab_size)
    with np.errstate(all="ignore"):
        pmi = np.log(counts * counts.sum() / np.outer(counts.sum(1), counts.sum(0)))
    U, S, _ = np.linalg.svd(np.where(counts > 0, pmi, 0))
    return U[:, :d] * np.sqrt(S[:d])


@wrong(count_vectors, "the smallest directions")
def from_the_other_end(sentences, vocab_size, window, d):
    pmi = positive_pmi(to_matrix(counted_by_pairs(sentences, window), vocab_size))
    U, S, _ = np.linalg.svd(pmi)
    return (U * np.sqrt(S))[:, -d:]


@wrong(count_vectors, "it raised")
def infinite_logarithms(sentences, vocab_size, window, d):
    counts = to_matrix(counted_by_pairs(sentences, window), vocab_size)
    with np.errstate(all="ignore"):
        pmi = np.log(counts * counts.sum() / np.outer(counts.sum(1), counts.sum(0)))
    U, S, _ = np.linalg.svd(np.maximum(pmi, 0))
    return U[:, :d] * np.sqrt(S[:d])


@wrong(count_vectors, "is its own neighbour")
def other_words_only(sentences, vocab_size, window, d):
    counts = to_matrix(counted_by_pairs(sentences, window), vocab_size)
    np.fill_diagonal(counts, 0)
    U, S, _ = np.linalg.svd(positive_pmi(counts))
    return U[:, :d] * np.sqrt(S[:d])
