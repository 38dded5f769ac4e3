"""Answers to the exercises of "Attention in tiles"."""

import torch

from book.attention_in_tiles.checks import (
    backward_row,
    merge,
    window_mask,
)
from tests.book.answers import right, wrong

# Two halves of a row


@right(merge)
def both_rescaled(m1, l1, b1, m2, l2, b2):
    m = torch.maximum(m1, m2)
    r1, r2 = (m1 - m).exp(), (m2 - m).exp()
    return m, l1 * r1 + l2 * r2, b1 * r1 + b2 * r2


@right(merge)
def by_log_sum_exp(m1, l1, b1, m2, l2, b2):
    m = m1.maximum(m2)
    total = (torch.logaddexp(m1 + l1.log(), m2 + l2.log()) - m).exp()
    return m, total, b1 * torch.exp(m1 - m) + b2 * torch.exp(m2 - m)


@wrong(merge, "never of a maximum itself")
def absolute(m1, l1, b1, m2, l2, b2):
    m = m1.maximum(m2)
    e1, e2, e = m1.exp(), m2.exp(), m.exp()
    return m, (l1 * e1 + l2 * e2) / e, (b1 * e1 + b2 * e2) / e


# Backward, block by block


@right(backward_row)
def the_loop(query, key, value, output, log_sum_exp, grad_output, block):
    grad_query = torch.zeros_like(query)
    grad_key, grad_value = torch.zeros_like(key), torch.zeros_like(value)
    average = output @ grad_output
    for start in range(0, len(key), block):
        rows = slice(start, start + block)
        weights = (key[rows] @ query / len(query) ** 0.5 - log_sum_exp).exp()
        grad_scores = weights * (value[rows] @ grad_output - average) / len(query) ** 0.5
        grad_value[rows] = torch.outer(weights, grad_output)
        grad_key[rows] = torch.outer(grad_scores, query)
        grad_query += grad_scores @ key[rows]
    return grad_query, grad_key, grad_value


@right(backward_row)
def in_pieces(q, key, value, o, log_total, up, block):
    """Lists of blocks, joined at the end; the scale goes into the query first."""
    scale, dq, dk, dv = len(q) ** -0.5, 0.0, [], []
    for k, v in zip(key.split(block), value.split(block), strict=True):
        p = torch.exp((k * (q * scale)).sum(-1) - log_total)
        ds = p * ((v - o) @ up)
        dv.append(p[:, None] * up)
        dk.append(ds[:, None] * q * scale)
        dq = dq + (ds[:, None] * k).sum(0) * scale
    return dq, torch.cat(dk), torch.cat(dv)


@wrong(backward_row, "the weights of all keys are in memory at once")
def whole_row(query, key, value, output, log_sum_exp, grad_output, block):
    return the_loop(query, key, value, output, log_sum_exp, grad_output, len(key))


# A sliding window


@right(window_mask)
def by_distance(T, S, window):
    back = torch.arange(S - T, S)[:, None] - torch.arange(S)
    return (back >= 0) & (back < window)


@right(window_mask)
def by_triangles(T, S, window):
    ones = torch.ones(T, S, dtype=torch.bool)
    return ones.tril(S - T).triu(S - T - window + 1)


@right(backward_row)
def places_of_all_keys_split(query, key, value, output, log_sum_exp, grad_output, block):
    """The places are as many as the keys; the weights are not."""
    grad_query, grad_key, grad_value = (torch.zeros_like(x) for x in (query, key, value))
    for at in torch.arange(len(key)).split(block):
        weights = (key[at] @ query / len(query) ** 0.5 - log_sum_exp).exp()
        slopes = weights * (value[at] @ grad_output - output @ grad_output) / len(query) ** 0.5
        grad_query += slopes @ key[at]
        grad_key[at], grad_value[at] = torch.outer(slopes, query), torch.outer(weights, grad_output)
    return grad_query, grad_key, grad_value
