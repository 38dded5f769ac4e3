"""Answers by somebody who had not read the checks."""

import torch

from tests.book.unseen import answers_to

right, wrong = answers_to("many_machines")


@right
def held(schedule, stage, p, m):
    if schedule == "GPipe":
        return m
    return min(p - stage, m)


wrong(
    "a stage too few: the stages behind it are counted, and not itself",
    "p - stage",
    "p - stage - 1",
)
wrong("every stage holds p", "p - stage", "p")
wrong("GPipe keeps at most p", "return m\n", "return min(m, p)\n")


@right("held")
def held_by_simulation(schedule, stage, p, m):
    warm_up = m if schedule == "GPipe" else min(p - stage - 1, m)
    jobs = ["F"] * warm_up
    for _ in range(m - warm_up):
        jobs += ["F", "B"]
    jobs += ["B"] * warm_up
    now = most = 0
    for job in jobs:
        now += 1 if job == "F" else -1
        most = max(most, now)
    return most


wrong("what is held at the end", "return most", "return now")


@right
def merge(out1, lse1, out2, lse2):
    lse = torch.logaddexp(lse1, lse2)
    safe = torch.where(lse == -torch.inf, torch.zeros_like(lse), lse)
    return out1 * torch.exp(lse1 - safe) + out2 * torch.exp(lse2 - safe), lse


wrong(
    "the weights are swapped",
    "lse1 - safe",
    "lse2 - safe",
    "out2 * torch.exp(lse2",
    "out2 * torch.exp(lse1",
)
wrong("logarithm to base 2", ", lse\n", ", lse / 0.6931471805599453\n")


@right("merge")
def merge_with_a_maximum(out1, lse1, out2, lse2):
    top = torch.maximum(lse1, lse2)
    top = top.masked_fill(top.isinf(), 0.0)
    sum1 = (lse1 - top).exp()
    sum2 = (lse2 - top).exp()
    total = sum1 + sum2
    out = (sum1 * out1 + sum2 * out2) / total.clamp(min=1e-30)
    return out, total.log() + top


wrong("the maximum is not added back to the logarithm", "total.log() + top", "total.log()")
wrong("returns the larger logarithm", "total.log() + top", "torch.maximum(lse1, lse2)")


@right("scatter")
def reduce_scatter(net, vectors):
    N = net.machines
    parts = [[part.clone() for part in vector.tensor_split(N)] for vector in vectors]
    for step in range(N - 1):
        got = net.shift([parts[r][(r - 1 - step) % N] for r in range(N)])
        for r in range(N):
            parts[r][(r - 2 - step) % N] += got[r]
    return [parts[r][r] for r in range(N)]


wrong(
    "the chapter's indices: machine r ends with part r + 1, and that is returned",
    "r - 1 - step",
    "r - step",
    "r - 2 - step",
    "r - 1 - step",
    "parts[r][r]",
    "parts[r][(r + 1) % N]",
)
wrong("N rounds", "range(N - 1)", "range(N)")
wrong("the mean", "parts[r][r] for", "parts[r][r] / N for")
wrong("every round sends the same part", "r - 1 - step", "r - 1", "r - 2 - step", "r - 2")
wrong("returns all parts, joined", "parts[r][r] for", "torch.cat(parts[r]) for")


@right("scatter")
def reduce_scatter_of_travellers(net, vectors):
    n = len(vectors)

    def own(r, k):
        return torch.tensor_split(vectors[r], n)[k % n]

    travelling = [own(r, r - 1) for r in range(n)]
    for step in range(1, n):
        travelling = net.shift(travelling)
        travelling = [t + own(r, r - 1 - step) for r, t in enumerate(travelling)]
    return travelling


@right
def held(schedule, stage, p, m):
    if schedule == "GPipe":
        return m
    return min(m, p - stage)


wrong("GPipe no more than stages", "return m\n", "return min(m, p)\n")


@right
def merge(out1, lse1, out2, lse2):
    lse = torch.logaddexp(lse1, lse2)
    return out1 * (lse1 - lse).exp() + out2 * (lse2 - lse).exp(), lse


wrong(
    "logarithms as weights",
    "out1 * (lse1 - lse).exp() + out2 * (lse2 - lse).exp()",
    "(out1 * lse1 + out2 * lse2) / (lse1 + lse2)",
)


@right("scatter")
def reduce_scatter(net, vectors):
    N = net.machines
    parts = [list(v.tensor_split(N)) for v in vectors]
    sending = [parts[r][(r - 1) % N] for r in range(N)]
    for step in range(1, N):
        arrived = net.shift(sending)
        sending = [arrived[r] + parts[r][(r - 1 - step) % N] for r in range(N)]
    return sending


wrong("ends with part r + 1", "(r - 1) % N", "r", "(r - 1 - step)", "(r - step)")

wrong("chunks", "v.tensor_split(N)", "v.chunk(N)")


@right
def merge(out1, lse1, out2, lse2):
    lse = torch.logaddexp(lse1, lse2)
    out = torch.exp(lse1 - lse) * out1 + torch.exp(lse2 - lse) * out2
    return out, lse


wrong(
    "the sums themselves",
    "torch.logaddexp(lse1, lse2)",
    "torch.log(torch.exp(lse1) + torch.exp(lse2))",
)


@right("scatter")
def reduce_scatter(net, vectors):
    N = len(vectors)
    parts = [vector.tensor_split(N) for vector in vectors]
    travelling = [parts[r][(r - 1) % N] for r in range(N)]
    for done in range(1, N):
        arrived = net.shift(travelling)
        travelling = [arrived[r] + parts[r][(r - 1 - done) % N] for r in range(N)]
    return travelling


wrong(
    "the mean instead of the sum", "return travelling", "return [part / N for part in travelling]"
)


@right
def held(schedule, stage, p, m):
    return m if schedule == "GPipe" else min(p - stage, m)


wrong("counts micro-batches that are left", "min(p - stage, m)", "max(1, m - stage)")


@right
def merge(out1, lse1, out2, lse2):
    lse = torch.logaddexp(lse1, lse2)
    out = out1 * (lse1 - lse).exp() + out2 * (lse2 - lse).exp()
    return out, lse


wrong("logarithm to the base 2", "logaddexp", "logaddexp2")


@right("scatter")
def reduce_scatter(net, vectors):
    N = net.machines
    held = [[part.clone() for part in vector.tensor_split(N)] for vector in vectors]
    for step in range(1, N):
        arrived = net.shift([held[r][(r - step) % N] for r in range(N)])
        for r in range(N):
            held[r][(r - step - 1) % N] += arrived[r]
    return [held[r][r] for r in range(N)]


wrong(
    "a part that is not finished",
    "r - step - 1",
    "r - step",
    "[(r - step) % N] for",
    "[(r - step + 1) % N] for",
)


@right
def held(schedule, stage, p, m):
    if schedule == "GPipe":
        return m
    later_stages = p - 1 - stage
    return min(later_stages + 1, m)


wrong(
    "by 1F1B one too few: the last stage would hold nothing",
    '    if schedule == "GPipe":\n        return m\n    later_stages = p - 1 - stage\n    return min(later_stages + 1, m)',
    '    return m if schedule == "GPipe" else min(p - stage - 1, m)',
)
