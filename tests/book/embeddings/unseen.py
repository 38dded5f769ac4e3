"""Answers by somebody who had not read the checks."""

import math

import numpy as np
import torch
import torch.nn.functional as F

from tests.book.unseen import answers_to

right, wrong = answers_to("embeddings")


@right
def look_up(table, ids):
    return torch.stack([table[int(i)] for i in ids.flatten()]).reshape(*ids.shape, -1)


wrong("ids flattened: lost the shape", ".reshape(*ids.shape, -1)", "")
wrong(
    "first sentence only",
    "ids.flatten()]",
    "ids.flatten()[:ids.shape[-1]]]",
    ".reshape(*ids.shape, -1)",
    "",
)


@right
def look_up_gradient(grad_output, ids, vocab_size):
    onehot = (ids.reshape(-1)[None] == torch.arange(vocab_size)[:, None]).to(grad_output.dtype)
    return onehot @ grad_output.reshape(-1, grad_output.shape[-1])


wrong(
    "writes instead of adds",
    lambda grad_output, ids, vocab_size: _write(grad_output, ids, vocab_size),
)
wrong(
    "rows of absent words are 1",
    "return onehot @",
    "return (onehot.sum(1, keepdim=True) == 0) + onehot @",
)


def _write(g, ids, V):
    out = torch.zeros(V, g.shape[-1])
    out[ids] += g
    return out


@right
def negative_sampling_loss(centre, neighbour, made_up):
    real = (centre * neighbour).sum(-1)
    fake = torch.einsum("bd,bkd->bk", centre, made_up)
    return (F.softplus(-real) + F.softplus(fake).sum(-1)).mean()


wrong("mean over k", "F.softplus(fake).sum(-1)", "F.softplus(fake).mean(-1)")
wrong("log of sigmoid overflows", "F.softplus(-real)", "-torch.log(torch.sigmoid(real))")


@right
def analogies(vectors, a, b, c):
    v = vectors / vectors.norm(dim=1, keepdim=True)
    answer = []
    for i, j, k in zip(a.tolist(), b.tolist(), c.tolist()):
        cosines = v @ (v[j] - v[i] + v[k])
        cosines[[i, j, k]] = -math.inf
        answer.append(int(cosines.argmax()))
    return torch.tensor(answer)


wrong("not scaled", "vectors / vectors.norm(dim=1, keepdim=True)", "vectors")
wrong("scaled only for the sum", "cosines = v @", "cosines = vectors @")


@right
def count_vectors(sentences, vocab_size, window, d):
    counts = np.zeros((vocab_size, vocab_size))
    for s in sentences:
        for i, w in enumerate(s):
            for o in s[max(0, i - window) : i] + s[i + 1 : i + 1 + window]:
                counts[w, o] += 1
    p = counts / counts.sum()
    row, col = p.sum(1, keepdims=True), p.sum(0, keepdims=True)
    pmi = np.zeros_like(p)
    seen = p > 0
    pmi[seen] = np.maximum(np.log(p[seen] / (row * col)[seen]), 0)
    U, S, V = np.linalg.svd(pmi)
    return torch.tensor(U[:, :d] * np.sqrt(S[:d]))


wrong(
    "window one too small",
    "s[max(0, i - window) : i] + s[i + 1 : i + 1 + window]",
    "s[max(0, i - window + 1) : i] + s[i + 1 : i + window]",
)
wrong("U S instead of U sqrt S", "np.sqrt(S[:d])", "S[:d]")
wrong("a repeated word is not its own neighbour", "counts[w, o] += 1", "counts[w, o] += w != o")


@right
def expected_loss(scores, together, noise, k):
    total = 0.0
    V = len(noise)
    for a in range(V):
        for o in range(V):
            fake = k * together[a].sum() * noise[o]
            total = (
                total + together[a, o] * F.softplus(-scores[a, o]) + fake * F.softplus(scores[a, o])
            )
    return total / together.sum()


wrong("forgets k", "k * together", "together")
wrong("column sums", "together[a].sum()", "together[:, o].sum()")


@right
def look_up(table, ids):
    return F.one_hot(ids, len(table)).to(table.dtype) @ table


wrong(
    "a loop over the first axis",
    "F.one_hot(ids, len(table)).to(table.dtype) @ table",
    "torch.stack([table[int(i)] for i in ids])",
)


@right
def look_up_gradient(grad_output, ids, vocab_size):
    d = grad_output.shape[-1]
    gradient = torch.zeros(vocab_size, d, dtype=grad_output.dtype)
    for g, i in zip(grad_output.reshape(-1, d), ids.flatten()):
        gradient[i] += g
    return gradient


wrong(
    "as many rows as the largest id needs",
    "torch.zeros(vocab_size, d",
    "torch.zeros(int(ids.max()) + 1, d",
)


@right
def negative_sampling_loss(centre, neighbour, made_up):
    real = (centre * neighbour).sum(-1)
    fake = torch.einsum("bd,bkd->bk", centre, made_up)
    return (F.softplus(-real) + F.softplus(fake).sum(1)).mean()


wrong(
    "the made-up ones asked with the neighbour",
    '"bd,bkd->bk", centre, made_up',
    '"bd,bkd->bk", neighbour, made_up',
)

wrong("every pair pays for the whole batch", "F.softplus(fake).sum(1)", "F.softplus(fake).sum()")


@right
def analogies(vectors, a, b, c):
    unit = F.normalize(vectors, dim=1)
    target = unit[b] - unit[a] + unit[c]
    similar = target @ unit.T
    rows = torch.arange(len(a))
    for given in (a, b, c):
        similar[rows, given] = -torch.inf
    return similar.argmax(dim=1)


wrong("excluded from all questions", "similar[rows, given]", "similar[:, given]")
wrong("columns of length 1", "F.normalize(vectors, dim=1)", "F.normalize(vectors, dim=0)")


@right
def count_vectors(sentences, vocab_size, window, d):
    counts = torch.zeros(vocab_size, vocab_size)
    for s in sentences:
        for i in range(len(s)):
            for j in range(i + 1, min(i + window + 1, len(s))):
                counts[s[i], s[j]] += 1
                counts[s[j], s[i]] += 1
    total = counts.sum()
    rows = counts.sum(1, keepdim=True)
    columns = counts.sum(0, keepdim=True)
    pmi = torch.where(counts > 0, (counts * total / (rows * columns)).log(), 0.0)
    U, S, _ = torch.linalg.svd(pmi.clamp(min=0))
    return U[:, :d] * S[:d].sqrt()


wrong(
    "shares of the words of the text",
    "rows = counts.sum(1, keepdim=True)",
    "words = torch.tensor([w for s in sentences for w in s])",
    "columns = counts.sum(0, keepdim=True)",
    "share = torch.bincount(words, minlength=vocab_size) / len(words)",
    "(counts * total / (rows * columns))",
    "(counts / total / (share[:, None] * share))",
)
wrong("one is added to the counts", "total = counts.sum()", "counts += 1\n    total = counts.sum()")


@right
def expected_loss(scores, together, noise, k):
    made_up = k * together.sum(1, keepdim=True) * noise
    cost = together * F.softplus(-scores) + made_up * F.softplus(scores)
    return cost.sum() / together.sum()


wrong(
    "the pairs of the neighbour", "together.sum(1, keepdim=True)", "together.sum(0, keepdim=True)"
)

wrong(
    "only pairs that never occur are made up",
    "made_up * F.softplus(scores)",
    "made_up * (together == 0) * F.softplus(scores)",
)


@right
def look_up_gradient(grad_output, ids, vocab_size):
    d = grad_output.shape[-1]
    gradient = torch.zeros(vocab_size, d, dtype=grad_output.dtype)
    for word, row in zip(ids.flatten().tolist(), grad_output.reshape(-1, d)):
        gradient[word] += row
    return gradient


wrong(
    "only once for each word",
    "    for word, row in zip(ids.flatten().tolist(), grad_output.reshape(-1, d)):\n"
    "        gradient[word] += row\n",
    "    gradient[ids] += grad_output\n",
)


@right
def negative_sampling_loss(centre, neighbour, made_up):
    real = (centre * neighbour).sum(dim=-1)
    false = torch.einsum("bd,bkd->bk", centre, made_up)
    loss = F.softplus(-real) + F.softplus(false).sum(dim=-1)
    return loss.mean()


wrong(
    "logarithm of the sigmoid",
    "F.softplus(-real)",
    "-torch.log(torch.sigmoid(real))",
    "F.softplus(false)",
    "-torch.log(torch.sigmoid(-false))",
)


@right
def count_vectors(sentences, vocab_size, window, d):
    counts = torch.zeros(vocab_size, vocab_size, dtype=torch.float64)
    for sentence in sentences:
        for i, centre in enumerate(sentence):
            for j in range(max(0, i - window), min(len(sentence), i + window + 1)):
                if i != j:
                    counts[centre, sentence[j]] += 1
    total = counts.sum()
    p_centre = counts.sum(dim=1, keepdim=True) / total
    p_other = counts.sum(dim=0, keepdim=True) / total
    pmi = torch.log(counts / total / (p_centre * p_other))
    pmi = torch.where(counts > 0, pmi, 0.0).clamp(min=0)
    U, S, _ = torch.linalg.svd(pmi)
    return (U * S.sqrt())[:, :d].float()


wrong("negative PMI is kept", ".clamp(min=0)", "")


@right
def expected_loss(scores, together, noise, k):
    made_up = k * together.sum(dim=1, keepdim=True) * noise
    real_cost = -(together * F.logsigmoid(scores)).sum()
    false_cost = -(made_up * F.logsigmoid(-scores)).sum()
    return (real_cost + false_cost) / together.sum()


wrong(
    "the neighbours' counts instead of the centres'",
    "together.sum(dim=1, keepdim=True) * noise",
    "together.sum(dim=0, keepdim=True) * noise",
)


@right
def look_up(table, ids):
    rows = table.index_select(0, ids.reshape(-1))
    return rows.reshape(ids.shape + (table.size(1),))


wrong(
    "counts the ids from 1",
    "    rows = table.index_select(0, ids.reshape(-1))\n    return rows.reshape(ids.shape + (table.size(1),))",
    "    return table[ids - 1]",
)
