"""Answers to the exercises of book/many_machines.ipynb."""

import torch

from book.many_machines.checks import held, merge, scatter
from book.many_machines.pipeline import held as most_held
from book.many_machines.pipeline import timetable
from tests.book.answers import right, wrong

# What a stage holds


@right(held)
def by_cases(schedule, stage, p, m):
    if schedule == "1F1B" and p - stage < m:
        return p - stage
    return m


@right(held)
def by_the_timetable(schedule, stage, p, m):
    return most_held(timetable(schedule, p, m), stage)


@wrong(held, "for each stage behind it")
def half_of_the_stages(schedule, stage, p, m):
    return m if schedule == "GPipe" else {0: min(m, p), p - 1: 1}.get(stage, p // 2)


# Merge two halves of attention


@right(merge)
def by_the_larger(out1, lse1, out2, lse2):
    top = torch.maximum(lse1, lse2)
    first, second = (lse1 - top).exp(), (lse2 - top).exp()
    return (first * out1 + second * out2) / (first + second), top + (first + second).log()


@right(merge)
def by_a_softmax(out1, lse1, out2, lse2):
    both = torch.stack([lse1, lse2])
    return (both.softmax(0) * torch.stack([out1, out2])).sum(0), both.logsumexp(0)


@wrong(merge, "three times as large")
def the_better_half(out1, lse1, out2, lse2):
    out = torch.where(lse1 > lse2, out1, out2)
    return torch.where(lse1 == lse2, (out1 + out2) / 2, out), torch.logaddexp(lse1, lse2)


@wrong(merge, "each head and each query")
def one_weight_for_all(out1, lse1, out2, lse2):
    share = torch.sigmoid(lse1.mean() - lse2.mean())
    return share * out1 + (1 - share) * out2, torch.logaddexp(lse1, lse2)


# Reduce and scatter


@right(scatter)
def with_rounds(net, vectors):
    N = net.machines
    parts = [list(vector.tensor_split(N)) for vector in vectors]
    moving = [parts[r][(r - 1) % N] for r in range(N)]
    for step in range(1, N):
        got = net.round({(r, (r + 1) % N): moving[r] for r in range(N)})
        moving = [got[(r - 1) % N, r] + parts[r][(r - step - 1) % N] for r in range(N)]
    return moving


@right(scatter)
def the_other_way_around(net, vectors):
    N = net.machines
    parts = [list(vector.tensor_split(N)) for vector in vectors]
    moving = [parts[r][(r + 1) % N] for r in range(N)]
    for step in range(1, N):
        got = net.round({(r, (r - 1) % N): moving[r] for r in range(N)})
        moving = [got[(r + 1) % N, r] + parts[r][(r + step + 1) % N] for r in range(N)]
    return moving


@wrong(scatter, "changes its input vectors")
def in_place(net, vectors):
    N = net.machines
    parts = [vector.tensor_split(N) for vector in vectors]
    for step in range(1, N):
        arrived = net.shift([parts[r][(r - step) % N] for r in range(N)])
        for r in range(N):
            parts[r][(r - step - 1) % N].add_(arrived[r])
    return [parts[r][r] for r in range(N)]


@wrong(scatter, "need N - 1 rounds")
def without_a_message(net, vectors):
    return sum(vectors).tensor_split(net.machines)


@wrong(scatter, "`tensor_split`")
def by_chunks(net, vectors):
    N, size = net.machines, -(-len(vectors[0]) // net.machines)
    parts = [list(vector.clone().split(size)) for vector in vectors]
    parts = [own + [own[0][:0]] * (N - len(own)) for own in parts]
    for step in range(1, N):
        arrived = net.shift([parts[r][(r - step) % N] for r in range(N)])
        for r in range(N):
            own = (r - step - 1) % N
            parts[r][own] = parts[r][own] + arrived[r]
    return [parts[r][r] for r in range(N)]
