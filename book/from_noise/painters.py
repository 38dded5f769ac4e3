"""The page's DiT, its training and its examiners, for the runs that are stored: `label`, `thirty`.

A test holds them to the cells of the page. Pictures to train on go from -1 to 1, as noise does.
"""

from collections.abc import Callable
from functools import partial

import torch
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC
from torch import Tensor, nn

from companion.data import digits
from companion.nn import (
    EncoderBlock,
    FeedForward,
    LearnedPositions,
    MultiHeadAttention,
    PatchEmbedding,
    sinusoidal_encoding,
)
from companion.training import cosine_schedule, fit

ANY, RATE, STEPS = 10, 1e-2, 800
PAINTED = 600  # sixty of each digit

Guess = Callable[[Tensor, Tensor, Tensor], Tensor]


class DiTBlock(nn.Module):
    """Attention and a network; the condition scales, shifts and gates both."""

    def __init__(self, d: int, heads: int):
        super().__init__()
        self.norm = nn.LayerNorm(d, elementwise_affine=False)
        self.attention = MultiHeadAttention(d, heads)
        self.feed_forward = FeedForward(d, 4 * d, activation="gelu_tanh")
        self.modulate = nn.Linear(d, 6 * d)
        nn.init.zeros_(self.modulate.weight)
        nn.init.zeros_(self.modulate.bias)

    def forward(self, h: Tensor, c: Tensor) -> Tensor:
        """Vectors (B, n, d) under conditions (B, d)."""
        scale, shift, gate, scale2, shift2, gate2 = self.modulate(c)[:, None].chunk(6, dim=-1)
        read = self.norm(h) * (1 + scale) + shift
        h = h + gate * self.attention(read)[0]
        read = self.norm(h) * (1 + scale2) + shift2
        return h + gate2 * self.feed_forward(read)


class DiT(nn.Module):
    """The condition enters by the norms of each block."""

    def __init__(self, d: int = 48, layers: int = 2, heads: int = 4):
        super().__init__()
        self.patches = PatchEmbedding(8, 2, 1, d)
        self.positions = LearnedPositions(16, d)
        self.digit = nn.Embedding(11, d)
        self.time = nn.Sequential(nn.Linear(d, d), nn.SiLU(), nn.Linear(d, d))
        self.register_buffer("waves", sinusoidal_encoding(1001, d))
        self.blocks = nn.ModuleList(DiTBlock(d, heads) for _ in range(layers))
        self.norm, self.out = nn.LayerNorm(d), nn.Linear(d, 4)
        nn.init.normal_(self.digit.weight, std=0.02)
        nn.init.zeros_(self.out.weight)

    def condition(self, t: Tensor, digit: Tensor) -> Tensor:
        """What each picture is told: (B, d)."""
        waves = self.waves[(1000 * t).long()]
        return nn.functional.silu(self.time(waves) + self.digit(digit))

    def read(self, patches: Tensor, c: Tensor) -> Tensor:
        """The vectors of the 16 patches, behind the blocks."""
        h = self.positions(patches)
        for block in self.blocks:
            h = block(h, c)
        return h

    def forward(self, z: Tensor, t: Tensor, digit: Tensor) -> Tensor:
        """Guesses of the clean pictures (B, 1, 8, 8)."""
        h = self.read(self.patches(z), self.condition(t, digit))
        h = self.out(self.norm(h)).view(-1, 4, 4, 2, 2)
        return h.transpose(2, 3).reshape(-1, 1, 8, 8)


class InContext(DiT):
    """The condition enters as a token in front of the patches; the blocks are ordinary ones."""

    def __init__(self, d: int = 48, layers: int = 2, heads: int = 4):
        super().__init__(d, layers, heads)
        self.positions = LearnedPositions(17, d)
        self.blocks = nn.ModuleList(
            EncoderBlock(d, heads, 4 * d, norm_first=True, activation="gelu_tanh")
            for _ in range(layers)
        )

    def read(self, patches: Tensor, c: Tensor) -> Tensor:
        """The vectors of the 16 patches, behind the blocks."""
        h = self.positions(torch.cat([c[:, None], patches], dim=1))
        for block in self.blocks:
            h = block(h)
        return h[:, 1:]


def squared_error(model: Guess, batch: tuple) -> tuple[Tensor, int]:
    """The sum of the errors of the speed, and the number of pictures."""
    z, t, digit, image = batch
    speed = (model(z, t, digit) - image) / (1 - t).clamp(min=0.05).view(-1, 1, 1, 1)
    return speed.square().mean((1, 2, 3)).sum(), len(z)


def noisy(images: Tensor, labels: Tensor, size: int, seed: int, drop: float = 0.1) -> Callable:
    """Batches of noisy pictures, in the order that the seed draws."""
    draw = torch.Generator().manual_seed(seed)

    def batch(step: int) -> tuple:
        some = torch.randint(len(images), (size,), generator=draw)
        t, dropped = torch.rand(2, size, generator=draw)
        noise = torch.randn(size, 1, 8, 8, generator=draw)
        mix = t.view(-1, 1, 1, 1)
        digit = labels[some].masked_fill(dropped < drop, ANY)
        return (1 - mix) * noise + mix * images[some], t, digit, images[some]

    return batch


def learned(
    kind: type[DiT],
    images: Tensor,
    labels: Tensor,
    seed: int,
    rate: float = RATE,
    steps: int = STEPS,
) -> DiT:
    """A painter from the start that the seed draws, trained on these pictures."""
    torch.manual_seed(seed)
    model = kind()
    schedule = partial(cosine_schedule, max_lr=rate, min_lr=0.0, warmup_steps=40, total_steps=steps)
    fit(
        model,
        noisy(images, labels, 64, seed),
        steps=steps,
        loss=squared_error,
        learning_rate=schedule,
        betas=(0.9, 0.99),
        progress=False,
    )
    return model


@torch.no_grad()
def error(guess: Guess, images: Tensor, labels: Tensor, seed: int, rounds: int = 4) -> float:
    """Mean squared error of the speed, over noises that the seed draws."""
    batch = noisy(images, labels, len(images), seed, drop=0.0)
    totals = (squared_error(guess, batch(0)) for _ in range(rounds))
    return sum(total.item() / count for total, count in totals) / rounds


def grey(z: Tensor) -> Tensor:
    """What a real picture can be: 0, 1/16, ..., 1."""
    return ((z.clamp(-1, 1) + 1) * 8).round() / 16


@torch.no_grad()
def paint(guess: Guess, seed: int, steps: int = 16) -> Tensor:
    """The 600 digits 0, 1, ..., 9, 0, ... (600, 1, 8, 8), grey, from the seed's noise."""
    asked = torch.arange(10).repeat(PAINTED // 10)
    z = torch.randn(PAINTED, 1, 8, 8, generator=torch.Generator().manual_seed(seed + 1))
    for k in range(steps):
        t = torch.full((len(z),), k / steps)
        z = z + (guess(z, t, asked) - z) / (steps - k)
    return grey(z)


def nearest(rows: Tensor, to: Tensor) -> tuple[Tensor, Tensor]:
    """Distance of each to the nearest of these pictures, and which that is."""
    found = torch.cdist(rows.flatten(1), to.flatten(1)).min(1)
    return found.values, found.indices


class Examiners:
    """What they know of real digits: the seed's 700 that no painter sees."""

    def __init__(self, seed: int):
        parts = digits(seed, "validation"), digits(seed, "test")
        self.held, self.labels = (torch.cat(part) for part in zip(*parts, strict=True))
        self.reader = SVC(C=10).fit(self.held.flatten(1).numpy(), self.labels)

    def right(self, pictures: Tensor) -> float:
        """The share of `paint`'s digits that are read as what was asked for."""
        read = torch.from_numpy(self.reader.predict(pictures.flatten(1).numpy()))
        return (read == torch.arange(len(pictures)) % 10).double().mean().item()

    def told_apart(self, pictures: Tensor) -> float:
        """How often painted and real are told apart, five-fold; as many real as painted."""
        both = torch.cat([pictures.flatten(1), self.held.flatten(1)[: len(pictures)]])
        is_real = [0] * len(pictures) + [1] * (len(both) - len(pictures))
        return cross_val_score(SVC(C=10), both.numpy(), is_real, cv=5).mean().item()

    def copies(self, pictures: Tensor, training: Tensor) -> float:
        """The share nearer to a training picture than all but 1 % of the held-out ones are."""
        close = nearest(self.held, training)[0].quantile(0.01)
        return (nearest(pictures, training)[0] < close).double().mean().item()
