"""Answers to the project of book/own_language_model.ipynb."""

import math
from collections import Counter
from itertools import pairwise

import torch
from torch import nn
from torch.nn import functional as F

from book.language_model import (
    Block,
    RMSNorm,
    Tokenizer,
    learning_rate,
    log_probs,
    next_probabilities,
    rotate,
)
from book.own_language_model.checks import (
    attention,
    gate,
    judge,
    loop,
    model,
    norm,
    probabilities,
    rope,
    sampler,
    tokenizer,
)
from companion.nn import RotaryEmbedding
from companion.training import fit
from tests.book.answers import right, wrong

# Text to tokens


@right(tokenizer)
class CountsAgain:
    """All pairs are counted anew for every merge."""

    def __init__(self, text, vocab_size):
        import re

        self.words = lambda text: re.findall(r" ?\w+| ?[^\s\w]+|\s+", text)
        self.merges, self.pieces = [], [bytes([i]) for i in range(256)] + [b""]
        words = Counter(tuple(word.encode()) for word in self.words(text))
        while len(self.pieces) < vocab_size:
            pairs = Counter()
            for word, count in words.items():
                for pair in pairwise(word):
                    pairs[pair] += count
            if not pairs:
                break
            best = min(pairs, key=lambda pair: (-pairs[pair], pair))
            self.merges.append(best)
            self.pieces.append(self.pieces[best[0]] + self.pieces[best[1]])
            merged = Counter()
            for word, count in words.items():
                merged[tuple(self.merge(word, best, len(self.pieces) - 1))] += count
            words = merged

    def merge(self, tokens, pair, new):
        tokens, i, out = list(tokens), 0, []
        while i < len(tokens):
            if tuple(tokens[i : i + 2]) == pair:
                out.append(new)
                i += 2
            else:
                out.append(tokens[i])
                i += 1
        return out

    def __len__(self):
        return len(self.pieces)

    def encode(self, text):
        out = []
        for word in self.words(text):
            tokens = list(word.encode())
            for number, pair in enumerate(self.merges):
                tokens = self.merge(tokens, pair, 257 + number)
            out += tokens
        return out

    def decode(self, tokens):
        return b"".join(self.pieces[t] for t in tokens).decode("utf8", "replace")


@right(tokenizer)
class GivesTensors(CountsAgain):
    def encode(self, text):
        return torch.tensor(super().encode(text))


wrong(tokenizer, "this is ours")(Tokenizer)


@wrong(tokenizer, "it returned shape (3,), expected (2,)")
class EndInFront(CountsAgain):
    def encode(self, text):
        return [256, *super().encode(text)]


# A norm


@right(norm)
class ByNorm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.d, self.gain = d, nn.Parameter(torch.ones(d))

    def forward(self, x):
        mean = x.norm(dim=-1, keepdim=True) ** 2 / self.d
        return x / torch.sqrt(mean + 1e-6) * self.gain


@right(norm)
class InDouble(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(d))

    def forward(self, x):
        y = x.double()
        return (y * torch.rsqrt(torch.einsum("...i,...i->...", y, y)[..., None] / len(self.gain)
                                + 1e-6) * self.gain).to(x.dtype)  # fmt: skip


@wrong(norm, "there is one gain for each entry")
class OneGain(ByNorm):
    def forward(self, x):
        return super().forward(x) / self.gain * self.gain.mean()


# Turn by the position


@right(rope)
def complex_numbers(x, start=0):
    T, d_k = x.shape[-2:]
    speeds = torch.tensor([10_000 ** (-2 * i / d_k) for i in range(d_k // 2)])
    angle = torch.arange(start, start + T)[:, None] * speeds
    turned = torch.complex(*x.chunk(2, -1)) * torch.polar(torch.ones_like(angle), angle)
    return torch.cat([turned.real, turned.imag], -1)


@right(rope)
def half_rotated(x, start=0):
    half = x.shape[-1] // 2
    speeds = torch.exp(-math.log(10_000) * torch.arange(half) / half).repeat(2)
    angle = (start + torch.arange(x.shape[-2]))[:, None] * speeds
    other = torch.cat([-x[..., half:], x[..., :half]], dim=-1)
    return x * angle.cos() + other * angle.sin()


@wrong(rope, "RotaryEmbedding of companion.nn")
def the_books(x, start=0):
    positions = torch.arange(start, start + x.shape[-2])
    return RotaryEmbedding(x.shape[-1], pairing="half")(x, positions)


# Attention with a memory


@right(attention)
class ByHand(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(d, 3 * d, bias=False)
        self.out = nn.Linear(d, d, bias=False)

    def places(self, T, past):
        return torch.arange(past, past + T)[:, None] >= torch.arange(past + T)

    def forward(self, x, cache=None):
        B, T, d = x.shape
        q, k, v = (
            part.view(B, T, self.heads, d // self.heads).transpose(1, 2)
            for part in self.qkv(x).split(d, dim=-1)
        )
        past = 0 if not cache else cache["k"].size(2)
        q, k = rotate(q, past), rotate(k, past)
        if cache is not None:
            k = torch.cat([cache["k"], k], dim=2) if past else k
            v = torch.cat([cache["v"], v], dim=2) if past else v
            cache["k"], cache["v"] = k, v
        scores = q @ k.transpose(-1, -2) / (d // self.heads) ** 0.5
        scores = scores.masked_fill(~self.places(T, past), float("-inf"))
        y = scores.softmax(dim=-1) @ v
        return self.out(y.permute(0, 2, 1, 3).flatten(2))


@right(attention)
class Fused(ByHand):
    def forward(self, x, cache=None):
        B, T, d = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (y.reshape(B, T, self.heads, -1).transpose(1, 2) for y in (q, k, v))
        past = cache["k"].shape[-2] if cache else 0
        q, k = rotate(q, past), rotate(k, past)
        if past:
            k, v = torch.cat((cache["k"], k), -2), torch.cat((cache["v"], v), -2)
        if cache is not None:
            cache["k"], cache["v"] = k, v
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=self.places(T, past))
        return self.out(y.transpose(1, 2).reshape(B, T, d))


# A gate


@right(gate)
class Spelled(nn.Module):
    def __init__(self, d):
        super().__init__()
        inner = 8 * d // 3
        self.gate = nn.Linear(d, inner, bias=False)
        self.up = nn.Linear(d, inner, bias=False)
        self.down = nn.Linear(inner, d, bias=False)

    def forward(self, x):
        g = self.gate(x)
        return self.down(g * torch.sigmoid(g) * self.up(x))


@right(gate)
class WithModule(Spelled):
    def forward(self, x):
        return self.down(self.up(x) * nn.SiLU()(self.gate(x)))


@wrong(gate, "every position is treated alike")
class OnlyTheLast(Spelled):
    def forward(self, x):
        return super().forward(x[..., -1, :] if x.dim() > 1 else x)


# The whole model


@right(model)
class Whole(nn.Module):
    def __init__(self, vocab_size, d=64, layers=2, heads=4):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d)
        self.norm_in = RMSNorm(d)
        self.blocks = nn.ModuleList(Block(d, heads) for _ in range(layers))
        self.norm_out = RMSNorm(d)

    def empty_cache(self):
        return [{} for _ in self.blocks]

    def forward(self, ids, cache=None):
        x = self.begin(ids)
        for block, own in zip(self.blocks, cache or [None] * len(self.blocks), strict=True):
            x = block(x, own)
        return self.end(x)

    def begin(self, ids):
        return self.norm_in(self.embedding(ids.clamp(min=0)))

    def end(self, x):
        return F.linear(self.norm_out(x), self.embedding.weight)


@right(model)
class WhereInstead(Whole):
    def begin(self, ids):
        return self.norm_in(self.embedding(torch.where(ids < 0, 0, ids)))

    def end(self, x):
        return torch.einsum("btd,vd->btv", self.norm_out(x), self.embedding.weight)


@wrong(model, "it raised IndexError")
class NoClamp(Whole):
    def begin(self, ids):
        return self.norm_in(self.embedding(ids))


# The loop


def steps_of(model, batch, steps, peak, loss_of):
    optimizer = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.99), weight_decay=0.02)
    losses = []
    for step in range(steps):
        loss = loss_of(model, batch(step))
        losses.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.param_groups[0]["lr"] = learning_rate(step, steps, peak)
        optimizer.step()
    return losses


def cross_entropy(model, ids):
    return F.cross_entropy(model(ids[:, :-1]).mT, ids[:, 1:], ignore_index=-1)


@right(loop)
def by_cross_entropy(model, batch, steps, peak=0.01):
    return steps_of(model, batch, steps, peak, cross_entropy)


@right(loop)
def by_log_probs(model, batch, steps, peak=0.01):
    def loss_of(model, ids):
        return -log_probs(model, ids).sum() / (ids[:, 1:] >= 0).sum()

    return torch.tensor(steps_of(model, batch, steps, peak, loss_of))


@wrong(loop, "fit of companion.training")
def ready_made(model, batch, steps, peak=0.01):
    return fit(model, batch, steps=steps).loss


# Heat and cut


@right(probabilities)
def sorted_back(logits, temperature=1.0, top_k=None, top_p=None):
    p, order = torch.softmax(logits / temperature, -1).sort(-1, descending=True)
    if top_k is not None:
        p = p * (torch.arange(p.shape[-1]) < top_k)
        p = p / p.sum(-1, keepdim=True)
    if top_p is not None:
        before = p.cumsum(-1) - p
        p = torch.where(before < top_p, p, 0.0)
        p = p / p.sum(-1, keepdim=True)
    return p.gather(-1, order.argsort(-1))


@right(probabilities)
def cut_logits(logits, temperature=1.0, top_k=None, top_p=None):
    z = logits / temperature
    if top_k is not None:
        least = z.topk(min(top_k, z.shape[-1]), -1).values[..., -1:]
        z = z.masked_fill(z < least, -math.inf)
    if top_p is not None:
        p, order = z.softmax(-1).sort(-1, descending=True)
        cut = (p.cumsum(-1) - p >= top_p).gather(-1, order.argsort(-1))
        z = z.masked_fill(cut, -math.inf)
    return z.softmax(-1)


@wrong(probabilities, "however small p is, the best token stays")
def nothing_left(logits, temperature=1.0, top_k=None, top_p=None):
    p = sorted_back(logits, temperature, top_k, top_p)
    return p * (top_p is None or (logits / temperature).softmax(-1).max() <= top_p)


# Write


@right(sampler)
@torch.no_grad()
def with_lists(model, prompts, length, end, temperature=1.0, top_k=None, top_p=None):
    cache, rows, new = model.empty_cache(), prompts.tolist(), prompts
    over = [False] * len(rows)
    while length and not all(over):
        p = next_probabilities(model(new, cache)[:, -1], temperature, top_k, top_p)
        new = torch.multinomial(p, 1)
        for i, row in enumerate(rows):
            if over[i]:
                new[i] = -1
            row.append(new[i].item())
            over[i] = over[i] or row[-1] == end
        length -= 1
    return torch.tensor(rows)


@right(sampler)
def by_cumulated_sums(model, prompts, length, end, temperature=1.0, top_k=None, top_p=None):
    cache, ids = model.empty_cache(), prompts
    logits = model(prompts, cache)
    for step in range(length):
        p = next_probabilities(logits[:, -1].detach(), temperature, top_k, top_p)
        new = (p.cumsum(-1) < torch.rand(len(p), 1)).sum(-1, keepdim=True)
        new[(ids[:, prompts.shape[1] :] == end).any(1)] = -1
        ids = torch.cat([ids, new], 1)
        if step == length - 1 or (ids[:, prompts.shape[1] :] == end).any(1).all():
            break
        logits = model(new, cache)
    return ids


# How far from the best


@right(judge)
def by_rows(model, rows, truth):
    with torch.no_grad():
        logp = model(rows[:, :-1]).log_softmax(-1)
    total = 0.0
    for row, says, p in zip(rows.tolist(), logp, truth.tolist(), strict=True):
        total += p - sum(says[t, token].item() for t, token in enumerate(row[1:]) if token >= 0)
    return total / len(rows)


@right(judge)
def by_our_log_probs(model, rows, truth):
    return (truth - log_probs(model, rows).sum(1)).mean().detach()


@wrong(judge, "is -1 times what is expected")
def the_other_way(model, rows, truth):
    return -by_rows(model, rows, truth)
