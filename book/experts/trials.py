"""Today's block on trial: one part of a small language model is changed, and its gap measured.

    python -m book.experts.trials > book/experts/trials.json
    python -m book.experts.trials later > book/experts/later.json

made the tables beside this file, in ten and in fifteen minutes; the second has a few of the changes
after four times the steps. The text needs positions and a feed-forward layer:
the next of 32 symbols is, nine times in ten, what a random table says about the two before. The gap
is the loss above the entropy of this text, which is known.

The base and every change take the best of the same four pairs of rates, on seeds of their own. Then
they meet the tables and texts of five others, the base from three starts each: their mean is the
zero of that seed, what they spread around it is the noise.
"""

import json
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib.resources import files
from itertools import combinations, product
from math import log
from statistics import mean

import torch
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from book.language_model import LanguageModel, RMSNorm, learning_rate, rotate

SYMBOLS, LENGTH, SURE = 32, 24, 0.9
WIDTH, HEADS, STEPS, BATCH = 32, 4, 300, 32
# the rate of embedding and norms, and the share of it that the matrices get
RATES = ((0.04, 1.0), (0.08, 1.0), (0.16, 1.0), (0.16, 0.4))
TUNED_ON, SEEDS, STARTS = (50, 51), (61, 62, 63, 64, 65), (0, 1000, 2000)
MORE_RATES = (0.04, 0.08, 0.16, 0.32)
_SAID = SURE + (1 - SURE) / SYMBOLS
ENTROPY = -_SAID * log(_SAID) - (1 - _SAID) * log((1 - SURE) / SYMBOLS)


def text(table: Tensor, rows: int, draw: torch.Generator) -> Tensor:
    """Symbols (rows, LENGTH): mostly the table's entry (32, 32) for the two before."""
    ids = torch.randint(SYMBOLS, (rows, LENGTH), generator=draw)
    sure = torch.rand(rows, LENGTH, generator=draw) < SURE
    for t in range(2, LENGTH):
        ids[:, t] = torch.where(sure[:, t], table[ids[:, t - 2], ids[:, t - 1]], ids[:, t])
    return ids


def linear(inputs: int, outputs: int, scale: float = 1.0) -> nn.Linear:
    """A matrix that starts as those of `LanguageModel` do."""
    layer = nn.Linear(inputs, outputs, bias=False)
    nn.init.normal_(layer.weight, std=scale * inputs**-0.5)
    return layer


class OtherAttention(nn.Module):
    """The model's attention without positions, with norms or a gate."""

    def __init__(self, positions=True, qk_norm=False, gate=False):
        super().__init__()
        self.positions = positions
        self.qkv = linear(WIDTH, 3 * WIDTH)
        self.out = linear(WIDTH, WIDTH, 2**-0.5)
        self.norms = nn.ModuleList(RMSNorm(WIDTH // HEADS) for _ in range(2 * qk_norm))
        self.gate = linear(WIDTH, WIDTH) if gate else None

    def forward(self, x: Tensor, cache=None) -> Tensor:
        heads = self.qkv(x).unflatten(-1, (-1, WIDTH // HEADS)).transpose(1, 2)
        q, k, v = heads.chunk(3, dim=1)
        if self.norms:
            q, k = (norm(part) for norm, part in zip(self.norms, (q, k), strict=True))
        if self.positions:
            q, k = rotate(q), rotate(k)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        y = y.transpose(1, 2).flatten(2)
        return self.out(y if self.gate is None else y * self.gate(x).sigmoid())


class Shifted(RMSNorm):
    """RMSNorm with the one thing that LayerNorm has beside the mean: a shift that is learned."""

    def __init__(self, d: int):
        super().__init__(d)
        self.shift = nn.Parameter(torch.zeros(d))

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) + self.shift


class Placed(RMSNorm):
    """The first norm, and a learned vector for each position behind it."""

    def __init__(self, d: int):
        super().__init__(d)
        self.position = nn.Parameter(0.2 * torch.randn(LENGTH, d))

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) + self.position[: x.shape[1]]


class Nothing(nn.Module):
    """What adds nothing to the stream."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.zeros_like(x)


def every_norm(make: Callable[[int], nn.Module], model: LanguageModel) -> None:
    """Another norm wherever RMSNorm was."""
    for owner in [model, *model.blocks]:
        for name, child in [*owner.named_children()]:
            if isinstance(child, RMSNorm):
                setattr(owner, name, make(WIDTH))


def attention(model: LanguageModel, **options) -> None:
    """Another attention in each block."""
    for block in model.blocks:
        block.attention = OtherAttention(**options)


def feed_forward(make: Callable[[], nn.Module], model: LanguageModel) -> None:
    """Another feed-forward layer in each block."""
    for block in model.blocks:
        block.feed_forward = make()


def gelu() -> nn.Module:
    """The older feed-forward layer, of about as many parameters."""
    return nn.Sequential(linear(WIDTH, 4 * WIDTH), nn.GELU(), linear(4 * WIDTH, WIDTH, 2**-0.5))


def biases(model: LanguageModel) -> None:
    """A bias for each matrix of the blocks."""
    for layer in model.blocks.modules():
        if isinstance(layer, nn.Linear):
            layer.bias = nn.Parameter(torch.zeros(layer.out_features))


def learned_positions(model: LanguageModel) -> None:
    """A learned vector for each position, and no rotation."""
    attention(model, positions=False)
    model.norm_in = Placed(WIDTH)


def shifted_input(model: LanguageModel) -> None:
    """One learned vector at every position: what learned positions add, but for the positions."""
    model.norm_in = Shifted(WIDTH)


CHANGES: dict[str, Callable[[LanguageModel], None]] = {
    "the base": lambda model: None,
    "no feed-forward": partial(feed_forward, Nothing),
    "no positions": partial(attention, positions=False),
    "learned positions for RoPE": learned_positions,
    "RoPE, a shift at the input": shifted_input,
    "QK-norm": partial(attention, qk_norm=True),
    "a gate on attention": partial(attention, gate=True),
    "GELU for SwiGLU": partial(feed_forward, gelu),
    "LayerNorm for RMSNorm": partial(every_norm, nn.LayerNorm),
    "LayerNorm without its shift": partial(every_norm, partial(nn.LayerNorm, bias=False)),
    "RMSNorm with a shift": partial(every_norm, Shifted),
    "a bias for each matrix": biases,
    "Muon for AdamW": lambda model: None,
}
MUON = "Muon for AdamW"
LASTING = (
    "the base",
    "RoPE, a shift at the input",
    "RMSNorm with a shift",
    "a bias for each matrix",
)


def orthogonal(m: Tensor, steps: int = 5) -> Tensor:
    """Nearly U V^T of each matrix (..., n, m), by Newton and Schulz, with Jordan's coefficients."""
    x = m.mT if m.shape[-2] > m.shape[-1] else m
    x = x / x.norm(dim=(-2, -1), keepdim=True).clamp(min=1e-7)
    for _ in range(steps):
        a = x @ x.mT
        x = 3.4445 * x + (-4.7750 * a + 2.0315 * a @ a) @ x
    return x.mT if m.shape[-2] > m.shape[-1] else x


class Optimizer:
    """AdamW for many models at once, each with rates of its own; or Muon for their matrices.

    Args:
        weights: by name, (K, ...) of K models.
        rates, shares: (K,), of embedding and norms; and times these, of the blocks' matrices.
    """

    def __init__(self, weights: dict[str, Tensor], rates: Tensor, shares: Tensor, muon: bool):
        self.weights, self.rates, self.shares, self.muon = weights, rates, shares, muon
        self.means = {name: torch.zeros_like(w) for name, w in weights.items()}
        self.squares = {name: torch.zeros_like(w) for name, w in weights.items()}
        self.t = 0

    @torch.no_grad()
    def step(self, share: float, decay: float = 0.02) -> None:
        """One step at this share of the rates; gradients are clipped to length 1 in each model."""
        self.t += 1
        used = {name: w for name, w in self.weights.items() if w.grad is not None}
        size = sum(w.grad.flatten(1).square().sum(1) for w in used.values()).sqrt()
        clip = (1 / (size + 1e-6)).clamp(max=1)
        for name, w in used.items():
            shape = (-1, *[1] * (w.dim() - 1))
            matrix = w.dim() == 3 and name.startswith("blocks")
            rate = share * (self.rates * self.shares if matrix else self.rates).view(shape)
            gradient, first, second = (
                w.grad * clip.view(shape),
                self.means[name],
                self.squares[name],
            )
            if matrix and self.muon:
                first.lerp_(gradient, 0.05)
                update = orthogonal(gradient.lerp(first, 0.95)) * 0.2 * max(w.shape[1:]) ** 0.5
            else:
                first.lerp_(gradient, 0.1)
                second.lerp_(gradient.square(), 0.01)
                root = (second / (1 - 0.99**self.t)).sqrt_().add_(1e-8)
                update = first / (1 - 0.9**self.t) / root
            w.mul_(1 - rate * decay).sub_(rate * update)
            w.grad = None


def gaps(
    name: str,
    pairs: Sequence[tuple],
    seeds: Sequence[int],
    starts: Sequence[int],
    steps: int = STEPS,
) -> list[float]:
    """Nats above the entropy, from the third symbol on, of models with one change, side by side.

    Args:
        name: of the change.
        pairs: for each model its pair of rates, as in `RATES`.
        seeds: what draws its table and its text.
        starts: what draws its first weights.
        steps: of training.
    """
    draws = [torch.Generator().manual_seed(seed) for seed in seeds]
    tables = [torch.randint(SYMBOLS, (SYMBOLS, SYMBOLS), generator=draw) for draw in draws]
    models = []
    for start in starts:
        torch.manual_seed(start)
        models.append(LanguageModel(SYMBOLS, WIDTH, layers=1, heads=HEADS))
        CHANGES[name](models[-1])
    weights, buffers = stack_module_state(models)
    said = vmap(lambda *state: functional_call(models[0], state[:2], state[2]))
    rates, shares = torch.tensor(pairs).T
    optimizer = Optimizer(weights, rates, shares, name == MUON)

    def losses(rows: int, after: int) -> Tensor:
        both = zip(tables, draws, strict=True)
        ids = torch.stack([text(table, rows, draw) for table, draw in both])
        logp = said(weights, buffers, ids[..., :-1])[:, :, after:].log_softmax(-1)
        return -logp.gather(-1, ids[..., after + 1 :, None]).mean((1, 2, 3))

    with sdpa_kernel(SDPBackend.MATH):  # the one that runs side by side
        for step in range(steps):
            losses(BATCH, 0).sum().backward()
            optimizer.step(learning_rate(step, steps, 1.0))
        with torch.no_grad():
            return [round(x - ENTROPY, 4) for x in losses(500, 1).tolist()]


def tried(name: str, steps: int = STEPS) -> dict:
    """The best rates of a change, and its gaps on the other seeds; of the base for each start."""
    count = len(TUNED_ON)
    some = TUNED_ON * len(RATES)
    found = gaps(name, [pair for pair in RATES for _ in TUNED_ON], some, some, steps)
    tuned = [mean(found[i : i + count]) for i in range(0, len(found), count)]
    pair = RATES[tuned.index(min(tuned))]
    starts = STARTS if name == "the base" else STARTS[:1]
    both = [(seed, seed + start) for start in starts for seed in SEEDS]
    found = gaps(name, [pair] * len(both), *zip(*both, strict=True), steps)
    rows = [found[i : i + len(SEEDS)] for i in range(0, len(found), len(SEEDS))]
    return {"rates": pair, "tuned": [round(x, 4) for x in tuned], "gaps": rows}


def over_rates(name: str) -> dict[str, list[float]]:
    """By the rate, the same for all weights, the gap with each seed."""
    return {str(rate): gaps(name, [(rate, 1.0)] * len(SEEDS), SEEDS, SEEDS) for rate in MORE_RATES}


def stored() -> dict[str, dict]:
    """What `tried` and `over_rates` found, as it is kept beside this file."""
    return json.loads(files("book.experts").joinpath("trials.json").read_text("utf8"))


def placebos(base: Sequence[Sequence[float]], n: int) -> list[float]:
    """Effects of no change, over n seeds: a start of each against the mean of the other starts.

    Args:
        base: gaps of the base, (starts, seeds).
    """
    found = []
    for seeds in combinations(zip(*base, strict=True), n):
        for picked in product(range(len(base)), repeat=n):
            pairs = zip(seeds, picked, strict=True)
            found.append(mean(one[i] - mean(one[:i] + one[i + 1 :]) for one, i in pairs))
    return found


def band(base: Sequence[Sequence[float]], n: int) -> float:
    """How far from 0 the farthest placebo lies."""
    return max(map(abs, placebos(base, n)))


def smallest_seen(base: Sequence[Sequence[float]], n: int) -> float:
    """The effect that leaves the band in four of five cases, if noise is as the placebos'."""
    noise = sorted(placebos(base, n))
    return band(base, n) - noise[len(noise) // 5]


def later() -> dict[str, dict]:
    """What `tried` found after four times the steps."""
    return json.loads(files("book.experts").joinpath("later.json").read_text("utf8"))


def main(when: str = "") -> None:
    """Print the table; `when` is "later" for that of more steps."""
    names, steps = (LASTING, 4 * STEPS) if when == "later" else (CHANGES, STEPS)
    changes = {}
    for name in names:
        changes[name] = tried(name, steps)
        print(name, changes[name], file=sys.stderr, flush=True)
    if when == "later":
        print(json.dumps(changes, indent=1))
        return
    rates = {name: over_rates(name) for name in ("the base", "QK-norm")}
    print(json.dumps({"changes": changes, "rates": rates}, indent=1))


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(*sys.argv[1:])
