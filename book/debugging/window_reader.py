"""A reader with a window, shared keys and a cache, beside an LSTM, as they should be.

`Debug this run: what it costs` trains this program with at most one line of it changed.

A ledger is read entry by entry. An entry gives a name a new value. Before each entry a name is
called, and the reader has to say which value it was given last.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

STEPS, BATCH, LEARNING_RATE = 300, 16, 4e-3
NAMES, VALUES, LENGTH = 6, 8, 48
WINDOW, CHUNK, TILE = 16, 8, 4  # entries seen, read in one call, and summed at a time
HEADS, KEY_HEADS, D, D_K = 4, 2, 48, 16
UNKNOWN = 0  # what is to be said of a name without an entry; values count from 1


def ledgers(number: int, seed: int) -> tuple[Tensor, Tensor]:
    """Rows of (name called, name entered before, its value) (number, LENGTH, 3), and answers."""
    drawn = torch.Generator().manual_seed(seed)
    called = torch.randint(NAMES, (number, LENGTH), generator=drawn)
    entered = torch.randint(NAMES, (number, LENGTH), generator=drawn)
    values = torch.randint(1, VALUES + 1, (number, LENGTH), generator=drawn)
    last, answers = torch.zeros(number, NAMES, dtype=torch.long), []
    for t in range(LENGTH):
        last.scatter_(1, entered[:, t : t + 1], values[:, t : t + 1])
        answers.append(last.gather(1, called[:, t : t + 1]))
    return torch.stack([called, entered, values], dim=-1), torch.cat(answers, dim=1)


class Entries(nn.Module):
    """What is known at a position: the name that is called, and the entry just made."""

    def __init__(self):
        super().__init__()
        self.called, self.entered = nn.Embedding(NAMES, D), nn.Embedding(NAMES, D)
        self.values = nn.Embedding(VALUES + 1, D)

    def forward(self, rows: Tensor) -> Tensor:
        called, entered, value = rows.unbind(-1)
        return torch.cat([self.called(called), self.entered(entered) + self.values(value)], dim=-1)


class WindowReader(nn.Module):
    """Attention to the last WINDOW entries; two query heads share each key head."""

    def __init__(self):
        super().__init__()
        self.entries = Entries()
        self.q_proj = nn.Linear(2 * D, HEADS * D_K)
        self.k_proj = nn.Linear(2 * D, KEY_HEADS * D_K)
        self.v_proj = nn.Linear(2 * D, KEY_HEADS * D_K)
        self.ages = nn.Parameter(torch.zeros(HEADS, WINDOW))  # a score for how old an entry is
        self.answer = nn.Sequential(nn.Linear(HEADS * D_K, D), nn.GELU(), nn.Linear(D, VALUES + 1))

    def projected(self, rows: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries (B, HEADS, T, D_K), keys and values (B, KEY_HEADS, T, D_K)."""
        x = self.entries(rows)
        projections = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        q, k, v = (part.unflatten(-1, (-1, D_K)).transpose(1, 2) for part in projections)
        return q, k, v

    def age_scores(self, places: Tensor, key_places: Tensor) -> Tensor:
        """What is added to the scores (HEADS, T, keys): by age, and -1e9 where nothing is seen."""
        age = places[:, None] - key_places
        seen = (age >= 0) & (age < WINDOW)
        return self.ages[:, age.clamp(0, WINDOW - 1)].masked_fill(~seen, -1e9)

    def forward(self, rows: Tensor) -> Tensor:
        """Logits (B, T, values), read at once: this is how the model is trained."""
        q, k, v = self.projected(rows)
        every = torch.arange(rows.shape[1])
        mask = self.age_scores(every, every)
        found = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)
        return self.answer(found.transpose(1, 2).flatten(2))

    def read(self, rows: Tensor, cache, start: int):
        """Logits of the next rows (B, T, 3), and the new cache: this is how the model is used.

        Args:
            cache: keys, values and their places, of the entries that the window still reaches.
            start: the place of the first row.
        """
        q, k, v = self.projected(rows)
        places = torch.arange(start, start + rows.shape[1])
        key_places = places
        if cache is not None:
            k, v = torch.cat([cache[0], k], dim=2), torch.cat([cache[1], v], dim=2)
            key_places = torch.cat([cache[2], places])
        found = tiled(q, k, v, self.age_scores(places, key_places))
        keep = slice(1 - WINDOW, None)
        cache = k[:, :, keep], v[:, :, keep], key_places[keep]
        return self.answer(found.transpose(1, 2).flatten(2)), cache


def tiled(q: Tensor, k: Tensor, v: Tensor, added: Tensor) -> Tensor:
    """Attention (B, HEADS, T, D_K) that sums its softmax TILE keys at a time."""
    k, v = (part.repeat_interleave(q.shape[1] // k.shape[1], dim=1) for part in (k, v))
    largest, total, found = torch.tensor(-1e9), 0, 0
    for first in range(0, k.shape[2], TILE):
        tile = slice(first, first + TILE)
        scores = q @ k[:, :, tile].mT / q.shape[-1] ** 0.5 + added[..., tile]
        highest = torch.maximum(largest, scores.amax(-1, keepdim=True))
        shrink, weights = (largest - highest).exp(), (scores - highest).exp()
        total = total * shrink + weights.sum(-1, keepdim=True)
        found = found * shrink + weights @ v[:, :, tile]
        largest = highest
    return found / total


@torch.no_grad()
def read_in_chunks(model: WindowReader, rows: Tensor) -> tuple[Tensor, list[int]]:
    """Logits (B, T, values), CHUNK rows at a time; how many entries are cached after each chunk."""
    logits, cached, cache = [], [], None
    for start in range(0, rows.shape[1], CHUNK):
        new, cache = model.read(rows[:, start : start + CHUNK], cache, start)
        logits.append(new)
        cached.append(cache[0].shape[2])
    return torch.cat(logits, dim=1), cached


class Recurrent(nn.Module):
    """The rival: an LSTM whose forget gates start open."""

    def __init__(self, d: int = 64):
        super().__init__()
        self.entries = Entries()
        self.lstm = nn.LSTM(2 * D, d, batch_first=True)
        nn.init.constant_(self.lstm.bias_hh_l0.detach()[d : 2 * d], 4.0)  # input, forget, ...
        self.answer = nn.Linear(d, VALUES + 1)

    def forward(self, rows: Tensor) -> Tensor:
        return self.answer(self.lstm(self.entries(rows))[0])


def train(seed: int, watch, steps: int = STEPS) -> tuple[WindowReader, Recurrent]:
    """Both, trained; `watch(step, losses, models)` is called between gradients and updates."""
    torch.manual_seed(seed)
    models = WindowReader(), Recurrent()
    optimizers = [torch.optim.Adam(model.parameters(), lr=LEARNING_RATE) for model in models]
    for step in range(1, steps + 1):
        rows, answers = ledgers(BATCH, seed * 100_000 + step)
        losses = [F.cross_entropy(model(rows).flatten(0, 1), answers.flatten()) for model in models]
        for loss, optimizer in zip(losses, optimizers, strict=True):
            optimizer.zero_grad()
            loss.backward()
        watch(step, losses, models)
        for optimizer in optimizers:
            optimizer.step()
    return models
