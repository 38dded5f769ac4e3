"""Answers to the exercises of book/making_things_up.ipynb."""

from itertools import groupby

import numpy as np
import torch

from book.making_things_up.checks import best_score, calibration_error, singleton_rate
from tests.book.answers import right, wrong

# Told of once


@right(singleton_rate)
def with_a_set(told):
    return sum(told.count(name) == 1 for name in set(told)) / len(told)


@right(singleton_rate)
def counted_by_torch(told):
    number = {name: i for i, name in enumerate(dict.fromkeys(told))}
    counts = torch.bincount(torch.tensor([number[name] for name in told]))
    return (counts == 1).sum() / len(told)


@wrong(singleton_rate, "of which two are about somebody who is in no other")
def of_what_is_not_sorted(told):
    return sum(len(list(texts)) == 1 for _, texts in groupby(told)) / len(told)


# The best threshold


@right(best_score)
def by_sorting(sure, right, t):
    order = sorted(set(sure), reverse=True)
    scores = [0.0]
    for threshold in order:
        marks = [
            1.0 if hit else -t / (1 - t)
            for c, hit in zip(sure, right, strict=True)
            if c >= threshold
        ]
        scores.append(sum(marks) / len(sure))
    return max(scores)


@right(best_score)
def by_running_sums(sure, right, t):
    sure, right = torch.tensor(sure).double(), torch.tensor(right)
    marks = torch.where(right, 1.0, -t / (1 - t))
    order = sure.argsort(descending=True)
    sums = marks[order].cumsum(0) / len(sure)
    ends = torch.cat([sure[order][1:] < sure[order][:-1], torch.tensor([True])])
    return max(0.0, sums[ends].max().item())


@wrong(best_score, "equally sure: one threshold answers both or neither")
def cut_inside_ties(sure, right, t):
    marks = torch.where(torch.tensor(right), 1.0, -t / (1 - t))
    order = torch.tensor(sure).argsort(descending=True, stable=True)
    return max(0.0, (marks[order].cumsum(0) / len(sure)).max().item())


# Ten bins


@right(calibration_error)
def in_numpy(sure, right):
    sure, hit = np.array(sure), np.array(right, dtype=float)
    which = np.minimum((10 * sure).astype(int), 9)
    return sum(
        (which == k).mean() * abs(sure[which == k].mean() - hit[which == k].mean())
        for k in set(which)
    )


@right(calibration_error)
def in_torch(sure, right):
    sure, hit = torch.tensor(sure).double(), torch.tensor(right).double()
    which = (10 * sure).long().clamp(max=9)
    return torch.zeros(10).double().index_add(0, which, sure - hit).abs().sum() / len(sure)


@wrong(calibration_error, "IndexError")
def without_the_end(sure, right):
    gaps = [0.0] * 10
    for c, hit in zip(sure, right, strict=True):
        gaps[int(10 * c)] += c - hit
    return sum(map(abs, gaps)) / len(sure)
