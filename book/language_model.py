"""A language model from an empty file: tokenizer, model, training, cache and sampler.

This is what a reader of "Your own language model" ends up with, and it needs nothing but torch. It
can be read once, from top to bottom: text becomes numbers, a model predicts the next one, a loop
trains it, and a sampler writes with it. The book's other chapters use `companion.models` and
`companion.training`, where the same ideas have their checks, their options and their speed.

Token ids (B, T) have NOTHING, which is -1, wherever a row has ended.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional as F

NOTHING = -1


class Tokenizer:
    """Byte pairs: frequent pieces of words as tokens, learned from a text.

    The first 256 tokens are the bytes, so that no text is unknown; token 256 is `end`, which begins
    and ends a text; every other token is made of two older ones.

    Source: Sennrich, Haddow and Birch 2016 (https://arxiv.org/abs/1508.07909), section 3.2.
    """

    end = 256
    words = re.compile(r" ?\w+| ?[^\s\w]+|\s+")  # no token reaches from one word into the next

    def __init__(self, text: str, vocab_size: int):
        counts = Counter(word.encode() for word in self.words.findall(text))
        self.pieces = [bytes([byte]) for byte in range(256)] + [b""]
        self.merges = {}  # (left, right): the token that they become
        cut = {word: list(word) for word in counts}
        pairs, where = Counter(), defaultdict(set)
        for word, tokens in cut.items():
            for pair in pairwise(tokens):
                pairs[pair] += counts[word]
                where[pair].add(word)
        while pairs and len(self.pieces) < vocab_size:
            best = max(pairs, key=lambda pair: (pairs[pair], -pair[0], -pair[1]))
            if pairs[best] == 0:
                break
            new = self.merges[best] = len(self.pieces)
            self.pieces.append(self.pieces[best[0]] + self.pieces[best[1]])
            for word in where.pop(best):  # all others keep their pairs
                for pair in pairwise(cut[word]):
                    pairs[pair] -= counts[word]
                cut[word] = merge(cut[word], best, new)
                for pair in pairwise(cut[word]):
                    pairs[pair] += counts[word]
                    where[pair].add(word)
        self.known = {}  # the tokens of words that were encoded before

    def __len__(self) -> int:
        return len(self.pieces)

    def encode(self, text: str) -> list[int]:
        """The tokens of a text; the merge that was learned first is made first."""
        found = []
        for word in self.words.findall(text):
            if word not in self.known:
                self.known[word] = self._encode_word(word)
            found += self.known[word]
        return found

    def _encode_word(self, word: str) -> list[int]:
        tokens = list(word.encode())
        while pairs := [pair for pair in pairwise(tokens) if pair in self.merges]:
            first = min(pairs, key=self.merges.get)
            tokens = merge(tokens, first, self.merges[first])
        return tokens

    def decode(self, tokens: list[int]) -> str:
        """The text of tokens; NOTHING has none."""
        pieces = [self.pieces[token] for token in tokens if token != NOTHING]
        return b"".join(pieces).decode(errors="replace")


def merge(tokens: list[int], pair: tuple[int, int], new: int) -> list[int]:
    """The tokens with every occurrence of the pair replaced by the new one, from the left."""
    merged = []
    for token in tokens:
        if merged and (merged[-1], token) == pair:
            merged[-1] = new
        else:
            merged.append(token)
    return merged


def table(rows: list[list[int]]) -> Tensor:
    """Token ids (B, T) of rows of unequal length, NOTHING after the end of each."""
    length = max(map(len, rows))
    return torch.tensor([[*row, *[NOTHING] * (length - len(row))] for row in rows])


class RMSNorm(nn.Module):
    """Scale each vector to a mean square of 1, then each of its entries by a learned gain."""

    def __init__(self, d: int):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(d))

    def forward(self, x: Tensor) -> Tensor:
        return self.gain * x * (x.square().mean(-1, keepdim=True) + 1e-6).rsqrt()


def rotate(x: Tensor, start: int = 0) -> Tensor:
    """RoPE: turn the pairs (entry i, entry i + d_k / 2) of x (B, H, T, d_k) by their position.

    The first of the T positions is `start`; pair i turns by 10,000 ** (-2i / d_k) at each position.
    """
    T, d_k = x.shape[-2:]
    speeds = 10_000 ** (-torch.arange(0, d_k, 2, device=x.device) / d_k)
    angle = torch.arange(start, start + T, device=x.device)[:, None] * speeds
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


class Attention(nn.Module):
    """Each position looks at itself and at what is before it, in several heads."""

    def __init__(self, d: int, heads: int):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(d, 3 * d, bias=False)
        self.out = nn.Linear(d, d, bias=False)

    def forward(self, x: Tensor, cache: dict | None = None) -> Tensor:
        B, T, d = x.shape
        qkv = self.qkv(x).view(B, T, 3, self.heads, -1)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)  # each (B, H, T, d_k)
        past = cache["k"].shape[2] if cache else 0
        q, k = rotate(q, past), rotate(k, past)
        if cache is not None:
            if past:
                k = torch.cat([cache["k"], k], dim=2)
                v = torch.cat([cache["v"], v], dim=2)
            cache.update(k=k, v=v)
        seen = torch.ones(T, past + T, dtype=torch.bool, device=x.device).tril(past)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=seen)
        return self.out(y.transpose(1, 2).reshape(B, T, d))


class SwiGLU(nn.Module):
    """A feed-forward layer whose inner values are multiplied by a gate."""

    def __init__(self, d: int):
        super().__init__()
        inner = 8 * d // 3
        self.gate = nn.Linear(d, inner, bias=False)
        self.up = nn.Linear(d, inner, bias=False)
        self.down = nn.Linear(inner, d, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Block(nn.Module):
    """Attention moves information between positions; the feed-forward works on each alone."""

    def __init__(self, d: int, heads: int):
        super().__init__()
        self.norm1, self.attention = RMSNorm(d), Attention(d, heads)
        self.norm2, self.feed_forward = RMSNorm(d), SwiGLU(d)

    def forward(self, x: Tensor, cache: dict | None = None) -> Tensor:
        x = x + self.attention(self.norm1(x), cache)
        return x + self.feed_forward(self.norm2(x))


class LanguageModel(nn.Module):
    """Logits (B, T, vocab_size) of the token after each of the ids (B, T).

    Args:
        cache: `model.empty_cache()`, filled in place; `ids` are then what follows what it holds.
    """

    def __init__(self, vocab_size: int, d: int = 64, layers: int = 2, heads: int = 4):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d)  # also the output matrix
        self.norm_in = RMSNorm(d)  # or the blocks drown an embedding that starts small
        self.blocks = nn.ModuleList(Block(d, heads) for _ in range(layers))
        self.norm_out = RMSNorm(d)
        for name, weight in self.named_parameters():
            if weight.dim() == 2:
                into_stream = name.endswith(("out.weight", "down.weight"))
                scale = (2 * layers) ** -0.5 if into_stream else 1.0
                std = 0.02 if weight is self.embedding.weight else weight.shape[1] ** -0.5
                nn.init.normal_(weight, std=scale * std)

    def forward(self, ids: Tensor, cache: list[dict] | None = None) -> Tensor:
        x = self.norm_in(self.embedding(ids.clamp(min=0)))
        for number, block in enumerate(self.blocks):
            x = block(x, None if cache is None else cache[number])
        return self.norm_out(x) @ self.embedding.weight.T

    def empty_cache(self) -> list[dict]:
        """One empty cache for each block."""
        return [{} for _ in self.blocks]


def log_probs(model: nn.Module, ids: Tensor, temperature: float = 1.0) -> Tensor:
    """The log-probability (B, T - 1) of every token after the first; 0 for NOTHING.

    Summed over a row it is that of the whole text, and it carries gradients.
    """
    target = ids[:, 1:]
    logp = (model(ids[:, :-1]) / temperature).log_softmax(dim=-1)
    logp = logp.gather(-1, target.clamp(min=0)[..., None])[..., 0]
    return logp.masked_fill(target == NOTHING, 0.0)


def learning_rate(step: int, steps: int, peak: float, warmup: int = 50) -> float:
    """Up to the peak in `warmup` steps, then to 0 along a cosine; `step` counts from 0."""
    return peak * min((step + 1) / warmup, (1 + math.cos(math.pi * step / steps)) / 2)


def train(
    model: nn.Module,
    batch: Callable[[int], Tensor],
    steps: int,
    *,
    peak: float = 1e-2,
    weight_decay: float = 0.02,
    watch: Callable[[int, float], None] | None = None,
) -> list[float]:
    """Train on batch(0), batch(1), ..., each ids (B, T); return the loss of every step.

    Args:
        watch: called as watch(step, loss) before each step changes the model.
    """
    optimizer = torch.optim.AdamW(
        model.parameters(),
        betas=(0.9, 0.99),
        weight_decay=weight_decay,
    )
    losses = []
    for step in range(steps):
        ids = batch(step)
        loss = -log_probs(model, ids).sum() / (ids[:, 1:] != NOTHING).sum()
        losses.append(loss.item())
        if watch is not None:
            watch(step, losses[-1])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, steps, peak)
        optimizer.step()
    return losses


def next_probabilities(
    logits: Tensor, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None
) -> Tensor:
    """The probabilities (..., vocab_size) from which the next token is drawn.

    Args:
        temperature: divides the logits; 0 gives all to the largest.
        top_k: only the k most probable tokens.
        top_p: only the most probable ones, as few as together reach this probability.
    """
    if temperature == 0:
        return F.one_hot(logits.argmax(dim=-1), logits.shape[-1]).to(logits.dtype)
    p = (logits / temperature).softmax(dim=-1)
    if top_k is None and top_p is None:
        return p
    p, order = p.sort(dim=-1, descending=True)
    if top_k is not None:
        p[..., top_k:] = 0
        p /= p.sum(dim=-1, keepdim=True)
    if top_p is not None:
        before = p.cumsum(dim=-1) - p
        p[before >= top_p * (1 - 1e-6)] = 0  # in float32 a sum may be a little too small
        p /= p.sum(dim=-1, keepdim=True)
    return torch.zeros_like(p).scatter(-1, order, p)


@torch.no_grad()
def sample(
    model: nn.Module,
    prompts: Tensor,
    length: int,
    end: int = Tokenizer.end,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Continue prompts (B, T) by up to `length` tokens; NOTHING after a row has drawn `end`.

    The prompts are equally long: what follows NOTHING would be read as if it stood elsewhere.
    """
    if (prompts == NOTHING).any():
        raise ValueError(
            "prompts of different lengths have NOTHING at their ends; sample each alone"
        )
    cache, ids, new = model.empty_cache(), prompts, prompts
    finished = torch.zeros(len(prompts), 1, dtype=torch.bool, device=prompts.device)
    for _ in range(length):
        logits = model(new, cache)[:, -1]
        p = next_probabilities(logits, temperature, top_k, top_p)
        new = torch.multinomial(p, 1, generator=generator).masked_fill(finished, NOTHING)
        ids = torch.cat([ids, new], dim=1)
        finished |= new == end
        if finished.all():
            break
    return ids
