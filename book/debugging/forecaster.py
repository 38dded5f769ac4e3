"""A small forecaster of an hourly series and the loop that trains it, as they should be.

`Debug this run: beyond language` trains this program with at most one line of it changed.

Two days of the series are cut into patches of six hours, each patch is a token, and the twelve
hours that follow are forecast at once.
"""

import math

import torch
from torch import Tensor, nn

STEPS, BATCH, LEARNING_RATE = 300, 32, 2e-3
HOURS, PAST = 1000, 700  # the first 700 hours are trained on, the others are held out
WINDOW, HORIZON, PATCH = 48, 12, 6
PATCHES = WINDOW // PATCH


def hourly(seed: int) -> Tensor:
    """A series (HOURS,): a daily cycle, a level that wanders, and noise."""
    drawn = torch.Generator().manual_seed(seed)
    day = torch.arange(HOURS) * 2 * math.pi / 24
    begins = torch.rand(2, generator=drawn) * 2 * math.pi
    cycle = 2 * torch.sin(day + begins[0]) + torch.sin(2 * day + begins[1])
    level = (0.15 * torch.randn(HOURS, generator=drawn)).cumsum(0)
    return cycle + level + 0.3 * torch.randn(HOURS, generator=drawn)


def cut(series: Tensor, starts: Tensor) -> tuple[Tensor, ...]:
    """Windows (B, WINDOW), what follows (B, HORIZON), and each window's mean and spread (B, 1)."""
    both = series.unfold(0, WINDOW + HORIZON, 1)[starts]
    window, future = both[:, :WINDOW], both[:, WINDOW:]
    mean, spread = window.mean(1, keepdim=True), window.std(1, keepdim=True)
    return window, future, mean, spread


class Forecaster(nn.Module):
    """A block of attention over patches, and a forecast from the mean of its tokens."""

    def __init__(self, d: int = 48, heads: int = 4):
        super().__init__()
        self.patches = nn.Linear(PATCH, d)
        self.places = nn.Embedding(PATCHES, d)
        self.norm1, self.norm2, self.norm3 = nn.LayerNorm(d), nn.LayerNorm(d), nn.LayerNorm(d)
        self.attention = nn.MultiheadAttention(d, heads, batch_first=True)
        self.feed_forward = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))
        self.head = nn.Linear(d, HORIZON)

    def tokens(self, scaled: Tensor) -> Tensor:
        """Patches of a window as tokens (B, PATCHES, d)."""
        cut_up = scaled.unflatten(1, (PATCHES, PATCH))
        tokens = self.patches(cut_up)
        tokens = tokens + self.places(torch.arange(PATCHES))
        return tokens

    def forward(self, window: Tensor, mean: Tensor, spread: Tensor) -> tuple[Tensor, Tensor]:
        """The forecast (B, HORIZON) in the units of the series; weights (B, PATCHES, PATCHES)."""
        x = self.tokens((window - mean) / spread)
        normed = self.norm1(x)
        attended, weights = self.attention(normed, normed, normed)
        x = x + attended
        x = x + self.feed_forward(self.norm2(x))
        forecast = self.head(self.norm3(x).mean(1))
        return forecast * spread + mean, weights


def mean_loss(model: Forecaster, batch: tuple[Tensor, ...]) -> Tensor:
    """The mean squared error of a forecast hour."""
    window, future, mean, spread = batch
    forecast, _ = model(window, mean, spread)
    return (forecast - future).square().mean()


@torch.no_grad()
def judge(model: Forecaster, series: Tensor) -> float:
    """The mean loss on the windows of the hours that are held out."""
    later = series[PAST:]
    return mean_loss(model, cut(later, torch.arange(len(later) - WINDOW - HORIZON))).item()


def train(seed: int, watch, steps: int = STEPS) -> Forecaster:
    """A trained model; `watch(step, loss, model)` is called between the gradient and the update."""
    torch.manual_seed(seed)
    model = Forecaster()
    series = hourly(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    for step in range(1, steps + 1):
        starts = torch.randint(PAST - WINDOW - HORIZON, (BATCH,))
        loss = mean_loss(model, cut(series[:PAST], starts))
        optimizer.zero_grad()
        loss.backward()
        watch(step, loss, model)
        optimizer.step()
    return model
