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
    sample,
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
from companion.models import GPT
from companion.nn import RotaryEmbedding
from companion.training import fit
from tests.book.answers import right, wrong

# 1. Text to tokens


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


@wrong(tokenizer, "merges reach across words")
class OneWord(CountsAgain):
    def __init__(self, text, vocab_size):
        super().__init__("", 257)
        tokens = list(text.encode())
        self.words = lambda text: [text] if text else []
        while len(self.pieces) < vocab_size and len(tokens) > 1:
            pairs = Counter(pairwise(tokens))
            best = min(pairs, key=lambda pair: (-pairs[pair], pair))
            self.merges.append(best)
            self.pieces.append(self.pieces[best[0]] + self.pieces[best[1]])
            tokens = self.merge(tokens, best, len(self.pieces) - 1)


@wrong(tokenizer, "a text is encoded word by word")
class EncodesAcross(CountsAgain):
    def encode(self, text):
        self.words = lambda text: [text] if text else []
        return super().encode(text)


def first_place_only(tokens, pair, new):
    tokens = list(tokens)
    places = [i for i, found in enumerate(pairwise(tokens)) if found == pair]
    for i in places[:1]:
        tokens[i : i + 2] = [new]
    return tokens


@wrong(tokenizer, "merged at both places")
class EncodesOnePlace(CountsAgain):
    def encode(self, text):
        self.merge = first_place_only
        return super().encode(text)


@wrong(tokenizer, "merged at both places while learning")
class LearnsOnePlace(CountsAgain):
    def __init__(self, text, vocab_size):
        self.merge = first_place_only
        super().__init__(text, vocab_size)
        del self.merge


@wrong(tokenizer, "when this was tried: when every word is one token")
class NeedsAPair(CountsAgain):
    def __init__(self, text, vocab_size):
        super().__init__(text, vocab_size)
        if len(self.pieces) < vocab_size:
            max(())


@wrong(tokenizer, "numbers of characters, not of bytes")
class CodePoints(CountsAgain):
    def encode(self, text):
        return [ord(letter) for letter in text]


@wrong(tokenizer, "a pair counts as often as its word stands in the text")
class DifferentWords(CountsAgain):
    def __init__(self, text, vocab_size):
        super().__init__("", 257)
        words = dict.fromkeys(self.words(text))
        super().__init__("".join(words), vocab_size)


@wrong(tokenizer, "the leftmost known pair is merged")
class LeftmostFirst(CountsAgain):
    def encode(self, text):
        out = []
        for word in self.words(text):
            tokens = list(word.encode())
            while found := [i for i, pair in enumerate(pairwise(tokens)) if pair in self.merges]:
                i = found[0]
                tokens[i : i + 2] = [257 + self.merges.index((tokens[i], tokens[i + 1]))]
            out += tokens
        return out


@wrong(tokenizer, "the older left token comes first")
class FirstSeen(CountsAgain):
    def __init__(self, text, vocab_size):
        super().__init__("", 257)
        words = Counter(tuple(word.encode()) for word in self.words(text))
        while len(self.pieces) < vocab_size:
            pairs = Counter()
            for word, count in words.items():
                for pair in pairwise(word):
                    pairs[pair] += count
            if not pairs:
                break
            ((best, _),) = pairs.most_common(1)
            self.merges.append(best)
            self.pieces.append(self.pieces[best[0]] + self.pieces[best[1]])
            words = Counter(
                {tuple(self.merge(w, best, len(self.pieces) - 1)): n for w, n in words.items()}
            )


@wrong(tokenizer, "this is ours")
class _Taken:
    pass


_Taken.__module__ = Tokenizer.__module__


@wrong(tokenizer, "encode puts the end in front")
class EndInFront(CountsAgain):
    def encode(self, text):
        return [256, *super().encode(text)]


@wrong(tokenizer, "the length leaves out the end")
class NoEnd(CountsAgain):
    def __len__(self):
        return 256 + len(self.merges)


@wrong(tokenizer, "becomes token 257")
class EndOverwritten(CountsAgain):
    def encode(self, text):
        return [token - (token > 256) for token in super().encode(text)]


@wrong(tokenizer, "a merged token takes part in the next merge")
class CountsOnce(CountsAgain):
    def __init__(self, text, vocab_size):
        super().__init__("", 257)
        pairs = Counter(pair for word in self.words(text) for pair in pairwise(word.encode()))
        self.merges = sorted(pairs, key=lambda pair: (-pairs[pair], pair))[: vocab_size - 257]
        self.pieces += [bytes(pair) for pair in self.merges]


@wrong(tokenizer, "the left two are merged")
class FromTheRight(CountsAgain):
    def merge(self, tokens, pair, new):
        return super().merge(tokens[::-1], pair[::-1], new)[::-1]


@wrong(tokenizer, "there is nothing left to merge")
class AsLongAsAsked(CountsAgain):
    def __init__(self, text, vocab_size):
        super().__init__(text, vocab_size)
        self.asked = vocab_size

    def __len__(self):
        return self.asked


@wrong(tokenizer, "what is decoded is what was encoded")
class ByteByByte(CountsAgain):
    def decode(self, tokens):
        return "".join(chr(byte) for token in tokens for byte in self.pieces[token])


@wrong(tokenizer, "encode appends the end")
class EndBehind(CountsAgain):
    def encode(self, text):
        return [*super().encode(text), 256]


@wrong(tokenizer, "one token too many is learned")
class EndNotCounted(CountsAgain):
    def __init__(self, text, vocab_size):
        super().__init__(text, vocab_size + 1)


@wrong(tokenizer, "a pair is counted once for each word")
class OncePerWord(CountsAgain):
    def __init__(self, text, vocab_size):
        super().__init__("", 257)
        words = [list(word.encode()) for word in self.words(text)]
        while len(self.pieces) < vocab_size:
            pairs = Counter()
            for word in words:
                pairs.update(set(pairwise(word)))
            if not pairs:
                break
            best = sorted(pairs, key=lambda pair: (-pairs[pair], pair))[0]
            self.merges.append(best)
            self.pieces.append(self.pieces[best[0]] + self.pieces[best[1]])
            words = [self.merge(word, best, 256 + len(self.merges)) for word in words]


@wrong(tokenizer, "the merges are made from the last to the first")
class LastMergeFirst(CountsAgain):
    def encode(self, text):
        out = []
        for word in self.words(text):
            tokens = list(word.encode())
            for number in range(len(self.merges) - 1, -1, -1):
                tokens = self.merge(tokens, self.merges[number], 257 + number)
            out += tokens
        return out


@wrong(tokenizer, "each token is decoded by itself")
class TokenByToken(CountsAgain):
    def decode(self, tokens):
        return "".join(super(TokenByToken, self).decode([token]) for token in tokens)


# 2. A norm


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


@wrong(norm, "that is a layer norm")
class Centred(ByNorm):
    def forward(self, x):
        x = x - x.mean(-1, keepdim=True)
        return self.gain * x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt()


@wrong(norm, "the sum of squares, not their mean")
class UnitLength(ByNorm):
    def forward(self, x):
        return self.gain * x / (x.norm(dim=-1, keepdim=True) + 1e-6)


@wrong(norm, "the gain is added")
class GainAdded(ByNorm):
    def forward(self, x):
        return self.gain + x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt()


@wrong(norm, "the gain is not used")
class GainUnused(ByNorm):
    def forward(self, x):
        return x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt()


@wrong(norm, "the gain goes into the norm")
class GainInside(ByNorm):
    def forward(self, x):
        x = self.gain * x
        return x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt()


@wrong(norm, "the root is missing")
class NoRoot(ByNorm):
    def forward(self, x):
        return self.gain * x / (x.square().mean(-1, keepdim=True) + 1e-6)


@wrong(norm, "one root for everything")
class OverTheBatch(ByNorm):
    def forward(self, x):
        return self.gain * x / (x.square().mean() + 1e-6).sqrt()


@wrong(norm, "a vector of zeros stays one")
class NoEpsilon(ByNorm):
    def forward(self, x):
        return self.gain * x / x.square().mean(-1, keepdim=True).sqrt()


@wrong(norm, "only 1e-6 is added")
class LargeEpsilon(ByNorm):
    def forward(self, x):
        return self.gain * x / (x.square().mean(-1, keepdim=True) + 1e-3).sqrt()


@wrong(norm, "add it under the root")
class BehindTheRoot(ByNorm):
    def forward(self, x):
        return self.gain * x / (x.square().mean(-1, keepdim=True).sqrt() + 1e-6)


@wrong(norm, "every entry has a gain of its own")
class ScalarGain(ByNorm):
    def __init__(self, d):
        super().__init__(d)
        self.gain = nn.Parameter(torch.ones(1))


@wrong(norm, "the gain is a plain tensor")
class FixedGain(ByNorm):
    def __init__(self, d):
        super().__init__(d)
        del self.gain
        self.gain = torch.ones(d)


@wrong(norm, "there is one gain for each entry")
class OneGain(ByNorm):
    def forward(self, x):
        return super().forward(x) / self.gain * self.gain.mean()


@wrong(norm, "the gain begins at 0")
class ZeroGain(ByNorm):
    def __init__(self, d):
        super().__init__(d)
        self.gain = nn.Parameter(torch.zeros(d))


# 3. Turn by the position


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


@wrong(rope, "neighbouring entries are paired")
def interleaved(x, start=0):
    T, d_k = x.shape[-2:]
    speeds = 10_000 ** (-torch.arange(0, d_k, 2) / d_k)
    angle = torch.arange(start, start + T)[:, None] * speeds
    a, b = x[..., ::2], x[..., 1::2]
    out = torch.empty_like(x)
    out[..., ::2] = a * angle.cos() - b * angle.sin()
    out[..., 1::2] = a * angle.sin() + b * angle.cos()
    return out


@wrong(rope, "it turns the other way")
def backwards(x, start=0):
    a, b = complex_numbers(torch.cat(x.chunk(2, -1)[::-1], -1), start).chunk(2, -1)
    return torch.cat([b, a], -1)


@wrong(rope, "positions begin at 1")
def from_one(x, start=0):
    return complex_numbers(x, start + 1)


@wrong(rope, "all pairs turn at the same speed")
def one_speed(x, start=0):
    angle = torch.arange(start, start + x.shape[-2])[:, None]
    a, b = x.chunk(2, -1)
    return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1)


@wrong(rope, "half as fast")
def exponent_of_half(x, start=0):
    T, d_k = x.shape[-2:]
    speeds = 10_000 ** (-torch.arange(d_k // 2) / d_k)
    angle = torch.arange(start, start + T)[:, None] * speeds
    a, b = x.chunk(2, -1)
    return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1)


@wrong(rope, "start is left out")
def no_start(x, start=0):
    return complex_numbers(x)


@wrong(rope, "RotaryEmbedding of companion.nn")
def the_books(x, start=0):
    positions = torch.arange(start, start + x.shape[-2])
    return RotaryEmbedding(x.shape[-1], pairing="half")(x, positions)


@wrong(rope, "batches and heads are turned alike")
def later_for_later_rows(x, start=0):
    return torch.cat([complex_numbers(row[None], start + i) for i, row in enumerate(x)])


def turned_by(x, angle, minus=-1, plus=1):
    a, b = x.chunk(2, -1)
    c, s = torch.cos(angle), torch.sin(angle)
    return torch.cat([a * c + minus * b * s, a * s + plus * b * c], -1)


def angles(x, start=0, base=10_000):
    d_k = x.shape[-1]
    return torch.outer(
        torch.arange(start, start + x.shape[-2]).float(), base ** (-torch.arange(0, d_k, 2) / d_k)
    )


@wrong(rope, "the second entry of a pair")
def minus_below(x, start=0):
    return turned_by(x, angles(x, start), plus=-1)


@wrong(rope, "the first entry of a pair")
def plus_above(x, start=0):
    return turned_by(x, angles(x, start), minus=1)


@wrong(rope, "the angles are taken for degrees")
def in_degrees(x, start=0):
    return turned_by(x, angles(x, start) * math.pi / 180)


@wrong(rope, "positions run along the heads")
def by_head(x, start=0):
    return torch.cat([turned_by(x[:, h : h + 1], angles(x[:, :1, :1], start + h))
                      for h in range(x.shape[1])], 1)  # fmt: skip


@wrong(rope, "start is taken for the last position")
def back_from_start(x, start=0):
    return turned_by(x, angles(x, start + 1 - x.shape[-2]))


@wrong(rope, "the base of the speeds is 1,000")
def smaller_base(x, start=0):
    return turned_by(x, angles(x, start, base=1000))


# 4. Attention with a memory


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
        q, k = self.turned(q, k, past)
        if cache is not None:
            k = torch.cat([cache["k"], k], dim=2) if past else k
            v = torch.cat([cache["v"], v], dim=2) if past else v
            cache["k"], cache["v"] = self.kept(k, v)
        scores = q @ k.transpose(-1, -2) / self.root(d)
        scores = scores.masked_fill(~self.places(T, past), float("-inf"))
        y = scores.softmax(dim=-1) @ v
        return self.out(self.joined(y))

    def turned(self, q, k, past):
        return rotate(q, past), rotate(k, past)

    def root(self, d):
        return (d // self.heads) ** 0.5

    def kept(self, k, v):
        return k, v

    def joined(self, y):
        return y.permute(0, 2, 1, 3).flatten(2)


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


@wrong(attention, "the future is seen")
class Everybody(ByHand):
    def places(self, T, past):
        return torch.ones(T, past + T, dtype=torch.bool)


@wrong(attention, "queries and keys are not turned")
class Unturned(ByHand):
    def turned(self, q, k, past):
        return q, k


@wrong(attention, "the keys are not")
class QueriesTurned(ByHand):
    def turned(self, q, k, past):
        return rotate(q, past), k


@wrong(attention, "not divided by √d_k")
class NoRoot2(ByHand):
    def root(self, d):
        return 1.0


@wrong(attention, "divided by √d;")
class RootOfAll(ByHand):
    def root(self, d):
        return d**0.5


@wrong(attention, "transpose, then flatten")
class MixedUp(ByHand):
    def joined(self, y):
        B, H, T, d_k = y.shape
        return y.reshape(B, T, H * d_k)


@wrong(attention, "only the newest key is kept")
class Forgetful(ByHand):
    def kept(self, k, v):
        return k[:, :, -1:], v[:, :, -1:]


@wrong(attention, "only the newest keys and values are kept")
class KeepsTheNew(ByHand):
    def forward(self, x, cache=None):
        y = super().forward(x, cache)
        for name, kept in (cache or {}).items():
            cache[name] = kept[:, :, -x.shape[1] :]
        return y


@wrong(attention, "as if it were the first")
class AlwaysFirst(ByHand):
    def turned(self, q, k, past):
        return rotate(q), rotate(k)


@wrong(attention, "sees the first key only")
class TopLeft(ByHand):
    def places(self, T, past):
        return torch.ones(T, past + T, dtype=torch.bool).tril()


@wrong(attention, "several new positions see each other")
class NoMaskWithCache(ByHand):
    def places(self, T, past):
        return torch.ones(T, past + T, dtype=torch.bool).tril(past + 99 if past else 0)


@wrong(attention, "the output matrix `out` is not used")
class NoOut(ByHand):
    def forward(self, x, cache=None):
        out, self.out = self.out, nn.Identity()
        y = super().forward(x, cache)
        self.out = out
        return y


@wrong(attention, "a position does not see itself")
class NotItself(ByHand):
    def places(self, T, past):
        seen = torch.arange(past, past + T)[:, None] > torch.arange(past + T)
        seen[0] |= past == 0
        return seen


@wrong(attention, "the values are turned as well")
class ValuesTurned(ByHand):
    def forward(self, x, cache=None):
        B, T, d = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        scores = rotate(q) @ rotate(k).mT / self.root(d)
        weights = scores.masked_fill(~self.places(T, 0), -math.inf).softmax(-1)
        return self.out(self.joined(weights @ rotate(v)))


@wrong(attention, "divided by d_k, not by its root")
class NoRootAtAll(ByHand):
    def root(self, d):
        return d / self.heads


@wrong(attention, "the cache stays empty")
class Ignores(ByHand):
    def forward(self, x, cache=None):
        return super().forward(x)


@wrong(attention, "keys come first, then queries")
class KeysFirst(ByHand):
    def turned(self, q, k, past):
        return rotate(k, past), rotate(q, past)


@wrong(attention, "the cache holds unturned keys")
class UnturnedInCache(ByHand):
    def forward(self, x, cache=None):
        y = super().forward(x, cache)
        if cache:
            B, T, d = x.shape
            keys = self.qkv(x)[..., d : 2 * d].view(B, T, self.heads, -1).transpose(1, 2)
            cache["k"] = torch.cat([cache["k"][:, :, :-T], keys], dim=2)
        return y


@wrong(attention, "new keys stand in front of the old ones")
class NewInFront(ByHand):
    def forward(self, x, cache=None):
        B, T = x.shape[:2]
        q, k, v = self.qkv(x).view(B, T, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        past = cache["k"].shape[2] if cache else 0
        q, k = self.turned(q, k, past)
        if past:
            k, v = torch.cat([k, cache["k"]], 2), torch.cat([v, cache["v"]], 2)
        if cache is not None:
            cache["k"], cache["v"] = k, v
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=self.places(T, past))
        return self.out(self.joined(y))


# 5. A gate


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


@wrong(gate, "`up` goes through SiLU")
class Swapped(Spelled):
    def forward(self, x):
        return self.down(self.gate(x) * F.silu(self.up(x)))


@wrong(gate, "the gate is a sigmoid")
class Glu(Spelled):
    def forward(self, x):
        return self.down(torch.sigmoid(self.gate(x)) * self.up(x))


@wrong(gate, "they are multiplied")
class Added(Spelled):
    def forward(self, x):
        return self.down(F.silu(self.gate(x)) + self.up(x))


@wrong(gate, "there is no non-linearity")
class Linear(Spelled):
    def forward(self, x):
        return self.down(self.gate(x) * self.up(x))


@wrong(gate, "`up` is not used")
class NoUp(Spelled):
    def forward(self, x):
        return self.down(F.silu(self.gate(x)))


@wrong(gate, "there is no bias")
class Biased(Spelled):
    def __init__(self, d):
        super().__init__(d)
        self.down = nn.Linear(8 * d // 3, d)


@wrong(gate, "every position is treated alike")
class OnlyTheLast(Spelled):
    def forward(self, x):
        return super().forward(x[..., -1, :] if x.dim() > 1 else x)


@wrong(gate, "`up` goes through SiLU as well")
class BothThrough(Spelled):
    def forward(self, x):
        return self.down(nn.SiLU()(self.gate(x)) * nn.SiLU()(self.up(x)))


@wrong(gate, "SiLU is taken of the product")
class OfTheProduct(Spelled):
    def forward(self, x):
        product = self.gate(x) * self.up(x)
        return self.down(product * torch.sigmoid(product))


@wrong(gate, "the gate goes through GELU")
class GeGlu(Spelled):
    def forward(self, x):
        return self.down(nn.GELU()(self.gate(x)) * self.up(x))


@wrong(gate, "the gate goes through ReLU")
class ReGlu(Spelled):
    def forward(self, x):
        return self.down(self.gate(x).clamp(min=0) * self.up(x))


@wrong(gate, "x is added")
class WithResidual(Spelled):
    def forward(self, x):
        return super().forward(x) + x


# 6. The whole model


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


@wrong(model, "the embedding is not normed")
class NoNormIn(Whole):
    def begin(self, ids):
        return self.embedding(ids.clamp(min=0))


@wrong(model, "the last norm is missing")
class NoNormOut(Whole):
    def end(self, x):
        return x @ self.embedding.weight.T


@wrong(model, "return the logits")
class Probabilities(Whole):
    def end(self, x):
        return super().end(x).softmax(-1)


@wrong(model, "there is one such matrix")
class Untied(Whole):
    def __init__(self, vocab_size, d=64, layers=2, heads=4):
        super().__init__(vocab_size, d, layers, heads)
        self.head = nn.Linear(d, vocab_size, bias=False) if layers else None

    def end(self, x):
        return super().end(x)


@wrong(model, "only one block is used")
class OneBlock(Whole):
    def forward(self, ids, cache=None):
        return self.end(self.blocks[0](self.begin(ids)) if self.blocks else self.begin(ids))


@wrong(model, "it raised IndexError")
class NoClamp(Whole):
    def begin(self, ids):
        return self.norm_in(self.embedding(ids))


@wrong(model, "it is read like token 0")
class LastForMissing(Whole):
    def begin(self, ids):
        return self.norm_in(self.embedding(ids % self.embedding.num_embeddings))


@wrong(model, "all blocks share one cache")
class Shared(Whole):
    def empty_cache(self):
        one = {}
        return [one for _ in self.blocks]


@wrong(model, "companion of companion")
class NamedInFull(Whole):
    def forward(self, ids, cache=None):
        import companion

        return companion.models.GPT(ids)


@wrong(model, "GPT of companion.models")
class TheBooks(Whole):
    def forward(self, ids, cache=None):
        return GPT(ids)


@wrong(model, "the cache is not handed on")
class NotHandedOn(Whole):
    def forward(self, ids, cache=None):
        return super().forward(ids)


@wrong(model, "`norm_in` is used at both ends")
class OneNorm(Whole):
    def end(self, x):
        return F.linear(self.norm_in(x), self.embedding.weight)


@wrong(model, "from the last to the first")
class LastBlockFirst(Whole):
    def forward(self, ids, cache=None):
        x = self.begin(ids)
        for i in reversed(range(len(self.blocks))):
            x = self.blocks[i](x, cache[i] if cache else None)
        return self.end(x)


@wrong(model, "the block has done that already")
class AddsTwice(Whole):
    def forward(self, ids, cache=None):
        x = self.begin(ids)
        for i, block in enumerate(self.blocks):
            x = block(x, cache[i] if cache else None) + x
        return self.end(x)


# 7. The loop


def optimizer_of(model):
    return torch.optim.AdamW(model.parameters(), betas=(0.9, 0.99), weight_decay=0.02)


def steps_of(model, batch, steps, peak, loss_of, *, zero=True, clip=True, rate=learning_rate):
    optimizer, losses = optimizer_of(model), []
    for step in range(steps):
        loss = loss_of(model, batch(step))
        losses.append(loss.item())
        if zero:
            optimizer.zero_grad()
        loss.backward()
        if clip:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.param_groups[0]["lr"] = rate(step, steps, peak)
        optimizer.step()
    return losses


def cross_entropy(model, ids, **how):
    return F.cross_entropy(
        model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten(), ignore_index=-1, **how
    )


@right(loop)
def by_cross_entropy(model, batch, steps, peak=0.01):
    return steps_of(model, batch, steps, peak, cross_entropy)


@right(loop)
def by_log_probs(model, batch, steps, peak=0.01):
    def loss_of(model, ids):
        return -log_probs(model, ids).sum() / (ids[:, 1:] >= 0).sum()

    return torch.tensor(steps_of(model, batch, steps, peak, loss_of))


@wrong(loop, "not the next one")
def reads_and_predicts_the_same(model, batch, steps, peak=0.01):
    def loss_of(model, ids):
        ids = ids[:, :-1]
        return F.cross_entropy(model(ids).flatten(0, 1), ids.flatten(), ignore_index=-1)

    return steps_of(model, batch, steps, peak, loss_of)


@wrong(loop, "take their mean")
def summed(model, batch, steps, peak=0.01):
    def loss_of(model, ids):
        return cross_entropy(model, ids, reduction="sum")

    return steps_of(model, batch, steps, peak, loss_of)


@wrong(loop, "what is missing counts in the mean")
def over_all_places(model, batch, steps, peak=0.01):
    return steps_of(model, batch, steps, peak, lambda model, ids: -log_probs(model, ids).mean())


@wrong(loop, "a mean of the rows' means")
def row_by_row(model, batch, steps, peak=0.01):
    def loss_of(model, ids):
        return -(log_probs(model, ids).sum(1) / (ids[:, 1:] >= 0).sum(1)).mean()

    return steps_of(model, batch, steps, peak, loss_of)


@wrong(loop, "the steps are counted from 1")
def from_step_one(model, batch, steps, peak=0.01):
    return steps_of(model, lambda step: batch(step + 1), steps, peak, cross_entropy)


@wrong(loop, "call zero_grad")
def never_zeroed(model, batch, steps, peak=0.01):
    return steps_of(model, batch, steps, peak, cross_entropy, zero=False)


@wrong(loop, "the rate stays at its peak")
def constant_rate(model, batch, steps, peak=0.01):
    return steps_of(model, batch, steps, peak, cross_entropy, rate=lambda step, steps, peak: peak)


@wrong(loop, "losses are plain numbers")
def losses_with_their_graphs(model, batch, steps, peak=0.01):
    losses = []

    def remembered(model, ids):
        losses.append(cross_entropy(model, ids))
        return losses[-1]

    steps_of(model, batch, steps, peak, remembered)
    return losses


@wrong(loop, "the gradient is not clipped when the step is made")
def unclipped(model, batch, steps, peak=0.01):
    return steps_of(model, batch, steps, peak, cross_entropy, clip=False)


@wrong(loop, "fit of companion.training")
def ready_made(model, batch, steps, peak=0.01):
    return fit(model, batch, steps=steps).loss


@wrong(loop, "only the last loss is returned")
def the_last_alone(model, batch, steps, peak=0.01):
    return by_cross_entropy(model, batch, steps, peak)[-1]


@wrong(loop, "the weights never change")
def never_stepped(model, batch, steps, peak=0.01):
    optimizer, losses = optimizer_of(model), []
    for step in range(steps):
        loss = cross_entropy(model, batch(step))
        optimizer.zero_grad()
        loss.backward()
        losses.append(loss.item())
    return losses


@wrong(loop, "the rate is that of step + 1")
def counted_rate(model, batch, steps, peak=0.01):
    return steps_of(
        model,
        batch,
        steps,
        peak,
        cross_entropy,
        rate=lambda k, n, top: learning_rate(k + 1, n, top),
    )


@wrong(loop, "the rate is set after the step")
def rate_too_late(model, batch, steps, peak=0.01):
    optimizer, losses = optimizer_of(model), []
    for step in range(steps):
        loss = cross_entropy(model, batch(step))
        losses.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, steps, peak)
    return losses


# 8. Heat and cut


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


@wrong(probabilities, "multiplied by the temperature")
def times(logits, temperature=1.0, top_k=None, top_p=None):
    return sorted_back(logits * temperature, 1.0, top_k, top_p)


@wrong(probabilities, "the temperature does nothing")
def heat_too_late(logits, temperature=1.0, top_k=None, top_p=None):
    p = sorted_back(logits, 1.0, top_k, top_p) / temperature
    return p / p.sum(-1, keepdim=True)


@wrong(probabilities, "does not sum to 1")
def not_rescaled(logits, temperature=1.0, top_k=None, top_p=None):
    p = (logits / temperature).softmax(-1)
    return torch.where(sorted_back(logits, temperature, top_k, top_p) > 0, p, 0.0)


@wrong(probabilities, "one token too many")
def k_and_one(logits, temperature=1.0, top_k=None, top_p=None):
    return sorted_back(logits, temperature, top_k and top_k + 1, top_p)


@wrong(probabilities, "the token that reaches p is cut")
def too_few(logits, temperature=1.0, top_k=None, top_p=None):
    p, order = sorted_back(logits, temperature, top_k).sort(-1, descending=True)
    if top_p is not None:
        p = p * (p.cumsum(-1) < top_p)
        p = p / p.sum(-1, keepdim=True)
    return p.gather(-1, order.argsort(-1))


@wrong(probabilities, "whose own probability is below p")
def own_share(logits, temperature=1.0, top_k=None, top_p=None):
    p = sorted_back(logits, temperature, top_k)
    if top_p is not None:
        p = p.masked_fill(p < top_p, 0)
        p = p / p.sum(-1, keepdim=True)
    return p


@wrong(probabilities, "the result is in the order of probability")
def in_order_of_the_sort(logits, temperature=1.0, top_k=None, top_p=None):
    return sorted_back(logits, temperature, top_k, top_p).sort(-1, descending=True).values


@wrong(probabilities, "where tokens reach p exactly")
def one_more_at_the_border(logits, temperature=1.0, top_k=None, top_p=None):
    p, order = (logits / temperature).softmax(-1).sort(-1, descending=True)
    if top_k is not None:
        p = p * (torch.arange(p.shape[-1]) < top_k)
        p = p / p.sum(-1, keepdim=True)
    if top_p is not None:
        p = p * (p.cumsum(-1) - p <= top_p)
    return torch.zeros_like(p).scatter(-1, order, p / p.sum(-1, keepdim=True))


@wrong(probabilities, "top-k is not used")
def without_k(logits, temperature=1.0, top_k=None, top_p=None):
    return sorted_back(logits, temperature, None, top_p)


@wrong(probabilities, "top-k keeps the k most probable tokens")
def one_or_all(logits, temperature=1.0, top_k=None, top_p=None):
    return sorted_back(logits, temperature, top_k and 1, top_p)


@wrong(probabilities, "p is reached by what was there before top-k")
def both_from_the_start(logits, temperature=1.0, top_k=None, top_p=None):
    p = (logits / temperature).softmax(-1)
    p = p * (sorted_back(logits, temperature, top_k) > 0)
    p = p * (sorted_back(logits, temperature, None, top_p) > 0)
    return p / p.sum(-1, keepdim=True)


@wrong(probabilities, "top-k with k = 1 leaves the most probable token")
def one_is_no_cut(logits, temperature=1.0, top_k=None, top_p=None):
    return sorted_back(logits, temperature, top_k if top_k != 1 else None, top_p)


@wrong(probabilities, "however small p is, the best token stays")
def nothing_left(logits, temperature=1.0, top_k=None, top_p=None):
    p = sorted_back(logits, temperature, top_k, top_p)
    return p * (top_p is None or (logits / temperature).softmax(-1).max() <= top_p)


@wrong(probabilities, "p is reached by what temperature has made")
def cut_first(logits, temperature=1.0, top_k=None, top_p=None):
    kept = sorted_back(logits, 1.0, top_k, top_p) > 0
    return (logits / temperature).masked_fill(~kept, -math.inf).softmax(-1)


@wrong(probabilities, "every row of a batch has its own order")
def order_of_the_first(logits, temperature=1.0, top_k=None, top_p=None):
    p = (logits / temperature).softmax(-1)
    kept = sorted_back(logits, temperature, top_k, top_p) > 0
    p = p * kept.flatten(0, -2)[0] if kept.dim() > 1 else p * kept
    return p / p.sum(-1, keepdim=True)


@wrong(probabilities, "a k above the vocabulary")
def topk_alone(logits, temperature=1.0, top_k=None, top_p=None):
    if top_k is not None:
        logits.topk(top_k, -1)
    return sorted_back(logits, temperature, top_k, top_p)


@wrong(probabilities, "what top-p leaves does not sum to 1")
def not_rescaled_after_p(logits, temperature=1.0, top_k=None, top_p=None):
    p = sorted_back(logits, temperature, top_k)
    return p * (sorted_back(logits, temperature, top_k, top_p) > 0)


@wrong(probabilities, "scale what is left to sum to 1, then cut to p")
def rescaled_at_the_end(logits, temperature=1.0, top_k=None, top_p=None):
    p, order = (logits / temperature).softmax(-1).sort(-1, descending=True)
    if top_k is not None:
        p = p * (torch.arange(p.shape[-1]) < top_k)
    if top_p is not None:
        p = p * (p.cumsum(-1) - p < top_p)
    p = p / p.sum(-1, keepdim=True)
    return p.gather(-1, order.argsort(-1))


# 9. Write


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


@wrong(sampler, "only an end that is drawn counts")
@torch.no_grad()
def ended_by_the_prompt(model, prompts, length, end, temperature=1.0, top_k=None, top_p=None):
    cache, ids, read = model.empty_cache(), prompts, prompts
    ended = (prompts == end).any(1, keepdim=True)
    for _ in range(length):
        p = next_probabilities(model(read, cache)[:, -1], temperature, top_k, top_p)
        read = torch.multinomial(p, 1).masked_fill(ended, -1)
        ids = torch.cat([ids, read], dim=1)
        ended = ended | (read == end)
        if ended.all():
            break
    return ids


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


def loop_with(name, read, **changes):
    """A sampler that gives the model what `read` says of all ids, the new ones and the cache."""

    def sample(model, prompts, length, end, temperature=1.0, top_k=None, top_p=None):
        if not changes.get("how", True):
            temperature, top_k, top_p = 1.0, None, None
        cache, ids, new = model.empty_cache(), prompts, prompts
        finished = torch.zeros(len(ids), 1, dtype=torch.bool)
        for _ in range(length):
            given, kept = read(ids, new, cache)
            p = next_probabilities(model(given, kept)[:, -1], temperature, top_k, top_p)
            new = p.argmax(-1, keepdim=True) if "best" in changes else torch.multinomial(p, 1)
            if changes.get("stop", True):
                new = new.masked_fill(finished, -1)
            ids = torch.cat([ids, new], dim=1)
            finished |= new == end
            if finished.all():
                break
        return ids

    sample.__name__ = name
    return sample


def newest(ids, new, cache):
    return new, cache


always_the_best = wrong(sampler, "the best token is taken each time")(
    loop_with("always_the_best", newest, best=True)
)
forgets = wrong(sampler, "which has forgotten the prompt")(
    loop_with("forgets", lambda ids, new, cache: (new, [{}]))
)
goes_on = wrong(sampler, "a row goes on after its end")(loop_with("goes_on", newest, stop=False))
all_again = wrong(sampler, "the whole text is read again")(
    loop_with("all_again", lambda ids, new, cache: (ids, cache))
)
no_cache = wrong(sampler, "there is no cache")(
    loop_with("no_cache", lambda ids, new, cache: (new, None))
)
no_heat = wrong(sampler, "temperature and cuts are not used")(
    loop_with("no_heat", newest, how=False)
)


@wrong(sampler, "the prompt is missing")
def without_the_prompt(model, prompts, length, end, temperature=1.0, top_k=None, top_p=None):
    ids = sample(model, prompts, length, end, temperature=temperature, top_k=top_k, top_p=top_p)
    return ids[:, prompts.shape[1] :]


@wrong(sampler, "the end is repeated")
def end_again(model, prompts, length, end, temperature=1.0, top_k=None, top_p=None):
    how = {"temperature": temperature, "top_k": top_k, "top_p": top_p}
    ids = sample(model, prompts, length, end, **how)
    return ids.masked_fill(ids == -1, end)


two_tokens_again = wrong(sampler, "each new token is read, and leads to the next")(
    loop_with("two_tokens_again", lambda ids, new, cache: (ids[:, :2], cache))
)


@wrong(sampler, "one token too many")
def one_step_more(model, prompts, length, end, temperature=1.0, top_k=None, top_p=None):
    return with_lists(model, prompts, length + 1, end, temperature, top_k, top_p)


@wrong(sampler, "not the prompt's")
def up_to_length(model, prompts, length, end, temperature=1.0, top_k=None, top_p=None):
    left = max(0, length - prompts.shape[1])
    return with_lists(model, prompts, left, end, temperature, top_k, top_p)


@wrong(sampler, "the end itself has become −1")
def no_end_shown(model, prompts, length, end, temperature=1.0, top_k=None, top_p=None):
    ids = with_lists(model, prompts, length, end, temperature, top_k, top_p)
    T = prompts.shape[1]
    ids[:, T:][ids[:, T:] == end] = -1
    return ids


@wrong(sampler, "one draw for all rows")
@torch.no_grad()
def the_first_rows_draw(model, prompts, length, end, temperature=1.0, top_k=None, top_p=None):
    cache, ids, new = model.empty_cache(), prompts, prompts
    ended = torch.zeros(len(prompts), dtype=torch.bool)
    for _ in range(length):
        p = next_probabilities(model(new, cache)[:, -1], temperature, top_k, top_p)
        new = torch.multinomial(p[0], 1).repeat(len(p))
        new = torch.where(ended, -1, new)[:, None]
        ids = torch.cat([ids, new], 1)
        ended = ended | (new[:, 0] == end)
        if ended.all():
            break
    return ids


@wrong(sampler, "top_k and top_p are exchanged")
def cuts_exchanged(model, prompts, length, end, temperature=1.0, top_k=None, top_p=None):
    return with_lists(model, prompts, length, end, temperature, top_p, top_k)


@wrong(sampler, "top_p is not handed on")
def without_top_p(model, prompts, length, end, temperature=1.0, top_k=None, top_p=None):
    return with_lists(model, prompts, length, end, temperature, top_k)


# 10. How far from the best


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


@wrong(judge, "the sign is wrong")
def the_other_way(model, rows, truth):
    return -by_rows(model, rows, truth)


@wrong(judge, "the tokens of a sentence are averaged")
def per_token(model, rows, truth):
    return (truth - log_probs(model, rows).sum(1) / (rows[:, 1:] >= 0).sum(1)).mean()


@wrong(judge, "a sum over the sentences")
def all_sentences(model, rows, truth):
    return by_rows(model, rows, truth) * len(rows)


@wrong(judge, "behind the end of a row")
def with_nothing(model, rows, truth):
    logp = model(rows[:, :-1]).log_softmax(-1)
    return (truth - logp.gather(-1, rows[:, 1:, None].clamp(min=0)).sum((1, 2))).mean()


def said(model, rows, target):
    logp = model(rows[:, :-1]).log_softmax(-1).gather(-1, target.clamp(min=0)[..., None])
    return logp.squeeze(-1).masked_fill(target < 0, 0)


@wrong(judge, "the two are added")
def added(model, rows, truth):
    return (truth + log_probs(model, rows).sum(1)).mean()


@wrong(judge, "which is a log-probability already")
def log_of_the_truth(model, rows, truth):
    return (truth.log() - log_probs(model, rows).sum(1)).mean()


@wrong(judge, "the model is asked for the token that it reads")
def asked_for_what_it_reads(model, rows, truth):
    return (truth - said(model, rows, rows[:, :-1]).sum(1)).mean()


@wrong(judge, "these are logits")
def sum_of_logits(model, rows, truth):
    logits = model(rows[:, :-1]).gather(-1, rows[:, 1:, None].clamp(min=0))[..., 0]
    return (truth - (logits * (rows[:, 1:] >= 0)).sum(1)).mean()


@wrong(judge, "the end is left out")
@torch.no_grad()
def without_the_end(model, rows, truth):
    logp = said(model, rows, rows[:, 1:])
    for row, length in zip(logp, (rows[:, 1:] >= 0).sum(1), strict=True):
        row[length - 1] = 0
    return (truth - logp.sum(1)).mean()


@wrong(judge, "this is in bits")
def in_bits(model, rows, truth):
    return by_rows(model, rows, truth) / math.log(2)


@wrong(judge, "`truth` is not used")
def the_models_cost(model, rows, truth):
    return -log_probs(model, rows).sum(1).mean()


@wrong(judge, "has lost its sign")
def absolute(model, rows, truth):
    return (truth - log_probs(model, rows).sum(1)).abs().mean()


class ByGate(nn.Module):
    def __init__(self, d):
        super().__init__()
        inner = 8 * d // 3
        self.gate = nn.Linear(d, inner, bias=False)
        self.up = nn.Linear(d, inner, bias=False)
        self.down = nn.Linear(inner, d, bias=False)


@wrong(gate, "`down` is not used")
class StaysWide(ByGate):
    def forward(self, x):
        return F.silu(self.gate(x)) * self.up(x)


@wrong(gate, "`gate` is not used")
class WithoutGate(ByGate):
    def forward(self, x):
        return self.down(F.silu(self.up(x)))


@wrong(gate, "the gate multiplies itself")
class GateTwice(ByGate):
    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.gate(x))


@wrong(gate, "through tanh")
class TanhGate(ByGate):
    def forward(self, x):
        return self.down(self.gate(x).tanh() * self.up(x))


def cut_in_order(logits, temperature, top_k, top_p, descending=True):
    p, order = (logits / temperature).softmax(-1).sort(-1, descending=descending)
    if top_k is not None:
        p = p * (torch.arange(p.shape[-1]) < top_k)
        p = p / p.sum(-1, keepdim=True)
    if top_p is not None:
        p = p * (p.cumsum(-1) - p < top_p)
        p = p / p.sum(-1, keepdim=True)
    return p, order


@wrong(probabilities, "in the order of probability")
def left_in_order(logits, temperature=1.0, top_k=None, top_p=None):
    return cut_in_order(logits, temperature, top_k, top_p)[0]


@wrong(probabilities, "sorts once more")
def gathered(logits, temperature=1.0, top_k=None, top_p=None):
    p, order = cut_in_order(logits, temperature, top_k, top_p)
    return p.gather(-1, order)


@wrong(probabilities, "the least probable tokens are kept")
def least_first(logits, temperature=1.0, top_k=None, top_p=None):
    p, order = cut_in_order(logits, temperature, top_k, top_p, descending=False)
    return torch.zeros_like(p).scatter(-1, order, p)


@wrong(probabilities, "not used where there is a top-k")
def one_cut_or_the_other(logits, temperature=1.0, top_k=None, top_p=None):
    p, order = cut_in_order(logits, temperature, top_k, None if top_k else top_p)
    return torch.zeros_like(p).scatter(-1, order, p)


def each_sentence(model, rows, truth, score):
    target = rows[:, 1:]
    scores = score(model(rows[:, :-1])).gather(2, target.clamp(min=0)[..., None])[..., 0]
    return truth - (scores * (target >= 0)).sum(1)


@wrong(judge, "add up their logarithms")
def sums_of_probabilities(model, rows, truth):
    return each_sentence(model, rows, truth, lambda logits: logits.softmax(-1)).mean().item()


@wrong(judge, "the difference is squared")
def mean_square(model, rows, truth):
    return each_sentence(model, rows, truth, lambda z: z.log_softmax(-1)).square().mean().item()
