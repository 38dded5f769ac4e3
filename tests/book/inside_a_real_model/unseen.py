"""Answers by somebody who had not read the checks; to the first two they stood before the checks."""

import torch

from tests.book.unseen import answers_to

right, wrong = answers_to("inside_a_real_model")


@right
def times_its_share(maps, start):
    H, T, _ = maps.shape
    out = []
    for h in range(H):
        weights = [float(maps[h, t, 0]) for t in range(start, T)]
        even = [1 / (t + 1) for t in range(start, T)]
        out.append((sum(weights) / len(weights)) / (sum(even) / len(even)))
    return torch.tensor(out)


wrong("one too few in an even row", "1 / (t + 1)", "1 / max(t, 1)")
wrong("an even row over all T", "1 / (t + 1)", "1 / T")
wrong("all rows", "range(start, T)", "range(T)")
wrong(
    "the mean of the ratios",
    "out.append((sum(weights) / len(weights)) / (sum(even) / len(even)))",
    "out.append(sum(w / e for w, e in zip(weights, even)) / len(even))",
)
wrong("not divided", " / (sum(even) / len(even))", "")
wrong("first row for first column", "maps[h, t, 0]", "maps[h, 0, t]")
wrong("a difference", "(sum(weights) / len(weights)) /", "(sum(weights) / len(weights)) -")


@right
def times_its_share(maps, start):
    rows = maps[:, start:]
    seen = torch.ones_like(maps[0]).tril()
    even = seen / seen.sum(-1, keepdim=True)
    return rows[..., 0].mean(-1) / even[start:, 0].mean()


wrong("one number for all heads", "rows[..., 0].mean(-1)", "rows[..., 0].mean()")
wrong("not causal", ".tril()", "")
wrong("only the last row", "rows[..., 0].mean(-1)", "rows[:, -1, 0]")


@right
def likest(E, known, k):
    direction = E[known].mean(0)
    scores = (E @ direction) / E.norm(dim=1)
    ranking = scores.argsort(descending=True).tolist()
    skip = set(known.tolist())
    return torch.tensor([i for i in ranking if i not in skip][:k])


wrong("the known ones too", "if i not in skip", "")
wrong("inner products", " / E.norm(dim=1)", "")
wrong("the least alike", "descending=True", "descending=False")
wrong("divided by the square", "E.norm(dim=1)", "E.norm(dim=1) ** 2")
wrong("only the first known", "E[known].mean(0)", "E[known[0]]")
wrong("the known are skipped after the cut", "if i not in skip][:k]", "][:k]")


@right
def likest(E, known, k):
    unit = torch.nn.functional.normalize(E, dim=-1)
    mean = torch.nn.functional.normalize(E[known].mean(0), dim=0)
    cosine = unit @ mean
    cosine[known] = -2
    return cosine.topk(k).indices


wrong("distance", "unit @ mean", "-torch.cdist(E, E[known].mean(0)[None])[:, 0]")
wrong("mean of unit vectors", "E[known].mean(0), dim=0)", "unit[known].mean(0), dim=0)")
wrong("values", ".indices", ".values")
wrong("known set to zero", "cosine[known] = -2", "cosine[known] = 0")


@right
def settled(streams, norm, head, answers):
    L, N = streams.shape[:2]
    out = []
    for n in range(N):
        first = L
        for l in reversed(range(L)):
            if int(head(norm(streams[l, n])).argmax()) != int(answers[n]):
                break
            first = l
        out.append(first)
    return torch.tensor(out)


wrong("counts from 1", "out.append(first)", "out.append(first + 1)")
wrong("last wrong block", "out.append(first)", "out.append(first - 1)")
wrong(
    "argmax over questions",
    lambda streams, norm, head, answers: (
        (head(norm(streams)).argmax(-1) == answers).int().argmax(0)
    ),
)


@right
def settled(streams, norm, head, answers):
    blocks, N = streams.shape[:2]
    number = torch.full((N,), blocks)
    going_on = torch.ones(N, dtype=torch.bool)
    for block in reversed(range(blocks)):
        named = head(norm(streams[block])).argmax(-1) == answers
        going_on = going_on & named
        number[going_on] = block
    return number


wrong("the first block that names it", "going_on = going_on & named", "going_on = named")


wrong("wrong at the end: -1", "torch.full((N,), blocks)", "torch.full((N,), -1)")


@right
def settled(streams, norm, head, answers):
    blocks = len(streams)
    right = head(norm(streams)).argmax(dim=-1) == answers
    result = torch.full_like(answers, blocks)
    still = torch.ones_like(answers, dtype=torch.bool)
    for block in reversed(range(blocks)):
        still = still & right[block]
        result[still] = block
    return result


wrong(
    "the first block that is right, whatever comes later",
    "still = still & right[block]",
    "still = right[block]",
)
wrong("the number of all wrong blocks", "    return result\n", "    return (~right).sum(0)\n")
