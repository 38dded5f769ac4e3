"""Answers by somebody who had not read the checks."""

import torch
from torch import nn

from tests.book.unseen import answers_to

right, wrong = answers_to("multi_head_attention")


@right
def split_heads(x, num_heads):
    return torch.stack(x.chunk(num_heads, dim=-1), dim=1)


wrong("plain reshape", lambda x, num_heads: x.reshape(x.shape[0], num_heads, x.shape[1], -1))
wrong("first sentence only", "return torch", "x = x[:1]\n    return torch")


@right
def merge_heads(x):
    return torch.cat([x[:, h] for h in range(x.shape[1])], dim=-1)


wrong("plain reshape", lambda x: x.reshape(x.shape[0], x.shape[2], -1))
wrong("averages the heads", lambda x: x.mean(1))


@right("my_multi_head")
class MyMultiHead(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.fused = nn.Linear(d_model, 3 * d_model)
        self.output = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        B, T, d = x.shape
        q, k, v = self.fused(x).reshape(B, T, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        s = torch.einsum("bhtd,bhsd->bhts", q, k) * (d // self.num_heads) ** -0.5
        if mask is not None:
            s = s.masked_fill(mask.logical_not(), float("-inf"))
        return self.output(torch.einsum("bhts,bhsd->bthd", s.softmax(-1), v).reshape(B, T, d))


wrong("mask ignored", "if mask is not None:", "if False:")
wrong("softmax over heads", "s.softmax(-1)", "s.softmax(1)")


@right
def split_heads(x, num_heads):
    d_k = x.shape[-1] // num_heads
    heads = [x[..., h * d_k : (h + 1) * d_k] for h in range(num_heads)]
    return torch.stack(heads, dim=1)


wrong("heads before the batch", "torch.stack(heads, dim=1)", "torch.stack(heads, dim=0)")
wrong("heads of a width of 4", lambda x, num_heads: x.reshape(*x.shape[:2], -1, 4).transpose(1, 2))


@right
def merge_heads(x):
    B, H, T, d_k = x.shape
    return x.transpose(1, 2).reshape(B, T, H * d_k)


wrong("entries of the heads interleaved", "x.transpose(1, 2)", "x.permute(0, 2, 3, 1)")


@right("my_multi_head")
class FusedMultiHead(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.fused = nn.Linear(d_model, 3 * d_model)
        self.output = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        q, k, v = (split_heads(part, self.num_heads) for part in self.fused(x).chunk(3, dim=-1))
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        return self.output(merge_heads(scores.softmax(dim=-1) @ v))


wrong("the scale of d_model", "q.shape[-1] ** 0.5", "x.shape[-1] ** 0.5")

wrong("softmax over the heads", "softmax(dim=-1)", "softmax(dim=1)")


@right
def name_the_fault(layer):
    T = 5
    x = 3 * torch.randn(2, T, 12)
    free = torch.ones(T, T, dtype=torch.bool)
    causal = free.tril()
    _, everywhere = layer(x, free)
    out, w = layer(x, causal)
    if w.tril().abs().max() == 0:
        return "mask inverted"
    if not torch.allclose(everywhere.sum(-1), torch.ones(2, 3, T), atol=1e-4):
        return "softmax over the queries"
    if w.triu(1).abs().max() > 0:
        return "no mask"
    if not torch.allclose(w.sum(-1), torch.ones(2, 3, T), atol=1e-4):
        return "mask after the softmax"
    if torch.allclose(w[:, 0], w[:, 1]) and torch.allclose(w[:, 0], w[:, 2]):
        return "one row for all heads"
    changed = x.clone()
    changed[:, -1] += 1
    other, _ = layer(changed, causal)
    if not torch.allclose(out[:, :-1], other[:, :-1], atol=1e-4):
        return "positions mixed"
    return "none"


wrong("changes the first word", "changed[:, -1] += 1", "changed[:, 0] += 1")


@right
def merge_heads(x):
    return torch.cat([x[:, h] for h in range(x.shape[1])], dim=-1)


wrong("heads behind each other along the words", "dim=-1", "dim=1")


@right("my_multi_head")
class OtherMultiHead(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.fused = nn.Linear(d_model, 3 * d_model)
        self.output = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        B, T, d = x.shape
        d_k = d // self.num_heads
        qkv = self.fused(x).view(B, T, 3, self.num_heads, d_k).permute(2, 0, 3, 1, 4)
        query, key, value = qkv
        scores = torch.einsum("bhid,bhjd->bhij", query, key) / d_k**0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = scores.softmax(dim=-1)
        read = weights @ value
        return self.output(read.transpose(1, 2).reshape(B, T, d))


wrong("the heads are not exchanged back", "read.transpose(1, 2).reshape", "read.reshape")
wrong(
    "the past alone where there is no mask",
    "        if mask is not None:",
    "        if mask is None:\n            mask = torch.ones(T, T, dtype=torch.bool).tril()\n        if mask is not None:",
)


@right
def name_the_fault(layer):
    gen = torch.Generator().manual_seed(7)
    T = 5
    x = torch.randn(2, T, 12, generator=gen)
    all_true = torch.ones(T, T, dtype=torch.bool)
    causal = all_true.tril()
    _, free = layer(x, all_true)
    output, weights = layer(x, causal)
    forbidden = weights[..., ~causal]
    sums = weights.sum(dim=-1)
    if free.abs().max() == 0:
        return "mask inverted"
    if not torch.allclose(free.sum(dim=-1), torch.ones(2, 3, T), atol=1e-4):
        return "softmax over the queries"
    if forbidden.abs().max() > 1e-6:
        return "no mask"
    if not torch.allclose(sums, torch.ones_like(sums), atol=1e-4):
        return "mask after the softmax"
    if torch.allclose(weights[:, 0], weights[:, 1]) and torch.allclose(
        weights[:, 0], weights[:, 2]
    ):
        return "one row for all heads"
    changed = x.clone()
    changed[:, -1] += 1
    after, _ = layer(changed, causal)
    if not torch.allclose(after[:, :-1], output[:, :-1], atol=1e-5):
        return "positions mixed"
    return "none"


wrong(
    "columns taken for rows", "torch.allclose(free.sum(dim=-1)", "torch.allclose(free.sum(dim=-2)"
)


@right
def split_heads(x, num_heads):
    return torch.stack(x.chunk(num_heads, dim=-1), dim=1)


wrong(
    "one reshape without exchanging axes",
    "    return torch.stack(x.chunk(num_heads, dim=-1), dim=1)",
    "    B, T, d = x.shape\n    return x.reshape(B, num_heads, T, d // num_heads)",
)


@right
def merge_heads(x):
    return torch.cat(x.unbind(dim=1), dim=-1)


wrong(
    "the entries of the heads alternate",
    "    return torch.cat(x.unbind(dim=1), dim=-1)",
    "    B, H, T, d_k = x.shape\n    return x.permute(0, 2, 3, 1).reshape(B, T, H * d_k)",
)
