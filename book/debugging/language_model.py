"""A small causal language model and the loop that trains it, as they should be.

`Debug this run: the model` trains this program with at most one line of it changed.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from companion.data import BOS, EOS, WORDS, Vocabulary, batches, corpus

STEPS, BATCH, LEARNING_RATE, DROPOUT = 200, 16, 3e-3, 0.1
LANGUAGE = Vocabulary((*WORDS, BOS, EOS))
PAD = LANGUAGE.pad_id


class Attention(nn.Module):
    """Every word looks at itself and at the words before it, in several heads."""

    def __init__(self, d: int, heads: int):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(d, 3 * d)
        self.out = nn.Linear(d, d)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        B, T, d = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.heads, -1).permute(2, 0, 3, 1, 4)  # (B, H, T, d_k)
        scores = q @ k.transpose(-2, -1) / math.sqrt(k.shape[-1])
        allowed = torch.ones(T, T, dtype=torch.bool).tril()
        scores = scores.masked_fill(~allowed, -math.inf)
        weights = scores.softmax(dim=-1)
        return self.out((weights @ v).transpose(1, 2).reshape(B, T, d)), weights


class Block(nn.Module):
    """Attention and a feed-forward network, each added to the stream that it has read."""

    def __init__(self, d: int, heads: int):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.attention = Attention(d, heads)
        self.feed_forward = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        attended, weights = self.attention(self.norm1(x))
        x = x + self.dropout(attended)
        x = x + self.dropout(self.feed_forward(self.norm2(x)))
        return x, weights


class LanguageModel(nn.Module):
    """Predicts the next word of every word of a sentence."""

    def __init__(self, d: int = 64, heads: int = 4, blocks: int = 2, longest: int = 32):
        super().__init__()
        self.words = nn.Embedding(len(LANGUAGE), d)
        self.places = nn.Embedding(longest, d)
        self.blocks = nn.ModuleList(Block(d, heads) for _ in range(blocks))
        self.norm = nn.LayerNorm(d)
        self.head = nn.Linear(d, len(LANGUAGE))

    def forward(self, ids: Tensor) -> tuple[Tensor, list[Tensor], list[Tensor]]:
        """Logits (B, T, words); the stream before and after each block; each block's weights."""
        x = self.words(ids)
        x = x + self.places(torch.arange(ids.shape[1]))
        stream, maps = [x], []
        for block in self.blocks:
            x, weights = block(stream[-1])
            stream.append(x)
            maps.append(weights)
        return self.head(self.norm(stream[-1])), stream, maps


def mean_loss(model: LanguageModel, ids: Tensor) -> Tensor:
    """In nats for each word that is to be predicted."""
    inputs, targets = ids[:, :-1], ids[:, 1:]
    logits, _, _ = model(inputs)
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=PAD)


def judge(model: LanguageModel, ids: Tensor) -> float:
    """The mean loss on other sentences, with the model as it is used."""
    model.eval()
    with torch.no_grad():
        loss = mean_loss(model, ids)
    model.train()
    return loss.item()


def sentences(number: int, seed: int) -> Tensor:
    """Sentences of the generated language as rows of ids, each with its beginning and end."""
    return LANGUAGE.encode([BOS, *words, EOS] for words in corpus(number, seed))


def train(seed: int, watch, steps: int = STEPS) -> LanguageModel:
    """A trained model; `watch(step, loss, model)` is called between the gradient and the update."""
    torch.manual_seed(seed)
    model = LanguageModel()
    batch = batches(sentences(steps * BATCH, seed), batch_size=BATCH, seed=seed, pad_id=PAD)
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE)
    for step in range(1, steps + 1):
        loss = mean_loss(model, batch(step))
        optimizer.zero_grad()
        loss.backward()
        watch(step, loss, model)
        optimizer.step()
    return model
