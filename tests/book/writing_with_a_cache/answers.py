"""Answers to the exercises of "Writing with a cache"."""

import torch
import torch.nn.functional as F

from book.writing_with_a_cache.checks import grouped_attention, judge, window_cache
from companion.nn import scaled_dot_product_attention
from tests.book.answers import right, wrong

# A cache that forgets


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


@wrong(window_cache, "is the `return` missing?")
class Silent(ByConcatenation):
    def append(self, key, value):
        super().append(key, value)


# Shared keys


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


@wrong(grouped_attention, "it raised RuntimeError")
def not_repeated(query, key, value):
    return (query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5).softmax(-1) @ value


# Accept or replace


@right(judge)
def one_by_one(p, q, words, uniform):
    kept = 0
    for word, number, wanted, offered in zip(words, uniform, p, q, strict=False):
        if number >= wanted[word] / offered[word]:
            more = torch.relu(wanted - offered)
            return kept, more / (1 - torch.minimum(wanted, offered).sum())
        kept += 1
    return kept, p[-1]


@right(judge)
def at_once(p, q, words, uniform):
    rows = torch.arange(len(words))
    kept = (uniform * q[rows, words] < p[rows, words]).int().cumprod(0).sum()
    offered = torch.cat([q, torch.zeros_like(q[:1])])  # behind the last word, nothing
    more = (p - offered).clamp(min=0)[kept]
    return kept.item(), more / more.sum()


@wrong(judge, "a small number keeps it")
def by_the_better(p, q, words, uniform):
    return at_once(p, q, words, torch.ones(len(words)))


@wrong(judge, "is the `return` missing?")
def silent(p, q, words, uniform):
    one_by_one(p, q, words, uniform)


@right(window_cache)
class WithSlots:
    __slots__ = ("held", "window")

    def __init__(self, window):
        self.window, self.held = window, []

    def append(self, key, value):
        self.held = [*self.held, (key, value)][-self.window :]
        return [torch.stack(rows) for rows in zip(*self.held, strict=True)]


@wrong(window_cache, "what the cache holds grows with the text")
class Counting(ByConcatenation):
    def __init__(self, window):
        super().__init__(window)
        self.seen = []

    def append(self, key, value):
        self.seen.append(len(self.seen))
        return super().append(key, value)
