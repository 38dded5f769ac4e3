"""Answers to the exercises of book/efficient_attention.ipynb."""

from collections import deque

import torch
import torch.nn.functional as F

from book.efficient_attention.checks import (
    backward_row,
    grouped_attention,
    merge,
    window_cache,
    window_mask,
)
from companion.nn import scaled_dot_product_attention
from tests.book.answers import right, wrong

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


@wrong(merge, "never of a maximum itself")
def absolute(m1, l1, b1, m2, l2, b2):
    m = m1.maximum(m2)
    e1, e2, e = m1.exp(), m2.exp(), m.exp()
    return m, (l1 * e1 + l2 * e2) / e, (b1 * e1 + b2 * e2) / e


# 2. Backward, block by block


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


@right(backward_row)
def by_autograd_of_a_block(query, key, value, output, log_sum_exp, grad_output, block):
    """The gradient of each block's share of the output, by autograd; then of log_sum_exp."""
    dq, dk, dv = torch.zeros_like(query), [], []
    for k, v in zip(key.split(block), value.split(block), strict=True):
        q, k, v = (x.detach().requires_grad_() for x in (query, k, v))
        scores = k @ q / len(q) ** 0.5
        weights = (scores - log_sum_exp).exp()
        through = weights @ v @ grad_output
        shared = (scores * weights.detach()).sum() * (output @ grad_output)
        grads = torch.autograd.grad(through - shared, (q, k, v))
        dq = dq + grads[0]
        dk.append(grads[1])
        dv.append(grads[2])
    return dq, torch.cat(dk), torch.cat(dv)


@wrong(backward_row, "the weights of all keys are in memory at once")
def whole_row(query, key, value, output, log_sum_exp, grad_output, block):
    return the_loop(query, key, value, output, log_sum_exp, grad_output, len(key))


def backward(query, key, value, output, log_sum_exp, grad_output, block, *, of_scores, scale=True):
    """The loop with another gradient of the scores: of_scores(weights, grad_weights, average)."""
    root = len(query) ** 0.5
    grads = torch.zeros_like(query), torch.zeros_like(key), torch.zeros_like(value)
    for start in range(0, len(key), block):
        rows = slice(start, start + block)
        weights = (key[rows] @ query / root - log_sum_exp).exp()
        grad_scores = of_scores(weights, value[rows] @ grad_output, output @ grad_output)
        grad_scores = grad_scores / root if scale else grad_scores
        grads[0].add_(grad_scores @ key[rows])
        grads[1][rows] = grad_scores[:, None] * query
        grads[2][rows] = weights[:, None] * grad_output
    return grads


@wrong(backward_row, "lack a factor")
def unscaled_gradients(*given):
    return backward(*given, of_scores=lambda p, dp, mean: p * (dp - mean), scale=False)


# 3. A sliding window


@right(window_mask)
def by_distance(T, S, window):
    back = torch.arange(S - T, S)[:, None] - torch.arange(S)
    return (back >= 0) & (back < window)


@right(window_mask)
def by_triangles(T, S, window):
    ones = torch.ones(T, S, dtype=torch.bool)
    return ones.tril(S - T).triu(S - T - window + 1)


@right(window_mask)
def row_by_row(T, S, window):
    mask = torch.zeros(T, S, dtype=torch.bool)
    for i in range(T):
        stop = i + S - T + 1
        mask[i, max(0, stop - window) : stop] = True
    return mask


@wrong(window_mask, "turned round")
def forbidden(T, S, window):
    return ~by_distance(T, S, window)


# 4. A cache that forgets


@right(window_cache)
class ByConcatenation:
    def __init__(self, window):
        self.window, self.keys, self.values = window, None, None

    def append(self, key, value):
        if self.keys is None:
            self.keys, self.values = key[None], value[None]
        else:
            self.keys = torch.cat([self.keys, key[None]])[-self.window :]
            self.values = torch.cat([self.values, value[None]])[-self.window :]
        return self.keys, self.values


@right(window_cache)
class ByDeque:
    def __init__(self, window):
        self.pairs = deque(maxlen=window)

    def append(self, key, value):
        self.pairs.append((key, value))
        keys, values = zip(*self.pairs, strict=True)
        return torch.stack(keys), torch.stack(values)


@right(window_cache)
class Ring:
    """Writes over the oldest; what comes back is turned, which attention does not notice."""

    def __init__(self, window):
        self.window, self.count, self.keys, self.values = window, 0, None, None

    def append(self, key, value):
        if self.keys is None:
            self.keys = key.new_zeros(self.window, len(key))
            self.values = value.new_zeros(self.window, len(value))
        at, self.count = self.count % self.window, self.count + 1
        self.keys[at], self.values[at] = key, value
        held = min(self.count, self.window)
        return self.keys[:held], self.values[:held]


class Listed:
    """Two lists, to be forgotten from by `forget`."""

    def __init__(self, window):
        self.window, self.keys, self.values = window, [], []

    def append(self, key, value):
        self.keys.append(key)
        self.values.append(value)
        self.forget()
        return torch.stack(self.keys), torch.stack(self.values)

    def forget(self):
        while len(self.keys) > self.window:
            del self.keys[0], self.values[0]


@wrong(window_cache, "nothing is ever forgotten")
class Hoarder(Listed):
    def forget(self):
        pass


@wrong(window_cache, "is the `return` missing?")
class Silent(Listed):
    def append(self, key, value):
        super().append(key, value)


# 5. Shared keys


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


@wrong(grouped_attention, "it raised RuntimeError")
def not_repeated(query, key, value):
    return (query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5).softmax(-1) @ value
