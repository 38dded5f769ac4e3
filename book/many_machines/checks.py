"""Checks for the exercises of book/many_machines.ipynb."""

import torch

from book.checking.exercise import climb, exercise
from book.checking.rungs import edited, ladder
from book.many_machines.network import Network, all_reduce, reduce_scatter
from book.many_machines.ring_attention import merge as _merge


@exercise
def held(answer) -> str:
    """Check `held(schedule, stage, p, m)` -> the most micro-batches that a stage holds."""
    climb(HELD, answer)
    return "both schedules, the first stage, the last, and one in the middle, few micro-batches"


def _held(schedule, stage, p, m):
    ahead = p - stage
    return m if schedule == "GPipe" else min(ahead, m)


@ladder(_held)
def HELD(held):
    """GPipe does all forward passes first, and holds what all of them have computed"""
    yield held("GPipe", 0, 4, 10)

    """by GPipe every stage holds as much, the last one too"""
    yield held("GPipe", 3, 4, 10)

    """by 1F1B the last stage goes backward at once: it holds one"""
    yield held("1F1B", 3, 4, 10)

    """by 1F1B the first stage of 4 goes forward until the first gradient is back"""
    yield held("1F1B", 0, 4, 10)

    """a stage in the middle holds one for itself and one for each stage behind it"""
    yield held("1F1B", 1, 6, 10)

    """nobody holds more micro-batches than there are"""
    yield held("1F1B", 0, 8, 3)


HELD.mistakes |= {
    "by 1F1B a stage does not hold all micro-batches: it lets go of one before it takes the next": (
        lambda schedule, stage, p, m: m
    ),
    "by 1F1B a later stage holds fewer: it waits less long for its gradient": edited(
        _held, "p - stage", "p"
    ),
    "the micro-batch that a stage works on is held, too": edited(
        _held, "p - stage", "p - stage - 1"
    ),
    "the stages are counted from the first, which is number 0": edited(
        _held, "p - stage", "p - stage + 1"
    ),
    "the first stage holds most, not the last": edited(_held, "p - stage", "stage + 1"),
    "there may be fewer micro-batches than stages": edited(_held, "min(ahead, m)", "ahead"),
    "it is m less the stage; by 1F1B a stage holds one for itself and one for each behind it, so "
    "p less the stage": edited(_held, "min(ahead, m)", "max(1, m - stage)"),
    "two are counted for each stage behind; one is in flight for each": edited(
        _held, "p - stage", "2 * (p - stage) - 1"
    ),
}


@exercise
def merge(answer) -> str:
    """Check `merge(out1, lse1, out2, lse2)` -> out (..., d) and lse (..., 1) over all keys."""
    climb(MERGE, answer)
    return "equal and unequal sums, several queries, a half that sees nothing, large scores"


@ladder(_merge)
def MERGE(merge):
    """two halves with equal sums weigh the same"""
    lse = torch.tensor([[2.0]])
    yield merge(torch.tensor([[1.0, 4.0]]), lse, torch.tensor([[3.0, 0.0]]), lse)

    """a sum three times as large weighs three times as much"""
    out1, lse1 = torch.tensor([[1.0, 4.0]]), torch.tensor([[0.0]])
    out2, lse2 = torch.tensor([[5.0, 0.0]]), torch.tensor([[3.0]]).log()
    yield merge(out1, lse1, out2, lse2)

    """each head and each query has sums of its own"""
    out1, out2 = torch.randn(2, 3, 4), torch.randn(2, 3, 4)
    lse1, lse2 = torch.randn(2, 3, 1), torch.randn(2, 3, 1)
    yield merge(out1, lse1, out2, lse2)

    """a half that sees no key has the sum 0, whose logarithm is minus infinity"""
    out1, lse1 = torch.tensor([[1.0, 4.0]]), torch.tensor([[2.0]])
    yield merge(out1, lse1, torch.zeros(1, 2), torch.full((1, 1), -torch.inf))

    """sums whose logarithms are near 1,000 are too large for float32 themselves"""
    out1, lse1 = torch.tensor([[1.0, 4.0]]), torch.tensor([[1000.0]])
    out2, lse2 = torch.tensor([[5.0, 0.0]]), torch.tensor([[1001.0]])
    yield merge(out1, lse1, out2, lse2)

    """a small sum beside a large one, in the same query and in the next"""
    out1, lse1 = torch.randn(3, 2), torch.tensor([[0.0], [1000.0], [0.0]])
    out2, lse2 = torch.randn(3, 2), torch.tensor([[1.0], [1001.0], [1000.0]])
    yield merge(out1, lse1, out2, lse2)


MERGE.mistakes |= {
    "the outputs are averaged; each half weighs as much as its softmax's sum": (
        lambda out1, lse1, out2, lse2: ((out1 + out2) / 2, torch.logaddexp(lse1, lse2))
    ),
    "the halves weigh as the logarithms of the sums; they weigh as the sums": (
        lambda out1, lse1, out2, lse2: (
            (lse1 * out1 + lse2 * out2) / (lse1 + lse2),
            torch.logaddexp(lse1, lse2),
        )
    ),
    "the outputs are added as they are; the new sum is larger, so each counts for less": edited(
        _merge, "(lse1 - lse).exp() * out1 + (lse2 - lse).exp() * out2", "out1 + out2"
    ),
    "the logarithms are added; the sums should be": edited(
        _merge, "torch.logaddexp(lse1, lse2)", "lse1 + lse2"
    ),
    "the outputs are right, and the logarithms are added; the sums should be": (
        lambda out1, lse1, out2, lse2: (_merge(out1, lse1, out2, lse2)[0], lse1 + lse2)
    ),
    "the second result is the sum of both; its logarithm is asked": (
        lambda out1, lse1, out2, lse2: (_merge(out1, lse1, out2, lse2)[0], lse1.exp() + lse2.exp())
    ),
    "the larger logarithm is not that of the sum of both": edited(
        _merge, "torch.logaddexp(lse1, lse2)", "lse1.maximum(lse2)"
    ),
    "exp of a large logarithm is infinite; subtract the new one first": (
        lambda out1, lse1, out2, lse2: (
            (lse1.exp() * out1 + lse2.exp() * out2) / (lse1.exp() + lse2.exp()),
            (lse1.exp() + lse2.exp()).log(),
        )
    ),
    "the weighted outputs are not divided by the new sum": (
        lambda out1, lse1, out2, lse2: (
            lse1.exp() * out1 + lse2.exp() * out2,
            torch.logaddexp(lse1, lse2),
        )
    ),
    "the outputs are right, and the larger logarithm is returned; it is not that of both sums": (
        lambda out1, lse1, out2, lse2: (_merge(out1, lse1, out2, lse2)[0], lse1.maximum(lse2))
    ),
    "the sums are measured by the larger one, and the outputs not divided by both together": (
        lambda out1, lse1, out2, lse2: (
            (lse1 - lse1.maximum(lse2)).exp() * out1 + (lse2 - lse1.maximum(lse2)).exp() * out2,
            torch.logaddexp(lse1, lse2),
        )
    ),
    "the new logarithm has the base 2 (logaddexp2); it is the natural one": edited(
        _merge, "torch.logaddexp(", "torch.logaddexp2("
    ),
    "the outputs are right, and the larger logarithm is missing from the new one": (
        lambda out1, lse1, out2, lse2: (
            _merge(out1, lse1, out2, lse2)[0],
            torch.logaddexp(lse1, lse2) - lse1.maximum(lse2),
        )
    ),
    "the second half's weight is taken from 1; it is exp(lse2 - lse) itself": edited(
        _merge, "(lse2 - lse).exp()", "(1 - (lse2 - lse).exp())"
    ),
}


@exercise
def scatter(answer) -> str:
    """Check `reduce_scatter(net, vectors)` -> part r of the sum for machine r, around the ring."""
    climb(SCATTER, answer)
    return "two machines to five, rounds and bytes, parts of different lengths"


@ladder(reduce_scatter)
def SCATTER(reduce_scatter):
    """two machines: machine 0 gets the sum of the first numbers, machine 1 that of the second"""
    net = Network(2)
    vectors = [torch.tensor([1.0, 10.0]), torch.tensor([2.0, 20.0])]
    yield tuple(reduce_scatter(net, vectors))

    """three machines: a part passes every machine, and each of them adds its own to it"""
    net = Network(3)
    vectors = [torch.tensor([1.0, 10.0, 100.0]) * k for k in (1, 2, 4)]
    yield tuple(reduce_scatter(net, vectors))

    """N machines need N - 1 rounds"""
    net = Network(4)
    vectors = [torch.randn(8) for _ in range(4)]
    reduce_scatter(net, vectors)
    yield net.rounds

    """in each round a machine sends one part, and nothing else"""
    net = Network(4)
    vectors = [torch.randn(8) for _ in range(4)]
    reduce_scatter(net, vectors)
    yield net.sent

    """a length that N does not divide: the parts are those of `tensor_split`"""
    net = Network(5)
    vectors = [torch.randn(12) for _ in range(5)]
    yield tuple(reduce_scatter(net, vectors))


def _one_too_far(net, vectors):
    N = net.machines
    held = [[part.clone() for part in vector.tensor_split(N)] for vector in vectors]
    for step in range(N - 1):
        arrived = net.shift([held[r][(r - step) % N] for r in range(N)])
        for r in range(N):
            held[r][(r - step - 1) % N] += arrived[r]
    return [held[r][(r + 1) % N] for r in range(N)]


def _all_at_once(net, vectors):
    N = net.machines
    parts = [vector.tensor_split(N) for vector in vectors]
    pairs = [(s, t) for s in range(N) for t in range(N) if s != t]
    got = net.round({(s, t): parts[s][t] for s, t in pairs})
    return [parts[t][t] + sum(got[s, t] for s in range(N) if s != t) for t in range(N)]


def _whole_vectors(net, vectors):
    N, held = net.machines, [vector.clone() for vector in vectors]
    moving = held
    for _ in range(N - 1):
        moving = net.shift(moving)
        held = [own + new for own, new in zip(held, moving, strict=True)]
    return [held[r].tensor_split(N)[r] for r in range(N)]


SCATTER.mistakes |= {
    "machine r has part r + 1 of the sum; begin with the part before, so that it ends with r": (
        _one_too_far
    ),
    "what arrives replaces the machine's own part; it is added to it": edited(
        reduce_scatter, "+= arrived[r]", "= arrived[r]"
    ),
    "everything went in one round; around a ring a machine sends to the next one only": (
        _all_at_once
    ),
    "whole vectors went around; a machine sends one part in each round": _whole_vectors,
    "every machine has the whole sum: this is the all-reduce": all_reduce,
    "one round is missing": edited(reduce_scatter, "range(1, N)", "range(1, N - 1)"),
    "machine r returns part r, but has finished part r + 1; begin with the part before": edited(
        _one_too_far, "held[r][(r + 1) % N] for", "held[r][r] for"
    ),
    "all parts are taken from machine 0; part r of the sum is on machine r": edited(
        reduce_scatter, "held[r][r]", "held[0][r]"
    ),
    "what arrives is added to another part than the one that was sent; it belongs to the same": (
        edited(
            reduce_scatter,
            "[held[r][(r - step) % N]",
            "[held[r][(r + step) % N]",
            "held[r][(r - step - 1) % N] +=",
            "held[r][(r + step + 1) % N] +=",
        )
    ),
}
