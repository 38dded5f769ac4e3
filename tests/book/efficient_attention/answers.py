"""Answers to the exercises of book/efficient_attention.ipynb."""

from collections import deque
from typing import ClassVar

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


@wrong(backward_row, "not those of the forward pass")
def unscaled_scores(query, key, value, output, log_sum_exp, grad_output, block):
    root, average = len(query) ** 0.5, output @ grad_output
    weights = (key @ query - log_sum_exp).exp()
    grad_scores = weights * (value @ grad_output - average) / root
    grads = grad_scores @ key, torch.outer(grad_scores, query)
    return *grads, torch.outer(weights, grad_output)


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


@wrong(backward_row, "nothing is subtracted")
def no_average(*given):
    return backward(*given, of_scores=lambda p, dp, mean: p * dp)


@wrong(backward_row, "the average is taken over one block")
def average_of_a_block(*given):
    return backward(*given, of_scores=lambda p, dp, mean: p * (dp - (p * dp).sum()))


@wrong(backward_row, "lack the weights")
def no_weights(*given):
    return backward(*given, of_scores=lambda p, dp, mean: dp - mean)


@wrong(backward_row, "a softmax over one block")
def softmax_of_a_block(query, key, value, output, log_sum_exp, grad_output, block):
    root, found = len(query) ** 0.5, []
    for k, v in zip(key.split(block), value.split(block), strict=True):
        p = (k @ query / root).softmax(0)
        ds = p * (v @ grad_output - output @ grad_output) / root
        found.append((ds @ k, torch.outer(ds, query), torch.outer(p, grad_output)))
    dq, dk, dv = zip(*found, strict=True)
    return sum(dq), torch.cat(dk), torch.cat(dv)


@wrong(backward_row, "a value collects the output")
def values_of_the_output(query, key, value, output, log_sum_exp, grad_output, block):
    dq, dk, _ = the_loop(query, key, value, output, log_sum_exp, grad_output, block)
    weights = torch.cat(
        [(k @ query / len(query) ** 0.5 - log_sum_exp).exp() for k in key.split(block)]
    )
    return dq, dk, torch.outer(weights, output)


@wrong(backward_row, "the last, shorter block is left out")
def whole_blocks_only(query, key, value, output, log_sum_exp, grad_output, block):
    grads = [torch.zeros_like(x) for x in (query, key, value)]
    count = len(key) // block * block
    if count:
        given = query, key[:count], value[:count], output, log_sum_exp, grad_output, block
        for grad, found in zip(grads, the_loop(*given), strict=True):
            grad[: len(found)] = found
    return tuple(grads)


@wrong(backward_row, "that of the last block only")
def overwritten(query, key, value, output, log_sum_exp, grad_output, block):
    _, dk, dv = the_loop(query, key, value, output, log_sum_exp, grad_output, block)
    start = (len(key) - 1) // block * block
    given = output, log_sum_exp, grad_output, block
    return the_loop(query, key[start:], value[start:], *given)[0], dk, dv


@wrong(backward_row, "exp overflows")
def divided_exponentials(query, key, value, output, log_sum_exp, grad_output, block):
    root, found = len(query) ** 0.5, []
    for k, v in zip(key.split(block), value.split(block), strict=True):
        p = (k @ query / root).exp() / log_sum_exp.exp()
        ds = p * (v @ grad_output - output @ grad_output) / root
        found.append((ds @ k, torch.outer(ds, query), torch.outer(p, grad_output)))
    dq, dk, dv = zip(*found, strict=True)
    return sum(dq), torch.cat(dk), torch.cat(dv)


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


@wrong(window_mask, "the future can be seen")
def both_sides(T, S, window):
    back = torch.arange(S - T, S)[:, None] - torch.arange(S)
    return back.abs() < window


@wrong(window_mask, "one key too many")
def up_to_the_window(T, S, window):
    return torch.ones(T, S, dtype=torch.bool).tril(S - T).triu(S - T - window)


@wrong(window_mask, "one key too few")
def below_the_window(T, S, window):
    return torch.ones(T, S, dtype=torch.bool).tril(S - T).triu(S - T - window + 2)


@wrong(window_mask, "does not see its own key")
def not_itself(T, S, window):
    mask = by_distance(T, S, window)
    return mask & ~torch.eye(T, S, dtype=torch.bool)


@wrong(window_mask, "the window has no end")
def causal_only(T, S, window):
    return torch.ones(T, S, dtype=torch.bool).tril(S - T)


@wrong(window_mask, "the window is not")
def the_rest(T, S, window):
    return causal_only(T, S, window) & ~by_distance(T, S, window)


@wrong(window_mask, "aligned with the first key")
def from_the_top_left(T, S, window):
    back = torch.arange(T)[:, None] - torch.arange(S)
    return (back >= 0) & (back < window)


@wrong(window_mask, "a mask is boolean")
def a_float_mask(T, S, window):
    return by_distance(T, S, window).float()


@wrong(window_mask, "it is made of numbers; a mask is boolean")
def an_integer_mask(T, S, window):
    return by_distance(T, S, window).int()


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


@wrong(window_cache, "the new token cannot see itself")
class Late(Listed):
    def append(self, key, value):
        held = key[None][:0], value[None][:0]
        if self.keys:
            held = torch.stack(self.keys), torch.stack(self.values)
        super().append(key, value)
        return held


@wrong(window_cache, "one token too many")
class OneMore(Listed):
    def forget(self):
        while len(self.keys) > self.window + 1:
            del self.keys[0], self.values[0]


@wrong(window_cache, "one token too few")
class OneLess(Listed):
    def forget(self):
        while len(self.keys) > max(1, self.window - 1):
            del self.keys[0], self.values[0]


@wrong(window_cache, "once full, it takes nothing in")
class Full(Listed):
    def forget(self):
        while len(self.keys) > self.window:
            del self.keys[-1], self.values[-1]


@wrong(window_cache, "everything is thrown away")
class Emptied(Listed):
    def forget(self):
        if len(self.keys) > self.window:
            del self.keys[:-1], self.values[:-1]


@wrong(window_cache, "no longer belong together")
class KeysOnly(Listed):
    def forget(self):
        while len(self.keys) > self.window:
            del self.keys[0]


@wrong(window_cache, "the cache still holds every token")
class Sliced(Listed):
    def forget(self):
        pass

    def append(self, key, value):
        super().append(key, value)
        return torch.stack(self.keys[-self.window :]), torch.stack(self.values[-self.window :])


@wrong(window_cache, "nothing that another cache was given")
class Shared(Listed):
    stores: ClassVar[dict] = {}

    def __init__(self, window):
        self.window = window
        self.keys, self.values = self.stores.setdefault(window, ([], []))


@wrong(window_cache, "is the `return` missing?")
class Silent(Listed):
    def append(self, key, value):
        super().append(key, value)


@wrong(window_cache, "it returned 1 result, expected 2")
class KeysAlone(Listed):
    def append(self, key, value):
        return super().append(key, value)[0]


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
