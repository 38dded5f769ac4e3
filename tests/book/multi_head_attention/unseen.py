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
