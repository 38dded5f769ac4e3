"""Answers by somebody who had not read the checks."""

import torch

from tests.book.unseen import answers_to

right, wrong = answers_to("what_the_stream_carries")


@right
def pushed(x, ones, twos, times):
    step = sum(twos) / len(twos) - sum(ones) / len(ones)
    return torch.stack([row + times * step for row in x])


wrong(
    "other direction",
    "sum(twos) / len(twos) - sum(ones) / len(ones)",
    "sum(ones) / len(ones) - sum(twos) / len(twos)",
)
wrong("sums", "sum(twos) / len(twos) - sum(ones) / len(ones)", "sum(twos) - sum(ones)")
wrong("scaled to length 1", "    return", "    step = step / step.norm()\n    return")
wrong("first row only", "for row in x]", "for row in x[:1]]")


@right
def sparse_code(x, E, b, D, k):
    code = torch.zeros(len(x), len(E))
    for n, row in enumerate(x):
        values = [(float(E[l] @ row + b[l]), l) for l in range(len(E))]
        for v, l in sorted(values, reverse=True)[:k]:
            code[n, l] = max(v, 0.0)
    return code, code @ D


wrong("negative ones kept", "max(v, 0.0)", "v")
wrong("dictionary not used: encoder transposed", "code @ D", "code @ E")
wrong("code only", "return code, code @ D", "return code")
wrong("bias subtracted", "+ b[l]", "- b[l]")
wrong(
    "k largest of what was cut by relu ... then reconstruction from uncut",
    "return code, code @ D",
    "return code, (x @ E.T + b).relu() @ D",
)


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
def pushed(x, ones, twos, times):
    one = ones.sum(dim=0) / len(ones)
    two = twos.sum(dim=0) / len(twos)
    direction = two - one
    return x + times * direction


wrong(
    "a direction of length 1",
    "direction = two - one",
    "direction = (two - one) / (two - one).norm()",
)


@right
def sparse_code(x, E, b, D, k):
    values = x @ E.T + b
    code = torch.zeros_like(values)
    for i in range(len(values)):
        largest, where = values[i].topk(k)
        code[i, where] = largest.clamp(min=0)
    return code, code @ D


wrong("negative ones are kept", "largest.clamp(min=0)", "largest")


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
def pushed(x, ones, twos, times):
    direction = twos.sum(dim=0) / len(twos) - ones.sum(dim=0) / len(ones)
    return torch.add(x, direction, alpha=times)


wrong(
    "sums, not means",
    "twos.sum(dim=0) / len(twos) - ones.sum(dim=0) / len(ones)",
    "twos.sum(dim=0) - ones.sum(dim=0)",
)


@right
def sparse_code(x, E, b, D, k):
    latents = torch.relu(x @ E.T + b)
    kept = latents.topk(k, dim=-1)
    code = torch.zeros_like(latents).scatter(-1, kept.indices, kept.values)
    return code, code @ D


wrong(
    "not sparse: all positive latents",
    "    code = torch.zeros_like(latents).scatter(-1, kept.indices, kept.values)",
    "    code = latents",
)


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
