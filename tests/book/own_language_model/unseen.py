"""Answers by somebody who had not read the checks."""

import math
import re
from collections import Counter

import torch
from torch import nn
from torch.nn import functional as F

from book.language_model import (
    Attention as _Att,
)
from book.language_model import (
    RMSNorm as _RMS,
)
from book.language_model import (
    SwiGLU as _Swi,
)
from book.language_model import (
    learning_rate,
)
from book.language_model import (
    next_probabilities as book_probabilities,
)
from book.language_model import (
    rotate as _rot,
)
from tests.book.unseen import answers_to

right, wrong = answers_to("own_language_model")
words = re.compile(r" ?\w+| ?[^\s\w]+|\s+")


def merge(tokens, pair, new):
    merged = []
    for token in tokens:
        if merged and (merged[-1], token) == pair:
            merged[-1] = new
        else:
            merged.append(token)
    return merged


@right("tokenizer")
class Tokenizer:
    end = 256

    def __init__(self, text, vocab_size):
        self.pieces, self.merges = [bytes([i]) for i in range(256)] + [b""], {}
        lists = [list(w.encode()) for w in words.findall(text)]
        while len(self.pieces) < vocab_size:
            count = Counter(p for l in lists for p in zip(l, l[1:]))
            if not count:
                break
            pair = max(count, key=lambda p: (count[p], -p[0], -p[1]))
            new = len(self.pieces)
            self.pieces.append(self.pieces[pair[0]] + self.pieces[pair[1]])
            self.merges[pair] = new
            lists = [merge(l, pair, new) for l in lists]

    def __len__(self):
        return len(self.pieces)

    def encode(self, text):
        out = []
        for w in words.findall(text):
            tokens = list(w.encode())
            for pair, new in self.merges.items():
                tokens = merge(tokens, pair, new)
            out += tokens
        return out

    def decode(self, tokens):
        return b"".join(self.pieces[t] for t in tokens).decode(errors="replace")


wrong(
    "first seen at a tie",
    "max(count, key=lambda p: (count[p], -p[0], -p[1]))",
    "max(count, key=lambda p: count[p])",
)
wrong(
    "each word counts once",
    "lists = [list(w.encode()) for w in words.findall(text)]",
    "lists = [list(w.encode()) for w in dict.fromkeys(words.findall(text))]",
)
wrong(
    "decodes each token by itself",
    'b"".join(self.pieces[t] for t in tokens).decode(errors="replace")',
    '"".join(self.pieces[t].decode(errors="replace") for t in tokens)',
)
wrong(
    "longest piece first in encode",
    "self.merges.items()",
    "sorted(self.merges.items(), key=lambda m: -len(self.pieces[m[1]]))",
)
wrong("a pair counts once per word", "for p in zip(l, l[1:])", "for p in set(zip(l, l[1:]))")
wrong(
    "words count once after the first merge",
    "[merge(l, pair, new) for l in lists]",
    "[[*t] for t in dict.fromkeys(tuple(merge(l, pair, new)) for l in lists)]",
)


@right("norm")
class RMSNorm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.gain = nn.Parameter(torch.full((d,), 1.0))

    def forward(self, x):
        ms = torch.einsum("...d,...d->...", x, x) / x.shape[-1]
        return x / torch.sqrt(ms + 1e-6)[..., None] * self.gain


wrong("no gain", " * self.gain", "")
wrong("small number outside", "torch.sqrt(ms + 1e-6)", "(torch.sqrt(ms) + 1e-6)")
wrong("one gain for all", "(d,)", "(1,)")
wrong("gain under the name weight", "self.gain", "self.weight")


@right("rope")
def rotate(x, start=0):
    h = x.shape[-1] // 2
    z = torch.complex(x[..., :h].contiguous(), x[..., h:].contiguous())
    t = torch.arange(start, start + x.shape[-2])
    speed = torch.exp(-math.log(10000) * torch.arange(h) / h)
    a = torch.outer(t.to(x.dtype), speed.to(x.dtype))
    z = z * torch.polar(torch.ones_like(a), a)
    return torch.cat([z.real, z.imag], -1)


wrong("start ignored", "torch.arange(start, start + x.shape[-2])", "torch.arange(x.shape[-2])")
wrong(
    "neighbours",
    "torch.complex(x[..., :h].contiguous(), x[..., h:].contiguous())",
    "torch.complex(x[..., ::2].contiguous(), x[..., 1::2].contiguous())",
    "torch.cat([z.real, z.imag], -1)",
    "torch.stack([z.real, z.imag], -1).flatten(-2)",
)
wrong("base 1000", "10000", "1000")


@right("attention")
class Attention(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(d, 3 * d, bias=False)
        self.out = nn.Linear(d, d, bias=False)

    def forward(self, x, cache=None):
        B, T, d = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        past = cache["k"].shape[2] if cache else 0
        q, k = _rot(q, past), _rot(k, past)
        if cache:
            k, v = torch.cat([cache["k"], k], 2), torch.cat([cache["v"], v], 2)
        if cache is not None:
            cache["k"], cache["v"] = k, v
        s = q @ k.mT / q.shape[-1] ** 0.5
        see = torch.arange(past + T) <= torch.arange(past, past + T)[:, None]
        w = s.masked_fill(~see, -torch.inf).softmax(-1)
        return self.out((w @ v).transpose(1, 2).reshape(B, T, d))


wrong("past ignored in rotate", "_rot(q, past), _rot(k, past)", "_rot(q, 0), _rot(k, 0)")
wrong(
    "values turned",
    "q, k = _rot(q, past), _rot(k, past)",
    "q, k, v = _rot(q, past), _rot(k, past), _rot(v, past)",
)
wrong("mask without past", "torch.arange(past, past + T)[:, None]", "torch.arange(T)[:, None]")
wrong("order k q v", "q, k, v = self.qkv", "k, q, v = self.qkv")
wrong("no scale", " / q.shape[-1] ** 0.5", "")


@right("gate")
class SwiGLU(nn.Module):
    def __init__(self, d):
        super().__init__()
        inner = 8 * d // 3
        self.gate = nn.Linear(d, inner, bias=False)
        self.up = nn.Linear(d, inner, bias=False)
        self.down = nn.Linear(inner, d, bias=False)

    def forward(self, x):
        g = self.gate(x)
        return self.down(g * torch.sigmoid(g) * self.up(x))


wrong("SiLU on up", "g * torch.sigmoid(g) * self.up(x)", "F.silu(self.up(x)) * g")
wrong("adds", "(g) * self.up(x)", "(g) + self.up(x)")
wrong("ReLU", "g * torch.sigmoid(g)", "torch.relu(g)")
wrong("residual", "return self.down", "return x + self.down")


class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.norm1, self.attention = _RMS(d), _Att(d, heads)
        self.norm2, self.feed_forward = _RMS(d), _Swi(d)

    def forward(self, x, cache=None):
        x = x + self.attention(self.norm1(x), cache)
        return x + self.feed_forward(self.norm2(x))


@right("model")
class LanguageModel(nn.Module):
    def __init__(self, vocab_size, d=64, layers=2, heads=4):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d)
        self.norm_in = _RMS(d)
        self.blocks = nn.ModuleList(Block(d, heads) for _ in range(layers))
        self.norm_out = _RMS(d)

    def empty_cache(self):
        return [{} for _ in self.blocks]

    def forward(self, ids, cache=None):
        table = self.embedding.weight
        x = self.norm_in(table[torch.where(ids < 0, 0, ids)])
        for i, block in enumerate(self.blocks):
            x = block(x, None if cache is None else cache[i])
        return torch.einsum("btd,vd->btv", self.norm_out(x), table)


wrong("no norm_out", "self.norm_out(x)", "x")
wrong("cache ignored", "None if cache is None else cache[i]", "None")
wrong("last place only", "self.norm_out(x), table)", "self.norm_out(x), table)[:, -1]")
wrong(
    "scaled embedding",
    "table[torch.where(ids < 0, 0, ids)])",
    "table[torch.where(ids < 0, 0, ids)]) * table.shape[1] ** 0.5",
)


@right("loop")
def train(model, batch, steps, peak=0.01):
    optimizer = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.99), weight_decay=0.02)
    losses = []
    for step in range(steps):
        ids = batch(step)
        log_p = model(ids[:, :-1]).log_softmax(-1)
        asked = ids[:, 1:]
        real = asked >= 0
        each = -log_p.gather(2, asked.clamp(min=0)[..., None])[..., 0]
        loss = each[real].mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, steps, peak)
        optimizer.step()
        losses.append(loss.item())
    return losses


wrong("rate not set", 'group["lr"] = learning_rate(step, steps, peak)', "pass")
wrong("padding counts", "real = asked >= 0", "real = asked == asked")
wrong(
    "mean of rows' means",
    "loss = each[real].mean()",
    "loss = ((each * real).sum(1) / real.sum(1)).mean()",
)
wrong(
    "clips each parameter",
    "nn.utils.clip_grad_norm_(model.parameters(), 1.0)",
    "[nn.utils.clip_grad_norm_([p], 1.0) for p in model.parameters()]",
)
wrong("divides by all places", "each[real].mean()", "each[real].sum() / real.numel()")


@right("probabilities")
def next_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    def one(row):
        p = (row / temperature).softmax(0)
        order = p.argsort(descending=True)
        kept = order[:top_k] if top_k is not None else order
        q = torch.zeros_like(p)
        q[kept] = p[kept]
        q = q / q.sum()
        if top_p is not None:
            before, stay = 0.0, []
            for i in kept.tolist():
                if before >= top_p:
                    break
                stay.append(i)
                before += float(q[i])
            r = torch.zeros_like(p)
            r[stay] = q[stay]
            q = r / r.sum()
        return q

    flat = logits.reshape(-1, logits.shape[-1])
    return torch.stack([one(row) for row in flat]).reshape(logits.shape)


wrong("no scaling", "q = r / r.sum()", "q = r")
wrong("sorted order", "        return q\n", "        return q.sort(descending=True).values\n")
wrong("returns logits", "        return q\n", "        return q.log()\n")
wrong("top_k 0-based", "order[:top_k]", "order[:top_k + 1]")
wrong("in place", "p = (row / temperature).softmax(0)", "p = row.div_(temperature).softmax(0)")


@right("sampler")
@torch.no_grad()
def sample(model, prompts, length, end, temperature=1.0, top_k=None, top_p=None):
    from book.language_model import next_probabilities

    cache, out, new = model.empty_cache(), [prompts], prompts
    over = torch.zeros(len(prompts), 1, dtype=torch.bool)
    for _ in range(length):
        p = next_probabilities(model(new, cache)[:, -1], temperature, top_k, top_p)
        new = torch.multinomial(p, 1)
        new[over] = -1
        out.append(new)
        over = over | (new == end)
        if over.all():
            break
    return torch.cat(out, 1)


wrong("goes on after the end", "new[over] = -1", "pass")
wrong("no cache", "model(new, cache)", "model(torch.cat(out, 1))")
wrong("without the prompt", "torch.cat(out, 1)", "torch.cat(out[1:], 1)")
wrong(
    "end in the prompt ends the row",
    "over = torch.zeros(len(prompts), 1, dtype=torch.bool)",
    "over = (prompts == end).any(1, keepdim=True)",
)
wrong("one token less", "range(length)", "range(length - 1)")
wrong("first place", "[:, -1], temp", "[:, 0], temp")


@right("judge")
@torch.no_grad()
def distance(model, rows, truth):
    total = 0.0
    log_p = model(rows[:, :-1]).log_softmax(-1)
    for b, row in enumerate(rows.tolist()):
        s = sum(float(log_p[b, t, w]) for t, w in enumerate(row[1:]) if w >= 0)
        total += float(truth[b]) - s
    return total / len(rows)


wrong("sign", "float(truth[b]) - s", "s - float(truth[b])")
wrong(
    "the end is left out",
    "enumerate(row[1:]) if w >= 0)",
    "enumerate(row[1:]) if w >= 0 and t + 2 < len(row) and row[t + 2] >= 0)",
)
wrong("not shifted", "enumerate(row[1:])", "enumerate(row[:-1])")
wrong("truth as probability", "float(truth[b]) - s", "math.exp(float(truth[b])) - s")
wrong("absolute value of each", "total += float(truth[b]) - s", "total += abs(float(truth[b]) - s)")


word_pattern = re.compile(r" ?\w+| ?[^\s\w]+|\s+")


def join_pair(tokens, pair, new):
    merged = []
    for token in tokens:
        if merged and (merged[-1], token) == pair:
            merged[-1] = new
        else:
            merged.append(token)
    return merged


@right("tokenizer")
class OtherTokenizer:
    end = 256

    def __init__(self, text, vocab_size):
        self.pieces = [bytes([i]) for i in range(256)] + [b""]
        self.merges = {}
        counts = Counter(tuple(word.encode("utf-8")) for word in word_pattern.findall(text))
        while len(self.pieces) < vocab_size:
            pairs = Counter()
            for word, count in counts.items():
                for left, right in zip(word, word[1:]):
                    pairs[left, right] += count
            if not pairs:
                break
            best = sorted(pairs, key=lambda pair: (-pairs[pair], pair))[0]
            new = len(self.pieces)
            self.merges[best] = new
            self.pieces.append(self.pieces[best[0]] + self.pieces[best[1]])
            merged = Counter()
            for word, count in counts.items():
                merged[tuple(join_pair(word, best, new))] += count
            counts = merged

    def __len__(self):
        return len(self.pieces)

    def encode(self, text):
        result = []
        for word in word_pattern.findall(text):
            tokens = list(word.encode("utf-8"))
            for pair, new in self.merges.items():
                tokens = join_pair(tokens, pair, new)
            result.extend(tokens)
        return result

    def decode(self, tokens):
        return b"".join(self.pieces[token] for token in tokens).decode("utf-8", errors="replace")


wrong(
    "encode makes the newest merges first",
    "in self.merges.items():",
    "in reversed(self.merges.items()):",
)


@right("norm")
class OtherRMSNorm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(d))

    def forward(self, x):
        mean_square = (x * x).mean(dim=-1, keepdim=True)
        return x / torch.sqrt(mean_square + 1e-6) * self.gain


wrong("the gain is no parameter", "nn.Parameter(torch.ones(d))", "torch.ones(d)")
wrong("no root", "torch.sqrt(mean_square + 1e-6)", "(mean_square + 1e-6)")


@right("rope")
def rotate(x, start=0):
    B, H, T, d_k = x.shape
    half = d_k // 2
    out = torch.empty_like(x)
    positions = torch.arange(start, start + T, device=x.device)
    for i in range(half):
        theta = positions * 10000 ** (-2 * i / d_k)
        a, b = x[..., i], x[..., i + half]
        out[..., i] = a * theta.cos() - b * theta.sin()
        out[..., i + half] = a * theta.sin() + b * theta.cos()
    return out


wrong("ignores start", "torch.arange(start, start + T,", "torch.arange(T,")
wrong(
    "positions along the heads",
    "B, H, T, d_k = x.shape",
    "B, T, H, d_k = x.shape",
    "positions * 10000",
    "positions[:, None] * 10000",
)


wrong(
    "pairs neighbours",
    "x[..., i], x[..., i + half]",
    "x[..., 2 * i], x[..., 2 * i + 1]",
    "out[..., i] =",
    "out[..., 2 * i] =",
    "out[..., i + half] =",
    "out[..., 2 * i + 1] =",
)


@right("attention")
class OtherAttention(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(d, 3 * d, bias=False)
        self.out = nn.Linear(d, d, bias=False)

    def forward(self, x, cache=None):
        B, T, d = x.shape
        d_k = d // self.heads
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (t.reshape(B, T, self.heads, d_k).transpose(1, 2) for t in (q, k, v))
        past = cache["k"].shape[2] if cache else 0
        q, k = _rot(q, past), _rot(k, past)
        if cache is not None:
            if past:
                k = torch.cat([cache["k"], k], dim=2)
                v = torch.cat([cache["v"], v], dim=2)
            cache["k"], cache["v"] = k, v
        scores = q @ k.transpose(-2, -1) / d_k**0.5
        allowed = torch.ones(T, past + T, dtype=torch.bool, device=x.device).tril(past)
        scores = scores.masked_fill(~allowed, float("-inf"))
        y = scores.softmax(-1) @ v
        y = y.transpose(1, 2)
        return self.out(y.reshape(B, T, d))


wrong(
    "heads are not brought behind the positions before they are joined", "y = y.transpose(1, 2)", ""
)
wrong("an empty cache is taken for none", "if cache is not None:", "if cache:")


@right("gate")
class OtherSwiGLU(nn.Module):
    def __init__(self, d):
        super().__init__()
        inner = 8 * d // 3
        self.gate = nn.Linear(d, inner, bias=False)
        self.up = nn.Linear(d, inner, bias=False)
        self.down = nn.Linear(inner, d, bias=False)

    def forward(self, x):
        gate = self.gate(x)
        opened = gate * torch.sigmoid(gate)
        return self.down(opened * self.up(x))


wrong("a sigmoid (GLU)", "gate * torch.sigmoid(gate)", "torch.sigmoid(gate)")
wrong(
    "SiLU behind down",
    "opened = gate * torch.sigmoid(gate)",
    "opened = gate",
    "self.down(opened * self.up(x))",
    "F.silu(self.down(opened * self.up(x)))",
)


class BookBlock(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.norm1, self.attention = _RMS(d), _Att(d, heads)
        self.norm2, self.feed_forward = _RMS(d), _Swi(d)

    def forward(self, x, cache=None):
        x = x + self.attention(self.norm1(x), cache)
        return x + self.feed_forward(self.norm2(x))


@right("model")
class OtherLanguageModel(nn.Module):
    def __init__(self, vocab_size, d=64, layers=2, heads=4):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d)
        self.norm_in = _RMS(d)
        self.blocks = nn.ModuleList(BookBlock(d, heads) for _ in range(layers))
        self.norm_out = _RMS(d)
        for name, weight in self.named_parameters():
            if weight.dim() == 2:  # what adds to the stream begins smaller
                adds = name.endswith(("out.weight", "down.weight"))
                scale = (2 * layers) ** -0.5 if adds else 1.0
                first = weight is self.embedding.weight
                std = 0.02 if first else weight.shape[1] ** -0.5
                nn.init.normal_(weight, std=scale * std)

    def empty_cache(self):
        return [{} for _ in self.blocks]

    def forward(self, ids, cache=None):
        x = self.embedding(ids.clamp(min=0))
        x = self.norm_in(x)
        for number, block in enumerate(self.blocks):
            x = block(x, None if cache is None else cache[number])
        x = self.norm_out(x)
        return x @ self.embedding.weight.T


wrong("no norm at the end", "x = self.norm_out(x)", "")
wrong("the first block each time", "x = block(", "x = self.blocks[0](")


wrong(
    "log-probabilities, not logits",
    "self.embedding.weight.T",
    "self.embedding.weight.T).log_softmax(-1)",
    "return x",
    "return (x",
)


@right("loop")
def train(model, batch, steps, peak=0.01):
    optimizer = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.99), weight_decay=0.02)
    losses = []
    for step in range(steps):
        ids = batch(step)
        logits = model(ids[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten(), ignore_index=-1)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.param_groups[0]["lr"] = learning_rate(step, steps, peak)
        optimizer.step()
        losses.append(loss.item())
    return losses


wrong(
    "clipped after the optimizer's step",
    "        nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n",
    "",
    "optimizer.step()",
    "optimizer.step()\n        nn.utils.clip_grad_norm_(model.parameters(), 1.0)",
)
wrong("the last loss alone", "return losses", "return losses[-1:]")


@right("probabilities")
def next_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    p = torch.softmax(logits / temperature, dim=-1)
    p, order = torch.sort(p, dim=-1, descending=True)
    if top_k is not None:
        p = torch.cat([p[..., :top_k], torch.zeros_like(p[..., top_k:])], dim=-1)
        total = p.sum(dim=-1, keepdim=True)
        p = p / total
    if top_p is not None:
        before = p.cumsum(dim=-1) - p
        p = p * (before < top_p)
        p = p / p.sum(dim=-1, keepdim=True)
    return torch.zeros_like(p).scatter(-1, order, p)


wrong("gather for scatter", "torch.zeros_like(p).scatter(-1, order, p)", "p.gather(-1, order)")


@right("sampler")
def sample(model, prompts, length, end, temperature=1.0, top_k=None, top_p=None):
    with torch.no_grad():
        cache = model.empty_cache()
        ended = torch.zeros(len(prompts), 1, dtype=torch.bool, device=prompts.device)
        ids, read = prompts, prompts
        for _ in range(length):
            logits = model(read, cache)[:, -1]
            p = book_probabilities(logits, temperature, top_k, top_p)
            drawn = torch.multinomial(p, 1)
            new = drawn.masked_fill(ended, -1)
            ended = ended | (drawn == end)
            ids = torch.cat([ids, new], dim=1)
            read = new
            if ended.all():
                break
        return ids


wrong("stops when one row has ended", "ended.all()", "ended.any()")


wrong(
    "top_k and top_p are not handed on",
    "(logits, temperature, top_k, top_p)",
    "(logits, temperature)",
)


@right("judge")
def distance(model, rows, truth):
    with torch.no_grad():
        log_p = model(rows[:, :-1]).log_softmax(-1)
    targets = rows[:, 1:]
    picked = log_p.gather(-1, targets.clamp(min=0)[..., None])[..., 0]
    sentence = picked.masked_fill(targets < 0, 0.0).sum(1)
    return (truth - sentence).mean().item()


wrong("the other way round", "truth - sentence", "sentence - truth")


@right("norm")
class Norm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(d))

    def forward(self, x):
        root = torch.sqrt(torch.mean(x * x, dim=-1, keepdim=True) + 1e-6)
        return x / root * self.gain


wrong("the small number behind the root", "keepdim=True) + 1e-6)", "keepdim=True)) + 1e-6")


@right("rope")
def rope(x, start=0):
    T, d = x.shape[-2:]
    speeds = 10000.0 ** (-torch.arange(0, d, 2) / d)
    times = torch.arange(start, start + T)
    theta = torch.outer(times.float(), speeds).to(x.device)
    a, b = x[..., : d // 2], x[..., d // 2 :]
    cos, sin = theta.cos(), theta.sin()
    return torch.cat((a * cos - b * sin, a * sin + b * cos), dim=-1)


wrong(
    "turned the other way",
    "(a * cos - b * sin, a * sin + b * cos)",
    "(a * cos + b * sin, b * cos - a * sin)",
)


@right("attention")
class Attend(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(d, 3 * d, bias=False)
        self.out = nn.Linear(d, d, bias=False)

    def forward(self, x, cache=None):
        B, T, d = x.shape
        q, k, v = self.qkv(x).split(d, dim=-1)
        shape = (B, T, self.heads, d // self.heads)
        q, k, v = (part.reshape(shape).permute(0, 2, 1, 3) for part in (q, k, v))
        past = 0
        if cache:
            past = cache["k"].shape[2]
        q, k = _rot(q, past), _rot(k, past)
        if cache is not None:
            if past:
                k = torch.cat([cache["k"], k], dim=2)
                v = torch.cat([cache["v"], v], dim=2)
            cache["k"], cache["v"] = k, v
        scores = q @ k.transpose(-1, -2) / (d // self.heads) ** 0.5
        rows = torch.arange(past, past + T, device=x.device)[:, None]
        columns = torch.arange(past + T, device=x.device)[None, :]
        scores = scores.masked_fill(columns > rows, -torch.inf)
        mixed = scores.softmax(-1) @ v
        return self.out(mixed.permute(0, 2, 1, 3).reshape(B, T, d))


wrong(
    "the mask forgets the past: rows from 0",
    "torch.arange(past, past + T, device",
    "torch.arange(T, device",
)


@right("gate")
class Gate(nn.Module):
    def __init__(self, d):
        super().__init__()
        inner = 8 * d // 3
        self.gate = nn.Linear(d, inner, bias=False)
        self.up = nn.Linear(d, inner, bias=False)
        self.down = nn.Linear(inner, d, bias=False)

    def forward(self, x):
        g = self.gate(x)
        return self.down(g * torch.sigmoid(g) * self.up(x))


wrong("adds gate and up", "torch.sigmoid(g) * self.up", "torch.sigmoid(g) + self.up")


@right("model")
class Model(nn.Module):
    def __init__(self, vocab_size, d=64, layers=2, heads=4):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d)
        self.norm_in = _RMS(d)
        self.blocks = nn.ModuleList(BookBlock(d, heads) for _ in range(layers))
        self.norm_out = _RMS(d)
        for name, weight in self.named_parameters():
            if weight.dim() == 2:  # what adds to the stream begins smaller
                adds = name.endswith(("out.weight", "down.weight"))
                scale = (2 * layers) ** -0.5 if adds else 1.0
                first = weight is self.embedding.weight
                std = 0.02 if first else weight.shape[1] ** -0.5
                nn.init.normal_(weight, std=scale * std)

    def empty_cache(self):
        return [{} for _ in self.blocks]

    def forward(self, ids, cache=None):
        x = self.norm_in(self.embedding(torch.where(ids < 0, 0, ids)))
        for i, block in enumerate(self.blocks):
            x = block(x, None if cache is None else cache[i])
        return F.linear(self.norm_out(x), self.embedding.weight)


wrong(
    "-1 is read as the last token",
    "torch.where(ids < 0, 0, ids)",
    "ids % self.embedding.num_embeddings",
)


@right("loop")
def train(model, batch, steps, peak=0.01):
    optimizer = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.99), weight_decay=0.02)
    losses = []
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, steps, peak)
        ids = batch(step)
        inputs, targets = ids[:, :-1], ids[:, 1:]
        log_p = F.log_softmax(model(inputs), dim=-1)
        picked = log_p.gather(-1, targets.clamp(min=0).unsqueeze(-1)).squeeze(-1)
        there = targets != -1
        loss = -picked[there].mean()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


wrong(
    "the mean of each row's mean",
    "-picked[there].mean()",
    "-((picked * there).sum(1) / there.sum(1)).mean()",
)


@right("probabilities")
def next_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    p = torch.softmax(logits / temperature, dim=-1)
    order = p.argsort(dim=-1, descending=True, stable=True)
    ranked = p.gather(-1, order)
    if top_k is not None:
        ranked = torch.cat([ranked[..., :top_k], torch.zeros_like(ranked[..., top_k:])], -1)
        ranked = ranked / ranked.sum(-1, keepdim=True)
    if top_p is not None:
        before = ranked.cumsum(-1) - ranked
        ranked = ranked.masked_fill(before >= top_p, 0)
        ranked = ranked / ranked.sum(-1, keepdim=True)
    return torch.zeros_like(p).scatter(-1, order, ranked)


wrong("the ranks are right but a token at exactly p stays", "before >= top_p", "before > top_p")


@right("sampler")
@torch.no_grad()
def sample(model, prompts, length, end, temperature=1.0, top_k=None, top_p=None):
    from book.language_model import next_probabilities

    rows = prompts
    cache = model.empty_cache()
    read = prompts
    ended = torch.zeros(len(prompts), 1, dtype=torch.bool, device=prompts.device)
    for _ in range(length):
        logits = model(read, cache)[:, -1]
        p = next_probabilities(logits, temperature, top_k, top_p)
        drawn = torch.multinomial(p, 1).masked_fill(ended, -1)
        rows = torch.cat([rows, drawn], dim=1)
        ended = ended | (drawn == end)
        read = drawn
        if ended.all():
            break
    return rows


wrong(
    "top_k and top_p are not handed on",
    "next_probabilities(logits, temperature, top_k, top_p)",
    "next_probabilities(logits, temperature)",
)


@right("judge")
@torch.no_grad()
def read_by(model, rows, truth):
    target = rows[:, 1:]
    logp = model(rows[:, :-1]).log_softmax(dim=-1)
    logp = logp.gather(-1, target.clamp(min=0)[..., None])[..., 0]
    logp = logp.masked_fill(target == -1, 0.0)
    return (truth - logp.sum(dim=1)).mean().item()


wrong("the truth is left out", "(truth - logp", "(-logp")


@right("loop")
def train(model, batch, steps, peak=0.01):
    optimizer = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.99), weight_decay=0.02)
    losses = []
    k = 0
    while k < steps:
        optimizer.param_groups[0]["lr"] = learning_rate(k, steps, peak)
        rows = batch(k)
        logits = model(rows[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), rows[:, 1:], ignore_index=-1)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1)
        optimizer.step()
        losses.append(float(loss.detach()))
        k += 1
    return losses


wrong(
    "rate is never set: AdamW's 0.001 throughout",
    '        optimizer.param_groups[0]["lr"] = learning_rate(k, steps, peak)',
    "",
)


@right("judge")
@torch.no_grad()
def distance(model, rows, truth):
    log_p = torch.log_softmax(model(rows[:, :-1]), dim=-1)
    asked = rows[:, 1:]
    each = log_p.gather(2, asked.clamp(min=0)[..., None])[..., 0]
    each = torch.where(asked >= 0, each, torch.zeros_like(each))
    of_model = each.sum(dim=1)
    return (truth - of_model).mean().item()


wrong(
    "mean over the tokens of a sentence instead of their sum",
    "=1)",
    "=1) / (asked >= 0).sum(dim=1)",
)
