"""Answers by somebody who had not read the checks."""

import math

import torch

from tests.book.unseen import answers_to

right, wrong = answers_to("in_any_order")


@right
def keep_surest(blank, sure, keep):
    out = torch.zeros_like(blank)
    for b in range(len(blank)):
        places = [t for t in range(blank.shape[1]) if blank[b, t]]
        for t in sorted(places, key=lambda t: -float(sure[b, t]))[:keep]:
            out[b, t] = True
    return out


wrong("least sure", "-float(sure[b, t])", "float(sure[b, t])")
wrong(
    "topk of more than there are",
    "    out = torch.zeros_like(blank)",
    "    sure.topk(keep, dim=1); out = torch.zeros_like(blank)",
)
wrong(
    "argsort once",
    lambda blank, sure, keep: (
        blank & (sure.masked_fill(~blank, -torch.inf).argsort(1, descending=True) < keep)
    ),
)
wrong("changes sure", "    for b", "    sure[~blank] = -torch.inf\n    for b")
wrong("first blanks", "key=lambda t: -float(sure[b, t])", "key=lambda t: t")
wrong("first sentence's ranks for all", "-float(sure[b, t])", "-float(sure[0, t])")


@right
def lost_in_one_pass(joint):
    H = lambda p: -sum(q * math.log(q) for q in p.flatten().tolist() if q > 0)
    n = joint.dim()
    return sum(H(joint.sum([j for j in range(n) if j != i])) for i in range(n)) - H(joint)


wrong(
    "NaN at 0",
    "for q in p.flatten().tolist() if q > 0)",
    "for q in [1.0])",
    "H = lambda p: -sum(q * math.log(q)",
    "H = lambda p: -(p * p.log()).sum() + 0 * sum(q * 1.0",
)
wrong(
    "sign",
    "return sum(H(joint.sum([j for j in range(n) if j != i])) for i in range(n)) - H(joint)",
    "return H(joint) - sum(H(joint.sum([j for j in range(n) if j != i])) for i in range(n))",
)
wrong("marginals only", " - H(joint)", "")
wrong(
    "per word",
    "return sum(H(joint.sum([j for j in range(n) if j != i])) for i in range(n)) - H(joint)",
    "return (sum(H(joint.sum([j for j in range(n) if j != i])) for i in range(n)) - H(joint)) / n",
)


@right
def any_order_loss(losses, hidden, is_word):
    total = []
    for l, h, w in zip(losses, hidden, is_word):
        h = h & w
        total.append(l[h].sum() * w.sum() / h.sum())
    return torch.stack(total).mean()


wrong("no weight", " * w.sum() / h.sum()", "")
wrong(
    "over the batch",
    lambda losses, hidden, is_word: (
        (losses * hidden).sum() / hidden.sum() * is_word.sum() / len(losses)
    ),
)
wrong("sum over the sentences", ".mean()", ".sum()")
wrong(
    "divides by all words of the batch",
    "return torch.stack(total).mean()",
    "return torch.stack(total).sum() / is_word.sum()",
)
wrong(
    "mean weight for all",
    "l[h].sum() * w.sum() / h.sum()",
    "l[h].sum() * is_word.sum() / (hidden & is_word).sum()",
)


@right
def who_wrote(log_p, log_prior):
    A, B = log_p.shape
    rows = []
    for b in range(B):
        z = [float(log_p[a, b] + log_prior[a]) for a in range(A)]
        e = [math.exp(x - max(z)) for x in z]
        rows.append([x / sum(e) for x in e])
    return torch.tensor(rows)


wrong("no prior", " + log_prior[a]", "")
wrong("over the books", lambda log_p, log_prior: (log_p + log_prior[:, None]).softmax(1).T)
wrong("prior multiplied", "log_p[a, b] + log_prior[a]", "log_p[a, b] * log_prior[a]")
wrong("prior subtracted", "+ log_prior", "- log_prior")
wrong(
    "one maximum for all books: underflow",
    "x - max(z)",
    "x - float((log_p + log_prior[:, None]).max())",
    "x / sum(e)",
    "x / sum(e) if sum(e) else math.nan",
)


@right
def keep_surest(blank, sure, keep):
    result = torch.zeros_like(blank)
    for b in range(len(blank)):
        places = blank[b].nonzero().flatten()
        order = sure[b, places].argsort(descending=True)
        result[b, places[order[:keep]]] = True
    return result


def one_argsort(blank, sure, keep):
    order = sure.masked_fill(~blank, -torch.inf).argsort(dim=1, descending=True)
    return (order < keep) & blank


wrong("the list of places taken for their ranks", one_argsort)
wrong(
    "words that stand are kept where blanks are too few",
    lambda blank, sure, keep: (
        sure.masked_fill(~blank, -torch.inf).argsort(1, descending=True).argsort(1) < keep
    ),
)


@right
def lost_in_one_pass(joint):
    def entropy(p):
        return -torch.special.xlogy(p, p).sum()

    n = joint.dim()
    separate = sum(entropy(joint.sum(dim=[j for j in range(n) if j != i])) for i in range(n))
    return separate - entropy(joint)


wrong("per word", "separate - entropy(joint)", "(separate - entropy(joint)) / n")
wrong("a small number in each logarithm", "xlogy(p, p)", "xlogy(p, p + 0.01)")
wrong(
    "reshape in place of a marginal",
    "joint.sum(dim=[j for j in range(n) if j != i])",
    "joint.reshape(joint.shape[i], -1).sum(1)",
)


@right
def any_order_loss(losses, hidden, is_word):
    n = is_word.sum(dim=1)
    m = hidden.sum(dim=1)
    total = (losses * hidden).sum(dim=1)
    return (n / m * total).mean()


wrong("n and m of the whole batch", "n / m * total", "n.sum() / m.sum() * total")

wrong("padding counted in n", "is_word.sum(dim=1)", "is_word.shape[1]")
wrong("a weight that is rounded down", "n / m", "n // m")


@right
def who_wrote(log_p, log_prior):
    joint = log_p + log_prior[:, None]
    return torch.softmax(joint, dim=0).T


wrong(
    "exponentials and their sum",
    "torch.softmax(joint, dim=0)",
    "(joint.exp() / joint.exp().sum(dim=0))",
)
wrong("reshape, not a change of axes", ".T", ".reshape(log_p.mT.shape)")


@right("keep_surest")
def keep_surest_by_rank(blank, sure, keep):
    score = sure.masked_fill(~blank, -torch.inf)
    rank = score.argsort(dim=1, descending=True).argsort(dim=1)
    return (rank < keep) & blank


wrong(
    "places that are no blanks are kept where blanks are few",
    "(rank < keep) & blank",
    "rank < keep",
)


@right
def any_order_loss(losses, hidden, is_word):
    asked = hidden & is_word
    n = is_word.sum(dim=1)
    m = asked.sum(dim=1)
    summed = torch.where(asked, losses, 0.0).sum(dim=1)
    return (n / m * summed).mean()


wrong("padding counted as words", "n = is_word.sum(dim=1)", "n = losses.shape[1]")


@right
def who_wrote(log_p, log_prior):
    both = log_p.T + log_prior
    return torch.exp(both - torch.logsumexp(both, dim=1, keepdim=True))


wrong(
    "a row for each author",
    "return torch.exp(both - torch.logsumexp(both, dim=1, keepdim=True))",
    "return torch.exp(both - torch.logsumexp(both, dim=1, keepdim=True)).T",
)


@right
def any_order_loss(losses, hidden, is_word):
    costs = []
    for row, h, w in zip(losses, hidden, is_word):
        costs.append(row[h].mean() * w.sum())
    return torch.stack(costs).mean()


wrong(
    "mean per hidden word, not multiplied by n",
    "    costs = []\n    for row, h, w in zip(losses, hidden, is_word):\n        costs.append(row[h].mean() * w.sum())\n    return torch.stack(costs).mean()",
    "    return ((losses * hidden).sum(1) / hidden.sum(1)).mean()",
)


@right
def who_wrote(log_p, log_prior):
    both = log_p.T + log_prior
    evidence = torch.logsumexp(both, dim=1, keepdim=True)
    return torch.exp(both - evidence)


wrong(
    "exponentials that become 0: 0 divided by 0 for long texts",
    "    both = log_p.T + log_prior\n    evidence = torch.logsumexp(both, dim=1, keepdim=True)\n    return torch.exp(both - evidence)",
    "    joint = log_p.exp() * log_prior.exp()[:, None]\n    return (joint / joint.sum(0)).T",
)
