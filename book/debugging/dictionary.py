"""Attention alone, and the loop that teaches it to look things up, as they should be.

`Debug this run: the idea` trains this program with at most one line of it changed.

A dictionary is a row of entries, a key and a value each. A question names two keys, and asks for
the value of each. A key that is entered again has its last value. Padding fills a row: entries
without a key, whose values mean nothing.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

STEPS, BATCH, LEARNING_RATE = 200, 64, 1e-3
KEYS, VALUES, ENTRIES, QUESTIONS = 12, 12, 10, 4
PAD = 0  # the key of padding; keys and values count from 1


class Head(nn.Module):
    """One head: scores, weights, and the mean of the values under these weights."""

    def __init__(self, d: int, d_k: int):
        super().__init__()
        self.q_proj = nn.Linear(d, d_k)
        self.k_proj = nn.Linear(d, d_k)
        self.v_proj = nn.Linear(d, d)

    def forward(self, asked: Tensor, keys: Tensor, values: Tensor, real: Tensor):
        q, k, v = self.q_proj(asked), self.k_proj(keys), self.v_proj(values)
        scores = q @ k.transpose(-2, -1)
        scores = scores / math.sqrt(k.shape[-1])
        scores = scores.masked_fill(~real[:, None, :], -1e9)
        weights = scores.softmax(dim=-1)
        return weights @ v, weights


class Reader(nn.Module):
    """Two heads, each with a matrix that reads one of the two answers from what it has fetched."""

    def __init__(self, d: int = 48, d_k: int = 256):
        super().__init__()
        self.keys = nn.Embedding(KEYS + 1, d)
        self.values = nn.Embedding(VALUES + 1, d)
        self.places = nn.Embedding(ENTRIES, d)
        self.first, self.second = nn.Embedding(KEYS + 1, d), nn.Embedding(KEYS + 1, d)
        self.heads = nn.ModuleList(Head(d, d_k) for _ in range(2))
        self.answers = nn.ModuleList(nn.Linear(d, VALUES + 1) for _ in range(2))

    def enter(self, keys: Tensor) -> Tensor:
        """What the heads know of an entry's key: its vector, and the vector of its place."""
        entered = self.keys(keys)
        entered = entered + self.places(torch.arange(keys.shape[1]))
        return entered

    def forward(self, keys: Tensor, values: Tensor, questions: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (B, questions, 2, values) and weights (B, heads, questions, entries)."""
        entered = self.enter(keys)
        asked = self.first(questions[..., 0]) + self.second(questions[..., 1])
        found = [head(asked, entered, self.values(values), keys != PAD) for head in self.heads]
        (one, weights), (two, others) = found
        logits = [self.answers[0](one), self.answers[1](two)]
        return torch.stack(logits, dim=2), torch.stack([weights, others], dim=1)


def dictionaries(number: int, seed: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Keys and values (number, entries), questions and answers (number, questions, 2)."""
    drawn = torch.Generator().manual_seed(seed)
    lengths = torch.randint(6, ENTRIES + 1, (number, 1), generator=drawn)
    padding = torch.arange(ENTRIES) >= lengths
    keys = torch.randint(1, KEYS + 1, (number, ENTRIES), generator=drawn).masked_fill(padding, PAD)
    values = torch.randint(1, VALUES + 1, keys.shape, generator=drawn)
    places = (torch.rand(number, QUESTIONS * 2, generator=drawn) * lengths).long()
    questions = keys.gather(1, places)
    same = questions[:, :, None] == keys[:, None, :]  # which entries have the key that is asked
    last = (same * torch.arange(1, ENTRIES + 1)).argmax(dim=-1)
    answers = values.gather(1, last)
    return keys, values, questions.unflatten(1, (-1, 2)), answers.unflatten(1, (-1, 2))


def mean_loss(model: Reader, batch: tuple[Tensor, ...]) -> Tensor:
    """In nats for each answer."""
    *asked, answers = batch
    logits, _ = model(*asked)
    return F.cross_entropy(logits.flatten(0, 2), answers.flatten())


def train(seed: int, watch, steps: int = STEPS) -> Reader:
    """A trained model; `watch(step, loss, model)` is called between the gradient and the update."""
    torch.manual_seed(seed)
    model = Reader()
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    for step in range(1, steps + 1):
        batch = dictionaries(BATCH, seed * 1_000_000 + step)
        loss = mean_loss(model, batch)
        optimizer.zero_grad()
        loss.backward()
        watch(step, loss, model)
        optimizer.step()
    return model
