"""A language model with RoPE and a cache, its training loop and its sampler, as they should be.

`Debug this run: your own language model` trains this program with at most one line changed.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from book.debugging.language_model import LANGUAGE, PAD, sentences
from companion.data import batches

STEPS, BATCH, LEARNING_RATE, WARM_UP = 200, 16, 4e-3, 40


class RMSNorm(nn.Module):
    """Every word's vector, scaled to a root mean square of 1, then by learned gains."""

    def __init__(self, d: int):
        super().__init__()
        self.gains = nn.Parameter(torch.ones(d))

    def forward(self, x: Tensor) -> Tensor:
        square = x.square().mean(dim=-1, keepdim=True)
        return self.gains * x / (square + 1e-6).sqrt()


def rotate(x: Tensor, places: Tensor) -> Tensor:
    """Queries or keys (B, H, T, d_k), turned by the angles of their positions (T,)."""
    d = x.shape[-1]
    angles = places[:, None] * 100 ** (-torch.arange(0, d, 2) / d)
    even, odd = x[..., ::2], x[..., 1::2]
    turned = even * angles.cos() - odd * angles.sin(), even * angles.sin() + odd * angles.cos()
    return torch.cat(turned, dim=-1)


class Block(nn.Module):
    """Causal attention over the words so far, and a feed-forward network."""

    def __init__(self, d: int, heads: int):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = RMSNorm(d), RMSNorm(d)
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.feed_forward = nn.Sequential(nn.Linear(d, 4 * d), nn.SiLU(), nn.Linear(4 * d, d))

    def forward(self, x: Tensor, past, start: int):
        """The stream; keys and values of all words so far; weights (B, H, T, words so far)."""
        B, T, d = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(B, T, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        places = torch.arange(start, start + T)
        q = rotate(q, places)
        k = rotate(k, places)
        if past is not None:
            k, v = torch.cat([past[0], k], dim=2), torch.cat([past[1], v], dim=2)
        scores = q @ k.transpose(-2, -1) / math.sqrt(k.shape[-1])
        seen = torch.ones(scores.shape[-2:], dtype=torch.bool).tril(k.shape[2] - T)
        weights = scores.masked_fill(~seen, -math.inf).softmax(dim=-1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(B, T, d))
        return x + self.feed_forward(self.norm2(x)), (k, v), weights


class LanguageModel(nn.Module):
    """Predicts the next word of every word; embedding and output share one matrix."""

    def __init__(self, d: int = 64, heads: int = 4, blocks: int = 2):
        super().__init__()
        self.words = nn.Embedding(len(LANGUAGE), d)
        nn.init.normal_(self.words.weight, std=0.1)
        self.blocks = nn.ModuleList(Block(d, heads) for _ in range(blocks))
        self.norm = RMSNorm(d)

    def forward(self, ids: Tensor, cache=None, start: int = 0):
        """Logits (B, T, words); the new cache, keys and values of each block; each one's weights.

        Args:
            ids: words (B, T), all of them or those that follow what is in the cache.
            cache: what an earlier call returned.
            start: the position of the first of these words.
        """
        x, kept, maps = self.words(ids), [], []
        for block, past in zip(self.blocks, cache or [None] * len(self.blocks), strict=True):
            x, new, weights = block(x, past, start)
            kept.append(new)
            maps.append(weights)
        return self.norm(x) @ self.words.weight.T, kept, maps


def mean_loss(model: LanguageModel, ids: Tensor) -> Tensor:
    """In nats for each word that is to be predicted."""
    logits, _, _ = model(ids[:, :-1])
    return F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten(), ignore_index=PAD)


def train(seed: int, watch, steps: int = STEPS) -> LanguageModel:
    """A trained model; `watch(step, loss, model)` is called between the gradient and the update."""
    torch.manual_seed(seed)
    model = LanguageModel()
    batch = batches(sentences(steps * BATCH, seed), batch_size=BATCH, seed=seed, pad_id=PAD)
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE)
    for step in range(1, steps + 1):
        optimizer.param_groups[0]["lr"] = LEARNING_RATE * min(1, step / WARM_UP)
        loss = mean_loss(model, batch(step))
        optimizer.zero_grad()
        loss.backward()
        watch(step, loss, model)
        optimizer.step()
    return model


def probabilities(logits: Tensor, temperature: float, k: int = 8) -> Tensor:
    """What the sampler draws the next word from: the k likeliest words, at a temperature."""
    least = logits.topk(k).values[..., -1:]
    logits = logits.masked_fill(logits < least, -math.inf)
    return (logits / temperature).softmax(dim=-1)


@torch.no_grad()
def write(model: LanguageModel, ids: Tensor, longest: int, seed: int, temperature: float) -> Tensor:
    """A sentence (longest,) that begins with these ids (1, T), drawn word by word with a cache."""
    generator = torch.Generator().manual_seed(seed)
    logits, cache, _ = model(ids)
    for place in range(ids.shape[1], longest):
        drawn = torch.multinomial(probabilities(logits[:, -1], temperature), 1, generator=generator)
        ids = torch.cat([ids, drawn], dim=1)
        logits, cache, _ = model(drawn, cache, start=place)
    return ids[0]
