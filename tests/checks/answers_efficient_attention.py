"""Answers to the exercises of book/efficient_attention.ipynb."""

import math

import torch
import torch.nn.functional as F

from companion.checks.efficient_attention import grouped_attention, merge, tiled_row
from companion.nn import scaled_dot_product_attention
from tests.checks.answers import right, wrong

# 1. Two halves of a row


@right(merge)
def both_rescaled(m1, l1, b1, m2, l2, b2):
    m = torch.maximum(m1, m2)
    r1, r2 = (m1 - m).exp(), (m2 - m).exp()
    return m, l1 * r1 + l2 * r2, b1 * r1 + b2 * r2


@right(merge)
def by_softmax(m1, l1, b1, m2, l2, b2):
    m = torch.cat([m1, m2], dim=-1)
    top = m.amax(-1, keepdim=True)
    r = (m - top).exp()
    totals = torch.cat([l1, l2], dim=-1)
    return [top, (r * totals).sum(-1, keepdim=True), r[:, :1] * b1 + r[:, 1:] * b2]


@right(merge)
def by_log_sum_exp(m1, l1, b1, m2, l2, b2):
    m = m1.maximum(m2)
    total = (torch.logaddexp(m1 + l1.log(), m2 + l2.log()) - m).exp()
    return m, total, b1 * torch.exp(m1 - m) + b2 * torch.exp(m2 - m)


@wrong(merge, "nothing is rescaled")
def added(m1, l1, b1, m2, l2, b2):
    return m1.maximum(m2), l1 + l2, b1 + b2


@wrong(merge, "only the first part is rescaled")
def as_in_the_loop(m1, l1, b1, m2, l2, b2):
    m = m1.maximum(m2)
    r = (m1 - m).exp()
    return m, l1 * r + l2, b1 * r + b2


@wrong(merge, "turned round")
def growing(m1, l1, b1, m2, l2, b2):
    m = m1.maximum(m2)
    r1, r2 = (m - m1).exp(), (m - m2).exp()
    return m, l1 * r1 + l2 * r2, b1 * r1 + b2 * r2


@wrong(merge, "the blends are not")
def sums_only(m1, l1, b1, m2, l2, b2):
    m, total, _ = both_rescaled(m1, l1, b1, m2, l2, b2)
    return m, total, b1 + b2


@wrong(merge, "the sums are not")
def blends_only(m1, l1, b1, m2, l2, b2):
    m, _, blend = both_rescaled(m1, l1, b1, m2, l2, b2)
    return m, l1 + l2, blend


@wrong(merge, "divided by the sum already")
def finished(*parts):
    m, total, blend = both_rescaled(*parts)
    return m, total, blend / total


@wrong(merge, "exp of a maximum itself")
def absolute(m1, l1, b1, m2, l2, b2):
    m = m1.maximum(m2)
    e1, e2, e = m1.exp(), m2.exp(), m.exp()
    return m, (l1 * e1 + l2 * e2) / e, (b1 * e1 + b2 * e2) / e


# 2. One query, block by block


def blocks(key, value, block):
    return zip(key.split(block), value.split(block), strict=True)


@right(tiled_row)
def the_loop(query, key, value, block):
    largest, total, blend = -math.inf, 0.0, 0.0
    for k, v in blocks(key, value, block):
        scores = k @ query / len(query) ** 0.5
        previous, largest = largest, max(largest, scores.max().item())
        weights = (scores - largest).exp()
        rescale = math.exp(previous - largest)
        total = total * rescale + weights.sum()
        blend = blend * rescale + weights @ v
    return blend / total


@right(tiled_row)
def a_running_average(query, key, value, block):
    """Keeps the finished output and the log of the denominator instead of blend and sum."""
    output, log_total = torch.zeros_like(value[0]), torch.tensor(-torch.inf, dtype=key.dtype)
    for start in range(0, len(key), block):
        scores = key[start : start + block] @ query / query.shape[0] ** 0.5
        here = scores.logsumexp(0)
        both = torch.logaddexp(log_total, here)
        found = scores.softmax(0) @ value[start : start + block]
        output = output * (log_total - both).exp() + found * (here - both).exp()
        log_total = both
    return output


@right(tiled_row)
def two_passes(query, key, value, block):
    scale = len(query) ** -0.5
    largest = max((k @ query * scale).max() for k in key.split(block))
    total = sum((k @ query * scale - largest).exp().sum() for k in key.split(block))
    return (
        sum(((k @ query * scale - largest).exp() @ v) for k, v in blocks(key, value, block)) / total
    )


@wrong(tiled_row, "the scores of all keys are in memory at once")
def whole_row(query, key, value, block):
    return (key @ query / len(query) ** 0.5).softmax(0) @ value


@wrong(tiled_row, "not scaled")
def without_the_root(query, key, value, block):
    return the_loop(query * len(query) ** 0.5, key, value, block)


def loop(query, key, value, block, step, start=-math.inf):
    """The loop with another step: step(held, scores, v) -> held; held is largest, total, blend."""
    held = torch.tensor(start), torch.tensor(0.0), torch.zeros_like(value[0])
    for k, v in blocks(key, value, block):
        held = step(*held, k @ query / len(query) ** 0.5, v)
    return held


@wrong(tiled_row, "each block subtracts its own maximum")
def own_maximum(query, key, value, block):
    def step(largest, total, blend, scores, v):
        weights = (scores - scores.max()).exp()
        return largest, total + weights.sum(), blend + weights @ v

    _, total, blend = loop(query, key, value, block, step)
    return blend / total


@wrong(tiled_row, "the sum is rescaled when the maximum rises, the blend is not")
def blend_forgotten(query, key, value, block):
    def step(largest, total, blend, scores, v):
        new = torch.maximum(largest, scores.max())
        weights = (scores - new).exp()
        return new, total * (largest - new).exp() + weights.sum(), blend + weights @ v

    _, total, blend = loop(query, key, value, block, step)
    return blend / total


@wrong(tiled_row, "the blend is rescaled when the maximum rises, the sum is not")
def sum_forgotten(query, key, value, block):
    def step(largest, total, blend, scores, v):
        new = torch.maximum(largest, scores.max())
        weights = (scores - new).exp()
        return new, total + weights.sum(), blend * (largest - new).exp() + weights @ v

    _, total, blend = loop(query, key, value, block, step)
    return blend / total


@wrong(tiled_row, "each block is divided by its own sum")
def mean_of_blocks(query, key, value, block):
    scale = len(query) ** -0.5
    found = [(k @ query * scale).softmax(0) @ v for k, v in blocks(key, value, block)]
    return sum(found) / len(found)


@wrong(tiled_row, "the results are added")
def sum_of_blocks(query, key, value, block):
    output = 0.0
    for k, v in blocks(key, value, block):
        output = output + (k @ query / len(query) ** 0.5).softmax(0) @ v
    return output


@wrong(tiled_row, "the last, shorter block is left out")
def whole_blocks_only(query, key, value, block):
    count = len(key) // block * block
    if count == 0:
        return value[0] * torch.nan
    return the_loop(query, key[:count], value[:count], block)


@wrong(tiled_row, "not divided by the sum")
def undivided(query, key, value, block):
    def step(largest, total, blend, scores, v):
        new = torch.maximum(largest, scores.max())
        weights = (scores - new).exp()
        return new, total, blend * (largest - new).exp() + weights @ v

    return loop(query, key, value, block, step)[2]


@wrong(tiled_row, "exp overflows where scores are large")
def no_maximum(query, key, value, block):
    total, blend = 0.0, 0.0
    for k, v in blocks(key, value, block):
        weights = (k @ query / len(query) ** 0.5).exp()
        total, blend = total + weights.sum(), blend + weights @ v
    return blend / total


@wrong(tiled_row, "the maximum starts at 0")
def from_zero(query, key, value, block):
    def step(largest, total, blend, scores, v):
        new = torch.maximum(largest, scores.max())
        weights, rescale = (scores - new).exp(), (largest - new).exp()
        return new, total * rescale + weights.sum(), blend * rescale + weights @ v

    _, total, blend = loop(query, key, value, block, step, start=0.0)
    return blend / total


@wrong(tiled_row, "it raised IndexError")
def at_least_two_keys(query, key, value, block):
    """Begins with the first and the second key; where a text begins there is one."""
    first, second = ((key[i] @ query / len(query) ** 0.5) for i in (0, 1))
    largest = torch.maximum(first, second)
    weights = (first - largest).exp(), (second - largest).exp()
    total, blend = sum(weights), weights[0] * value[0] + weights[1] * value[1]
    for k, v in blocks(key[2:], value[2:], block):
        scores = k @ query / len(query) ** 0.5
        new = torch.maximum(largest, scores.max())
        here, rescale = (scores - new).exp(), (largest - new).exp()
        largest, total, blend = new, total * rescale + here.sum(), blend * rescale + here @ v
    return blend / total


# 3. Shared keys


@right(grouped_attention)
def repeated(query, key, value):
    group = query.shape[1] // key.shape[1]
    key, value = key.repeat_interleave(group, 1), value.repeat_interleave(group, 1)
    return scaled_dot_product_attention(query, key, value)[0]


@right(grouped_attention)
def in_five_dimensions(query, key, value):
    q = query.unflatten(1, (key.shape[1], -1))  # (B, G, H / G, T, d_k)
    scores = q @ key[:, :, None].transpose(-2, -1) / query.shape[-1] ** 0.5
    return (scores.softmax(-1) @ value[:, :, None]).flatten(1, 2)


@right(grouped_attention)
def by_torch(query, key, value):
    return F.scaled_dot_product_attention(query, key, value, enable_gqa=True)


def sharing(query, key, value, share):
    key, value = share(key), share(value)
    return scaled_dot_product_attention(query, key, value)[0]


@wrong(grouped_attention, "key head h mod G")
def in_turn(query, key, value):
    return sharing(query, key, value, lambda x: x.repeat(1, query.shape[1] // x.shape[1], 1, 1))


@wrong(grouped_attention, "the first key head")
def first_only(query, key, value):
    return sharing(query, key, value, lambda x: x[:, [0] * query.shape[1]])


@wrong(grouped_attention, "the key heads are averaged")
def averaged(query, key, value):
    return sharing(
        query, key, value, lambda x: x.mean(1, keepdim=True).expand(-1, query.shape[1], -1, -1)
    )


@wrong(grouped_attention, "the query heads of a group are averaged")
def averaged_queries(query, key, value):
    query = query.unflatten(1, (key.shape[1], -1)).mean(2)
    return scaled_dot_product_attention(query, key, value)[0]


@wrong(grouped_attention, "not scaled")
def without_the_root_of_d_k(query, key, value):
    return repeated(query * query.shape[-1] ** 0.5, key, value)


@wrong(grouped_attention, "over the queries")
def softmax_over_queries(query, key, value):
    group = query.shape[1] // key.shape[1]
    key, value = key.repeat_interleave(group, 1), value.repeat_interleave(group, 1)
    scores = torch.einsum("bhtd,bhsd->bhts", query, key) / query.shape[-1] ** 0.5
    return scores.softmax(dim=2) @ value


@wrong(grouped_attention, "it raised RuntimeError")
def not_repeated(query, key, value):
    return (query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5).softmax(-1) @ value
