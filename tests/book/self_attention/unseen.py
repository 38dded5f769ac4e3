"""Answers by somebody who had not read the checks."""

import math

import numpy as np
import torch
import torch.nn.functional as F

from companion.nn import causal_mask
from tests.book.unseen import answers_to

right, wrong = answers_to("self_attention")


@right
def attention(query, key, value):
    rows = []
    for q in np.asarray(query):
        s = np.array([q @ k for k in key]) / np.sqrt(len(q))
        e = np.exp(s - s.max())
        rows.append((e / e.sum()) @ value)
    return np.stack(rows)


wrong("scale by d_v", "np.sqrt(len(q))", "np.sqrt(value.shape[1])")
wrong("scale by number of keys", "np.sqrt(len(q))", "np.sqrt(len(key))")
wrong(
    "softmax before the scaling: scaled after",
    "/ np.sqrt(len(q))",
    "",
    "(e / e.sum()) @",
    "(e / e.sum()) / np.sqrt(len(q)) @",
) if False else None
wrong(
    "maximum over all, sum over all",
    lambda query, key, value: (lambda e: (e / e.sum()) @ value)(
        np.exp(
            query @ key.T / query.shape[-1] ** 0.5 - (query @ key.T / query.shape[-1] ** 0.5).max()
        )
    ),
)


@right
def masked_attention(query, key, value, mask):
    s = torch.einsum("td,sd->ts", query, key) / math.sqrt(query.shape[-1])
    s = torch.where(mask, s, torch.full_like(s, -1e30))
    w = torch.softmax(s, -1) * mask
    return w @ value


wrong("empty rows average", " * mask\n", "\n")
wrong("forbidden scores are 0", "-1e30", "0.0")
wrong(
    "ignores the mask",
    lambda query, key, value, mask: F.scaled_dot_product_attention(query, key, value),
)


@right("broken_layers")
def test_attention(attention):
    g = torch.Generator().manual_seed(3)
    q, k, v = (
        torch.randn(n, d, generator=g, dtype=torch.float64) for n, d in ((3, 4), (5, 4), (5, 2))
    )
    for mask in (None, torch.tensor([[1, 1, 0, 0, 0], [0, 0, 1, 1, 1], [1, 0, 1, 0, 1]]).bool()):
        s = q @ k.T / 2
        if mask is not None:
            s = s.masked_fill(~mask, -torch.inf)
        o, w = attention(q, k, v, mask)
        if w.shape != (3, 5) or o.shape != (3, 2):
            return False
        if not torch.allclose(w, s.softmax(-1)) or not torch.allclose(o, s.softmax(-1) @ v):
            return False
    return True


wrong(
    "no mask is tried",
    "for mask in (None, torch.tensor([[1, 1, 0, 0, 0], [0, 0, 1, 1, 1], [1, 0, 1, 0, 1]]).bool()):",
    "for mask in (None,):",
)
wrong(
    "d_k of 1: scaling does not show",
    "((3, 4), (5, 4), (5, 2))",
    "((3, 1), (5, 1), (5, 2))",
    "/ 2",
    "/ 1",
)


@right
def attention(query, key, value):
    d_k = key.shape[1]
    scores = query @ key.T / np.sqrt(d_k)
    top = scores.max(axis=1, keepdims=True)
    e = np.exp(scores - top)
    weights = e / e.sum(axis=1, keepdims=True)
    return weights @ value, weights


wrong("the width of the values", "key.shape[1]", "value.shape[1]")


@right
def masked_attention(query, key, value, mask):
    rows = []
    for i in range(len(query)):
        allowed = mask[i]
        if allowed.any():
            scores = key[allowed] @ query[i] / key.shape[1] ** 0.5
            weights = torch.softmax(scores, dim=0)
            rows.append(weights @ value[allowed])
        else:
            rows.append(0.0 * query[i].sum() + torch.zeros_like(value[0]))
    return torch.stack(rows)


def large_number(query, key, value, mask):
    scores = query @ key.T / key.shape[1] ** 0.5
    weights = scores.masked_fill(~mask, -1e9).softmax(-1)
    return weights @ value


wrong("-1e9: an empty row is the mean of the values", large_number)


@right("broken_layers")
def test_attention(attention):
    generator = torch.Generator().manual_seed(1)
    query = torch.randn(4, 3, generator=generator)
    key = torch.randn(6, 3, generator=generator)
    value = torch.randn(6, 5, generator=generator)
    mask = torch.rand(4, 6, generator=generator) < 0.5
    mask[:, 2] = True
    scores = query @ key.T / query.shape[1] ** 0.5
    for m in (None, mask):
        masked = scores if m is None else scores.masked_fill(~m, float("-inf"))
        expected = masked.softmax(-1)
        output, weights = attention(query, key, value, m)
        assert torch.allclose(weights, expected, atol=1e-5)
        assert torch.allclose(output, expected @ value, atol=1e-5)


wrong("no mask is tried", "in (None, mask)", "in (None,)")


wrong(
    "only shapes and sums",
    "torch.allclose(weights, expected, atol=1e-5)",
    "torch.allclose(weights.sum(-1), torch.ones(4), atol=1e-5)",
    "torch.allclose(output, expected @ value, atol=1e-5)",
    "output.shape == (4, 5)",
)


@right
def attention(query, key, value):
    scores = np.einsum("td,sd->ts", query, key) / np.sqrt(query.shape[-1])
    scores = scores - np.max(scores, axis=1, keepdims=True)
    weights = np.exp(scores)
    weights = weights / np.sum(weights, axis=1, keepdims=True)
    return np.dot(weights, value), weights


wrong("divided by the sum over all", "np.sum(weights, axis=1, keepdims=True)", "np.sum(weights)")


@right
def masked_attention(query, key, value, mask):
    scores = query @ key.T / query.shape[-1] ** 0.5
    scores = torch.where(mask, scores, torch.tensor(-1e9))
    weights = torch.softmax(scores, dim=-1)
    weights = weights * mask
    return weights @ value


wrong(
    "NaN only replaced in the output",
    "torch.where(mask, scores, torch.tensor(-1e9))",
    "scores + torch.zeros_like(scores).masked_fill(~mask, -torch.inf)",
    "weights = weights * mask",
    "weights = torch.nan_to_num(weights)",
)


def reference(query, key, value, mask=None):
    scores = query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = scores.softmax(-1)
    return weights @ value, weights


@right("broken_layers")
def test_attention(attention):
    generator = torch.Generator().manual_seed(3)
    query = torch.randn(4, 6, generator=generator)
    key = torch.randn(5, 6, generator=generator)
    value = torch.randn(5, 6, generator=generator)
    mask = torch.rand(4, 5, generator=generator) < 0.6
    mask[:, 0] = True
    for m in (None, mask):
        output, weights = attention(query, key, value, m)
        expected, expected_weights = reference(query, key, value, m)
        assert torch.allclose(output, expected, atol=1e-4)
        assert torch.allclose(weights, expected_weights, atol=1e-4)


wrong(
    "all inputs are ones",
    "torch.randn(4, 6, generator=generator)",
    "torch.ones(4, 6)",
    "torch.randn(5, 6, generator=generator)",
    "torch.ones(5, 6)",
)


@right
def attention(query, key, value):
    scores = query @ key.T / np.sqrt(key.shape[-1])
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = e / e.sum(axis=-1, keepdims=True)
    return weights @ value, weights


wrong(
    "scaled after the softmax",
    "key.T / np.sqrt(key.shape[-1])",
    "key.T",
    "keepdims=True)\n    return",
    "keepdims=True) / np.sqrt(key.shape[-1])\n    return",
)


@right
def masked_attention(query, key, value, mask):
    scores = query @ key.T / query.shape[-1] ** 0.5
    empty = ~mask.any(dim=-1, keepdim=True)
    scores = scores.masked_fill(~mask & ~empty, -torch.inf)
    weights = scores.softmax(-1).masked_fill(empty, 0.0)
    return weights @ value


wrong(
    "rows that are full are emptied, too",
    "any(dim=-1, keepdim=True)",
    "any(dim=-1, keepdim=True) | mask.all(dim=-1, keepdim=True)",
)


@right("broken_layers")
def test_attention(attention):
    torch.manual_seed(0)
    query, key, value = 1 * torch.randn(4, 6), 1 * torch.randn(7, 6), torch.randn(7, 3)
    for m in (None, torch.ones(4, 7).tril(3).bool()):
        scores = query @ key.T / 6**0.5
        if m is not None:
            scores = scores.masked_fill(~m, -torch.inf)
        output, weights = attention(query, key, value, m)
        assert torch.allclose(output, scores.softmax(-1) @ value, atol=1e-4)


wrong(
    "very large scores",
    "1 * torch.randn(4, 6), 1 * torch.randn(7, 6)",
    "1000 * torch.randn(4, 6), 1000 * torch.randn(7, 6)",
)


@right("broken_layers")
def test_attention(attention):
    g = torch.Generator().manual_seed(3)
    T, S, d_k, d_v = (4, 6, 5, 7)
    q = torch.randn(T, d_k, generator=g)
    k = torch.randn(S, d_k, generator=g)
    v = torch.randn(S, d_v, generator=g)
    for mask in (None, causal_mask(T, S)):
        scores = q @ k.T / d_k**0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = scores.softmax(-1)
        output, found = attention(q, k, v, mask)
        assert output.shape == (T, d_v) and found.shape == (T, S)
        assert torch.allclose(found, weights, atol=0.0001)
        assert torch.allclose(output, weights @ v, atol=0.0001)


wrong("no mask is ever given", ", causal_mask(T, S)", ",")
