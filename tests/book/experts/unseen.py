"""Answers by somebody who had not read the checks."""

import math

import torch
import torch.nn.functional as F

from tests.book.unseen import answers_to

right, wrong = answers_to("experts")


@right
def switch_loss(probabilities, chosen):
    N, E = probabilities.shape
    f = torch.bincount(chosen, minlength=E) / N
    p = probabilities.mean(0)
    return E * (f * p).sum()


wrong("no factor E", "E * (f", "(f")
wrong("counts instead of shares", "minlength=E) / N", "minlength=E)")
wrong("shares squared: the probabilities do not enter", "(f * p)", "(f * f)")
wrong(
    "the most likely expert instead of the one that was chosen",
    "torch.bincount(chosen,",
    "torch.bincount(probabilities.argmax(1),",
)


@right("switch_loss")
def switch_loss_in_a_loop(probabilities, chosen):
    E = probabilities.shape[1]
    total = 0.0
    for i in range(E):
        got = (chosen == i).float().mean()
        total = total + got * probabilities[:, i].mean()
    return total * E


wrong(
    "mean probability over the tokens that the expert got",
    "probabilities[:, i].mean()",
    "(probabilities[chosen == i, i].mean() if (chosen == i).any() else 0.0)",
)


@right
def has_room(chosen, most):
    seen = {}
    answer = []
    for expert in [int(e) for e in chosen]:
        answer.append(seen.get(expert, 0) < most)
        seen[expert] = seen.get(expert, 0) + 1
    return torch.tensor(answer, dtype=torch.bool)


wrong("one too few", "seen.get(expert, 0) < most", "seen.get(expert, 0) + 1 < most")
wrong(
    "numbers of the tokens, not true or false",
    "torch.tensor(answer, dtype=torch.bool)",
    "torch.tensor(answer, dtype=torch.bool).nonzero()[:, 0]",
)
wrong(
    "a run of neighbours is counted, which starts anew",
    "        seen[expert] =",
    "        seen = {expert: seen.get(expert, 0)}\n        seen[expert] =",
)


@right("has_room")
def has_room_at_once(chosen, most):
    chosen = torch.as_tensor(chosen)
    same = chosen[:, None] == chosen[None, :]
    before = same.tril(-1).sum(1)
    return before < most


wrong(
    "counts all that chose the expert: an expert with too many turns everybody away",
    "same.tril(-1).sum(1)",
    "same.sum(1)",
    "before < most",
    "before <= most",
)


def sorted_order(chosen, most):
    order = torch.argsort(chosen, stable=True)
    ranked = chosen[order]
    first = torch.searchsorted(ranked, ranked)
    return torch.arange(len(chosen)) - first < most


wrong("answers in the order of the experts, not of the batch", sorted_order)


@right
def read_narrow(query, kept, up_k, up_v):
    small = query @ up_k  # (c)
    scores = kept @ small / math.sqrt(len(query))
    weights = torch.softmax(scores, 0)
    return up_v @ (weights @ kept)


wrong("scaled by d_v", "math.sqrt(len(query))", "math.sqrt(len(up_v))")
wrong("stops at the latent", "up_v @ (weights @ kept)", "weights @ kept")
wrong(
    "the token with the highest score alone",
    "torch.softmax(scores, 0)",
    "torch.nn.functional.one_hot(scores.argmax(), len(scores)).to(kept.dtype)",
)


@right("read_narrow")
def read_narrow_with_keys(query, kept, up_k, up_v):
    keys = kept @ up_k.T
    values = kept @ up_v.T
    scores = (keys * query).sum(-1) / query.shape[0] ** 0.5
    scores = scores - scores.max()
    weights = scores.exp()
    return (weights[:, None] * values).sum(0) / weights.sum()


wrong("the weights are not divided by their sum", " / weights.sum()", "")


@right
def switch_loss(probabilities, chosen):
    N, E = probabilities.shape
    share = torch.bincount(chosen, minlength=E) / N
    mean = probabilities.mean(dim=0)
    return E * (share * mean).sum()


wrong("counts, not shares", "minlength=E) / N", "minlength=E)")


@right
def has_room(chosen, most):
    taken = {}
    result = []
    for e in chosen.tolist():
        result.append(taken.get(e, 0) < most)
        taken[e] = taken.get(e, 0) + 1
    return torch.tensor(result)


wrong("in the order of the experts", "chosen.tolist()", "sorted(chosen.tolist())")


@right
def read_narrow(query, kept, up_k, up_v):
    q = up_k.T @ query
    scores = kept @ q / query.shape[0] ** 0.5
    weights = torch.softmax(scores, dim=0)
    return up_v @ (weights @ kept)


wrong("the scale of the cache's width", "query.shape[0]", "kept.shape[1]")

wrong("the cache is read, not the values", "up_v @ (weights @ kept)", "weights @ kept")


@right
def has_room(chosen, most):
    taken = {}
    room = []
    for expert in chosen.tolist():
        room.append(taken.get(expert, 0) < most)
        taken[expert] = taken.get(expert, 0) + 1
    return torch.tensor(room)


wrong("one queue for all experts", "expert in chosen.tolist():", "expert in [0] * len(chosen):")


@right
def read_narrow(query, kept, up_k, up_v):
    asked = query @ up_k
    scores = kept @ asked / query.shape[0] ** 0.5
    weights = torch.softmax(scores, dim=0)
    return up_v @ (weights @ kept)


wrong("divided by d_k, not its root", "query.shape[0] ** 0.5", "query.shape[0]")


@right
def switch_loss(probabilities, chosen):
    N, E = probabilities.shape
    share = torch.bincount(chosen, minlength=E) / N
    mean = torch.stack([probabilities[:, i].sum() / N for i in range(E)])
    return E * (share * mean).sum()


wrong("probability of the chosen ones only", "[:, i]", "[chosen == i, i]")


@right
def has_room(chosen, most):
    place = (chosen[:, None] == chosen).tril().sum(1)
    return place <= most


wrong("one for each expert", "return place <= most", "return torch.bincount(chosen) <= most")


@right
def read_narrow(query, kept, up_k, up_v):
    scores = kept @ (up_k.T @ query) / len(query) ** 0.5
    e = (scores - scores.max()).exp()
    return up_v @ (e / e.sum() @ kept)


wrong("cut off at 50 against overflow", "(scores - scores.max())", "scores.clamp(max=50)")


@right
def switch_loss(probabilities, chosen):
    N, E = probabilities.shape
    share = F.one_hot(chosen, E).to(probabilities.dtype).mean(dim=0)
    return E * torch.dot(share, probabilities.mean(dim=0))


wrong(
    "ignores `chosen` and takes the most probable expert",
    "    share = F.one_hot(chosen, E).to(probabilities.dtype).mean(dim=0)\n    return E * torch.dot(share, probabilities.mean(dim=0))",
    "    f = torch.bincount(probabilities.argmax(1), minlength=E) / N\n    return E * (f * probabilities.mean(0)).sum()",
)
