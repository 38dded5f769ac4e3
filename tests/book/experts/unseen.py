"""Answers by somebody who had not read the checks."""

import math

import torch

from tests.book.unseen import answers_to

right, wrong = answers_to("experts")


@right
def switch_loss(probabilities, chosen):
    N, E = probabilities.shape
    f = torch.bincount(chosen, minlength=E) / N
    p = probabilities.mean(0)
    return E * (f * p).sum()


wrong("no factor E", "E * (f", "(f")
wrong("times the tokens instead of the experts", "E * (f", "N * (f")
wrong(
    "bincount without minlength, cut to the experts that occur",
    "minlength=E) / N",
    "minlength=0) / N",
    "return E * (f * p).sum()",
    "return E * (f * p[:len(f)]).sum()",
    "N, E = probabilities.shape",
    "N, E = len(chosen), int(chosen.max()) + 1",
)
wrong("counts instead of shares", "minlength=E) / N", "minlength=E)")
wrong("the mean over the experts, not the sum", "(f * p).sum()", "(f * p).mean()")
wrong(
    "mean of the probabilities over experts",
    "E * (f * p).sum()",
    "E * (f * probabilities.mean(1).mean()).sum()",
)
wrong("shares squared: the probabilities do not enter", "(f * p)", "(f * f)")
wrong("squared mean probability: the choices do not enter", "(f * p)", "(p * p)")
wrong("sum of probabilities instead of their mean", "probabilities.mean(0)", "probabilities.sum(0)")
wrong(
    "the most likely expert instead of the one that was chosen",
    "torch.bincount(chosen,",
    "torch.bincount(probabilities.argmax(1),",
)
wrong("one number for each expert", "(f * p).sum()", "(f * p)")
wrong("not scaled to be 1 at balance: 1 subtracted", "E * (f * p).sum()", "E * (f * p).sum() - 1")


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
wrong("the last expert is left out", "range(E)", "range(E - 1)")


@right
def has_room(chosen, most):
    seen = {}
    answer = []
    for expert in [int(e) for e in chosen]:
        answer.append(seen.get(expert, 0) < most)
        seen[expert] = seen.get(expert, 0) + 1
    return torch.tensor(answer, dtype=torch.bool)


wrong("one too many", "< most", "<= most")
wrong("one too few", "seen.get(expert, 0) < most", "seen.get(expert, 0) + 1 < most")
wrong("true for those who are turned away", "< most", ">= most")
wrong(
    "the last ones are taken",
    "[int(e) for e in chosen]",
    "[int(e) for e in chosen][::-1]",
    "torch.tensor(answer, ",
    "torch.tensor(answer[::-1], ",
)
wrong(
    "numbers of the tokens, not true or false",
    "torch.tensor(answer, dtype=torch.bool)",
    "torch.tensor(answer, dtype=torch.bool).nonzero()[:, 0]",
)
wrong(
    "the experts taken",
    "torch.tensor(answer, dtype=torch.bool)",
    "chosen[torch.tensor(answer, dtype=torch.bool)]",
)
wrong("one count for all experts", "expert in", "_ in", "expert", "0")
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


wrong("counts itself", "tril(-1)", "tril()")
wrong("counts those after it", "tril(-1)", "triu(1)")
wrong(
    "counts all that chose the expert: an expert with too many turns everybody away",
    "same.tril(-1).sum(1)",
    "same.sum(1)",
    "before < most",
    "before <= most",
)
wrong("sums over the other axis", "sum(1)", "sum(0)")
wrong(
    "the first tokens of the batch, whoever they chose",
    "same.tril(-1).sum(1)",
    "torch.arange(len(chosen))",
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


wrong("not scaled", " / math.sqrt(len(query))", "")
wrong("scaled by c", "math.sqrt(len(query))", "math.sqrt(kept.shape[1])")
wrong("scaled by d_v", "math.sqrt(len(query))", "math.sqrt(len(up_v))")
wrong("divided by d_k, not its root", "math.sqrt(len(query))", "len(query)")
wrong("no softmax", "torch.softmax(scores, 0)", "scores")
wrong("stops at the latent", "up_v @ (weights @ kept)", "weights @ kept")
wrong("the values are the keys' matrix", "up_v @ (weights", "up_k @ (weights")
wrong("exp without the maximum", "torch.softmax(scores, 0)", "scores.exp() / scores.exp().sum()")
wrong(
    "the token with the highest score alone",
    "torch.softmax(scores, 0)",
    "torch.nn.functional.one_hot(scores.argmax(), len(scores)).to(kept.dtype)",
)
wrong("a plain sum of the latents", "torch.softmax(scores, 0)", "torch.ones_like(scores)")
wrong("the root of the number of tokens", "math.sqrt(len(query))", "math.sqrt(len(kept))")


@right("read_narrow")
def read_narrow_with_keys(query, kept, up_k, up_v):
    keys = kept @ up_k.T
    values = kept @ up_v.T
    scores = (keys * query).sum(-1) / query.shape[0] ** 0.5
    scores = scores - scores.max()
    weights = scores.exp()
    return (weights[:, None] * values).sum(0) / weights.sum()


wrong("the weights are not divided by their sum", " / weights.sum()", "")
wrong("one row too many: (1, d_v)", "sum(0) / weights", "sum(0, keepdim=True) / weights")
wrong("the mean over the tokens", ".sum(0) / weights.sum()", ".mean(0) / weights.sum()")
