"""A model cut into stages, one after the other, each on a machine: what a stage does, and when."""

import copy
from collections.abc import Sequence
from math import inf
from typing import NamedTuple

import torch
from torch import Tensor

from book.many_machines.network import Network
from companion.models import GPT
from companion.training import next_token_loss

LOSS = next_token_loss(None)


class Job(NamedTuple):
    """What a stage does from `start` to `stop`: "F", forward, "B", backward, or "W".

    Where the backward pass is split, B is the gradient of what came in, for which the stage before
    is waiting, and W that of the weights, for which nobody is.
    """

    stage: int
    kind: str
    batch: int
    start: float
    stop: float


def order(schedule: str, stage: int, p: int, m: int) -> list[tuple[str, int]]:
    """What stage 0 to p - 1 does with m micro-batches, one after the other."""
    ahead = m if schedule == "GPipe" else min(p - 1 - stage, m)
    jobs = [("F", i) for i in range(ahead)]
    for i in range(m - ahead):
        jobs += [("F", ahead + i), ("B", i)]
    return jobs + [("B", i) for i in range(m - ahead, m)]


def timetable(schedule: str, p: int, m: int, ratio: float = 2.0) -> list[Job]:
    """The jobs of p stages, each as soon as its stage is free and its input is there.

    Args:
        schedule: "GPipe", "1F1B", or "split", which is 1F1B with its backward pass in two halves.
        p, m: numbers of stages and of micro-batches.
        ratio: how long backward takes, if forward takes 1.
    """
    split = schedule == "split"
    length = {"F": 1.0, "B": ratio / 2 if split else ratio, "W": ratio / 2}
    todo = [order(schedule, stage, p, m) for stage in range(p)]
    later: list[list[int]] = [[] for _ in range(p)]  # micro-batches whose W is still to do
    free, held, done, jobs = [0.0] * p, [0] * p, {}, []

    def earliest(stage: int) -> float:
        if not todo[stage]:
            return inf
        kind, i = todo[stage][0]
        if split and kind == "F" and held[stage] == p:  # no more than 1F1B holds: first a W
            return inf
        needed = [("F", stage, i), ("B", stage + 1, i)] if kind == "B" else [("F", stage - 1, i)]
        there = [done.get(job, inf) for job in needed if 0 <= job[1] < p]
        return max([free[stage], *there])

    while any(todo) or any(later):  # what can start first; a W where nothing else can
        options = [(earliest(stage), 0, stage) for stage in range(p)]
        options += [(free[stage], 1, stage) for stage in range(p) if later[stage]]
        start, is_w, stage = min(options)
        kind, i = ("W", later[stage].pop(0)) if is_w else todo[stage].pop(0)
        if split and kind == "B":
            later[stage].append(i)
        held[stage] += (kind == "F") - (kind == ("W" if split else "B"))
        free[stage] = done[kind, stage, i] = start + length[kind]
        jobs.append(Job(stage, kind, i, start, free[stage]))
    return jobs


def idle(jobs: Sequence[Job], p: int) -> tuple[float, float]:
    """The idle time of a stage, and the share of all time that it is: the bubble."""
    span = max(job.stop for job in jobs)
    busy = sum(job.stop - job.start for job in jobs) / p
    return span - busy, 1 - busy / span


def held(jobs: Sequence[Job], stage: int) -> int:
    """The most micro-batches whose activations a stage keeps at once."""
    now = most = 0
    last = "W" if any(job.kind == "W" for job in jobs) else "B"
    for job in jobs:  # those of a stage are in their order
        if job.stage == stage:
            now += (job.kind == "F") - (job.kind == last)
            most = max(most, now)
    return most


def run(net: Network, model: GPT, ids: Tensor, jobs: Sequence[Job], m: int) -> dict[str, Tensor]:
    """Do the jobs, F and B, on the machines of a network; the gradients of all weights by name.

    Every stage holds the model, and uses its own blocks only. ids: (rows, tokens).
    """
    p, rows = net.machines, ids.chunk(m)
    stages = [copy.deepcopy(model) for _ in range(p)]
    share = len(model.blocks) // p
    inputs, outputs, arrived = {}, {}, {}
    for stage, kind, i, *_ in sorted(jobs, key=lambda job: job.stop):
        own, key = stages[stage], (stage, i)
        if kind == "F":
            if stage == 0:
                x = own.positions(own.token_embedding(rows[i][:, :-1]))
            else:
                x = inputs[key] = arrived.pop(("F", *key)).requires_grad_()
            for block in own.blocks[stage * share : (stage + 1) * share]:
                x = block(x, is_causal=True)
            if stage < p - 1:
                arrived["F", stage + 1, i] = net.round({(stage, stage + 1): x})[stage, stage + 1]
            else:
                logits = own.head(own.final_norm(x))
                x, _ = LOSS(lambda _, logits=logits: logits, rows[i])
            outputs[key] = x
        else:
            outputs.pop(key).backward(arrived.pop(("B", *key), None))
            if stage > 0:
                back = {(stage, stage - 1): inputs.pop(key).grad}
                arrived["B", stage - 1, i] = net.round(back)[stage, stage - 1]
    found: dict[str, Tensor] = {}
    for own in stages:
        for name, weight in own.named_parameters():
            if weight.grad is not None:
                found[name] = found.get(name, torch.zeros(())) + weight.grad
    return found
