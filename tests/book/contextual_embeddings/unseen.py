"""Answers by somebody who had not read the checks."""

from itertools import combinations

import torch
import torch.nn.functional as F

from tests.book.unseen import answers_to

right, wrong = answers_to("contextual_embeddings")


@right
def vectors_at(hidden, positions):
    return torch.cat([h[int(p)][None] for h, p in zip(hidden, positions)])


wrong("all sentences at all positions", lambda hidden, positions: hidden[:, positions])
wrong(
    "indexes sentences by positions",
    lambda hidden, positions: hidden[
        positions.clamp(max=len(hidden) - 1),
        torch.arange(len(positions)).clamp(max=hidden.shape[1] - 1),
    ],
)


@right
def nearer_mean(known, senses, new):
    m = [torch.stack([k for k, s in zip(known, senses) if int(s) == i]).mean(0) for i in (0, 1)]
    return torch.tensor([int(torch.dist(v, m[1]) < torch.dist(v, m[0])) for v in new])


wrong("farther mean", "< torch.dist", "> torch.dist")
wrong("sums instead of means", ".mean(0)", ".sum(0)")
wrong(
    "cosine",
    lambda known, senses, new: F.cosine_similarity(
        new[:, None], torch.stack([known[senses == i].mean(0) for i in (0, 1)]), dim=-1
    ).argmax(1),
)


@right
def self_similarity(vectors):
    n, total = len(vectors), 0
    for i in range(n):
        for j in range(i + 1, n):
            total = total + F.cosine_similarity(vectors[i], vectors[j], dim=0)
    return 2 * total / (n * (n - 1))


wrong("with itself", lambda vectors: (lambda v: (v @ v.T).mean())(F.normalize(vectors, dim=1)))
wrong(
    "cosine to the mean",
    lambda vectors: F.cosine_similarity(vectors, vectors.mean(0)[None], dim=1).mean(),
)
wrong(
    "first against others",
    "for i in range(n)",
    "for i in range(1)",
    "2 * total / (n * (n - 1))",
    "total / (n - 1)",
)


@right
def vectors_at(hidden, positions):
    index = positions[:, None, None].expand(-1, 1, hidden.shape[-1])
    return hidden.gather(1, index).squeeze(1)


wrong(
    "counts positions from 1",
    "hidden.gather(1, index).squeeze(1)",
    "hidden[torch.arange(len(hidden)), positions - 1]",
)
wrong(
    "the indices exchanged",
    "hidden.gather(1, index).squeeze(1)",
    "hidden[positions, torch.arange(len(hidden))]",
)
wrong("an index that is not expanded", ".expand(-1, 1, hidden.shape[-1])", "")


@right
def nearer_mean(known, senses, new):
    means = torch.stack([known[senses == s].mean(dim=0) for s in (0, 1)])
    return torch.cdist(new, means).argmin(dim=1)


wrong("sums over half of n", ".mean(dim=0)", ".sum(dim=0) / (len(known) / 2)")
wrong("the least over the new vectors", "argmin(dim=1)", "argmin(dim=0)")


@right
def self_similarity(vectors):
    n = len(vectors)
    u = vectors / vectors.norm(dim=1, keepdim=True)
    cosines = u @ u.T
    return (cosines.sum() - n) / (n * (n - 1))


wrong("each pair once, divided by all ordered ones", "(cosines.sum() - n)", "cosines.triu(1).sum()")

wrong("one length for all", "vectors.norm(dim=1, keepdim=True)", "vectors.norm()")


@right
def nearer_mean(known, senses, new):
    mean_0 = known[senses == 0].mean(dim=0)
    mean_1 = known[senses == 1].mean(dim=0)
    to_0 = (new - mean_0).pow(2).sum(dim=1)
    to_1 = (new - mean_1).pow(2).sum(dim=1)
    return (to_1 < to_0).long()


wrong(
    "sums instead of means",
    "known[senses == 0].mean(dim=0)",
    "known[senses == 0].sum(dim=0)",
    "known[senses == 1].mean(dim=0)",
    "known[senses == 1].sum(dim=0)",
)


@right
def self_similarity(vectors):
    n = len(vectors)
    unit = F.normalize(vectors, dim=1)
    total = (unit @ unit.T).sum()
    return (total - n) / (n * (n - 1))


wrong(
    "scaled along the wrong axis", "dim=1", "dim=0", "(total - n)", "(total - (unit * unit).sum())"
)


@right
def vectors_at(hidden, positions):
    return torch.stack([sentence[int(p)] for sentence, p in zip(hidden, positions)])


wrong(
    "keeps an axis of length 1, (B, 1, d)",
    "    return torch.stack([sentence[int(p)] for sentence, p in zip(hidden, positions)])",
    "    d = hidden.shape[-1]\n    return hidden.gather(1, positions[:, None, None].expand(-1, 1, d))",
)


@right
def self_similarity(vectors):
    cosines = [F.cosine_similarity(a, b, dim=0) for a, b in combinations(vectors, 2)]
    return torch.stack(cosines).mean()


wrong(
    "the cosines of each occurrence with itself are counted",
    "    cosines = [F.cosine_similarity(a, b, dim=0) for a, b in combinations(vectors, 2)]\n    return torch.stack(cosines).mean()",
    "    unit = F.normalize(vectors, dim=-1)\n    return (unit @ unit.T).mean()",
)
