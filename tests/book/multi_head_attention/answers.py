"""Answers to the exercises of book/multi_head_attention.ipynb."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from book.multi_head_attention.checks import (
    merge_heads,
    my_multi_head,
    name_the_fault,
    split_heads,
)
from tests.book.answers import right, wrong

# Split and merge


@right(split_heads)
def view_and_transpose(x, num_heads):
    B, T, d = x.shape
    return x.view(B, T, num_heads, d // num_heads).transpose(1, 2)


@right(split_heads)
def stack_of_slices(x, num_heads):
    return torch.stack(x.chunk(num_heads, dim=-1), dim=1)


@wrong(split_heads, "with one head nothing is cut")
def one_is_as_it_is(x, num_heads):
    return x if num_heads == 1 else view_and_transpose(x, num_heads)


@right(merge_heads)
def transpose_and_reshape(x):
    B, H, T, width = x.shape
    return x.transpose(1, 2).reshape(B, T, H * width)


@right(merge_heads)
def side_by_side(x):
    return torch.cat(x.unbind(dim=1), dim=-1)


@wrong(merge_heads, "there may be any number of heads")
def two_heads_of_two(x):
    return x.transpose(1, 2).reshape(len(x), -1, 4)


# The layer in your own words


@right(my_multi_head)
class Chunked(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.out = nn.Linear(d_model, d_model)

    def cut(self, x):
        B, T, d = x.shape
        return x.view(B, T, self.num_heads, d // self.num_heads).transpose(1, 2)

    def merge(self, heads):
        return heads.transpose(1, 2).flatten(2)

    def forward(self, x, mask=None):
        query, key, value = map(self.cut, self.qkv(x).chunk(3, dim=-1))
        scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = scores.softmax(dim=-1)
        return self.out(self.merge(weights @ value))


@right(my_multi_head)
class FusedKernelWithoutBias(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.out = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, mask=None):
        B, T, d = x.shape
        qkv = self.qkv(x).view(B, T, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        heads = F.scaled_dot_product_attention(*qkv, attn_mask=mask)
        return self.out(heads.transpose(1, 2).reshape(B, T, d))


@right(my_multi_head)
class RowsByHeadAndEinsum(nn.Module):
    """Query, key and value of one head are neighbours, as in GPT-NeoX; plain matrices, x @ W."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.fused = nn.Parameter(torch.randn(d_model, 3 * d_model))
        self.output = nn.Parameter(torch.randn(d_model, d_model))

    def forward(self, x, mask=None):
        rows = torch.einsum("btd,de->bte", x, self.fused).unflatten(-1, (self.num_heads, -1))
        query, key, value = rows.chunk(3, dim=-1)  # (B, T, H, d_k)
        scores = torch.einsum("bthd,bshd->bhts", query, key) / query.shape[-1] ** 0.5
        if mask is not None:
            scores = torch.where(mask, scores, -1e9)
        weights = scores.softmax(-1)
        heads = torch.einsum("bhts,bshd->bthd", weights, value)
        return heads.flatten(2) @ self.output, weights


@right(my_multi_head)
class KeysFirst(Chunked):
    def forward(self, x, mask=None):
        key, value, query = map(self.cut, self.qkv(x).chunk(3, dim=-1))
        return self.out(self.merge(F.scaled_dot_product_attention(query, key, value, mask)))


@wrong(my_multi_head, "a batch has several sentences")
class TheFirstSentence(Chunked):
    def forward(self, x, mask=None):
        return super().forward(x[:1], mask).expand(x.shape)


@right(my_multi_head)
class AroundTorch(nn.Module):
    """nn.MultiheadAttention has one fused matrix, and masks the other way round."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        self.layer = nn.MultiheadAttention(d_model, num_heads, batch_first=True)

    def forward(self, x, mask=None):
        forbidden = None if mask is None else ~mask
        return self.layer(x, x, x, attn_mask=forbidden, average_attn_weights=False)


# Name the fault


@right(name_the_fault)
def one_symptom_after_the_other(layer):
    x, mask = torch.randn(2, 5, 12), torch.ones(5, 5).tril().bool()
    output, weights = layer(x, mask)
    if weights[..., ~mask].any():
        return "no mask" if weights[..., mask].any() else "mask inverted"
    rows_without_mask = layer(x, torch.ones(5, 5, dtype=torch.bool))[1].sum(-1)
    if not torch.allclose(rows_without_mask, torch.ones(())):
        return "softmax over the queries"
    if not torch.allclose(weights.sum(-1), torch.ones(())):
        return "mask after the softmax"
    if torch.allclose(weights[:, 0], weights[:, 1]):
        return "one row for all heads"
    x[:, -1] += 1
    changed = (layer(x, mask)[0] - output)[:, :-1].abs().max()
    return "positions mixed" if changed > 1e-5 else "none"


@right(name_the_fault)
def with_a_mask_of_ones_self(layer):
    """If each word may see itself only, the outputs are those of sentences of one word."""
    x, itself = torch.randn(1, 4, 12), torch.eye(4, dtype=torch.bool)
    output, weights = layer(x, itself)
    seen = weights > 0
    if not seen.equal(itself.expand_as(seen)):
        return "mask inverted" if not seen[..., itself].any() else "no mask"
    if (weights.diagonal(dim1=-2, dim2=-1) < 0.999).any():
        return "mask after the softmax"
    alone = torch.cat([layer(word, itself[:1, :1])[0] for word in x.split(1, dim=1)], dim=1)
    if (alone - output).abs().max() > 1e-5:
        return "positions mixed"
    everybody = layer(x, itself | True)[1]
    if (everybody.sum(dim=-1) - 1).abs().max() > 1e-4:
        return "softmax over the queries"
    return (
        "none"
        if (everybody[0, 0] - everybody[0, 2]).abs().max() > 1e-4
        else "one row for all heads"
    )


@wrong(name_the_fault, "that it never called")
def trusting(layer):
    return "none"


@wrong(name_the_fault, "'positions mixed' was called 'none'")
def weights_only(layer):
    x, mask = torch.randn(2, 5, 12), torch.ones(5, 5).tril().bool()
    said = one_symptom_after_the_other(layer)
    return said if layer(x, mask)[1].any() and said != "positions mixed" else "none"


@wrong(name_the_fault, "'mask inverted' was called 'no mask'")
def any_weight_on_the_future_is_no_mask(layer):
    said = one_symptom_after_the_other(layer)
    return "no mask" if said == "mask inverted" else said


@wrong(name_the_fault, "'mask after the softmax' was called 'softmax over the queries'")
def sums_under_a_mask_only(layer):
    x, mask = torch.randn(2, 5, 12), torch.ones(5, 5).tril().bool()
    weights = layer(x, mask)[1]
    if not weights[..., ~mask].any() and not torch.allclose(weights.sum(-1), torch.ones(())):
        return "softmax over the queries"
    return one_symptom_after_the_other(layer)


@wrong(name_the_fault, "these inputs cannot tell")
def sentences_of_one_word(layer):
    weights = layer(torch.randn(1, 1, 12), torch.ones(1, 1, dtype=torch.bool))[1]
    return "none" if weights.sum() == 3 else "no mask"


@wrong(name_the_fault, "it returned 3, expected one of 'none', 'softmax over the queries'")
def a_number(layer):
    return 3


@wrong(name_the_fault, "it raised RuntimeError")
def another_width(layer):
    return layer(torch.randn(1, 4, 8), torch.ones(4, 4, dtype=torch.bool))


@wrong(name_the_fault, "it returned None")
def forgot_to_return(layer):
    layer(torch.randn(1, 4, 12), torch.ones(4, 4, dtype=torch.bool))
