"""A narrow cache: a latent that is trained with its model, against one cut into a finished model.

    python -m book.experts.narrow > book/experts/narrow.json

makes the table beside this file. The one that is there was put together from three such runs: two
were interrupted, and the third has the last three designs. Model and sentences are the chapter's
own; the gap is the loss above the entropy of the sentences, which is known. Every design takes the
best of the same four rates on a seed of its own, then meets five others, which draw sentences and
weights. What is trained again goes on for as many steps, with new sentences and a rate chosen for
it.
"""

import json
import sys
from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import cache, partial
from importlib.resources import files
from math import log

import torch
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from book.experts.trials import Optimizer
from book.language_model import NOTHING, LanguageModel, learning_rate, log_probs, rotate, table
from companion.data import BOS, EOS, WORDS, corpus, sentence_probability
from companion.nn import LatentAttention, MultiHeadAttention, RotaryEmbedding

WIDTH, HEADS, LAYERS, STEPS, BATCH = 64, 4, 2, 300, 32
RATES, TUNED_ON, SEEDS = (0.005, 0.01, 0.02, 0.04), 790, (801, 802, 803, 804, 805)
RATE = 0.02  # of what is trained again or cut, before that
LATENTS = {16: 8, 8: 4, 4: 2}  # the numbers of a latent, and of what is turned beside it
_NUMBER = {word: i for i, word in enumerate([BOS, EOS, *WORDS])}


def ids_of(sentences: list) -> Tensor:
    """Token ids (B, T), NOTHING after the end of each sentence."""
    return table([[_NUMBER[word] for word in (BOS, *words, EOS)] for words in sentences])


@cache
def sentences(seed: int) -> Tensor:
    """What a model is trained on: a first half, and a second one to be trained on again."""
    return ids_of(corpus(2 * STEPS * BATCH, seed))


def train(
    models: Sequence[nn.Module], seeds: Sequence[int], rates: Sequence[float], first: int = 0
) -> None:
    """Train models of one design side by side, each on sentences of its own from the first on."""
    weights, buffers = stack_module_state(models)
    said = vmap(lambda *state: functional_call(models[0], state[:2], state[2]))
    optimizer = Optimizer(weights, torch.tensor(rates), torch.ones(len(rates)), muon=False)
    rows = [sentences(seed)[first:] for seed in seeds]
    longest = max(ids.shape[1] for ids in rows)
    rows = torch.stack([F.pad(ids, (0, longest - len(ids[0])), value=NOTHING) for ids in rows])
    for step in range(STEPS):
        ids = rows[:, step * BATCH : (step + 1) * BATCH]
        ids = ids[..., : (ids != NOTHING).sum(-1).max()]
        target = ids[..., 1:]
        with sdpa_kernel(SDPBackend.MATH):  # the one that runs side by side
            logits = said(weights, buffers, ids[..., :-1])
        loss = F.cross_entropy(
            logits.flatten(0, 2), target.flatten(), ignore_index=NOTHING, reduction="none"
        ).view(target.shape)
        (loss.sum((1, 2)) / (target != NOTHING).sum((1, 2))).sum().backward()
        optimizer.step(learning_rate(step, STEPS, 1.0))
    for i, model in enumerate(models):
        model.load_state_dict({name: weight[i] for name, weight in weights.items()}, strict=False)


@cache
def fresh() -> tuple[Tensor, float]:
    """A thousand sentences that nobody is trained on, and their log-probability."""
    words = corpus(1000, 999)
    return ids_of(words), sum(log(sentence_probability(one)) for one in words)


@torch.no_grad()
def gap(model: nn.Module) -> float:
    """Nats per token above the entropy of a thousand fresh sentences."""
    ids, known = fresh()
    said = sum(log_probs(model, part).sum().item() for part in ids.split(100))
    return (known - said) / (ids[:, 1:] != NOTHING).sum().item()


class Own(nn.Module):
    """An attention of `companion.nn` as the model calls its own."""

    def __init__(self, layer: nn.Module):
        super().__init__()
        self.layer = layer

    def forward(self, x: Tensor, cache=None) -> Tensor:
        return self.layer(x, is_causal=True)[0]


class Cut(nn.Module):
    """The model's attention behind a bottleneck; keys are turned after they are made of it.

    Args:
        attention: of the finished model.
        down, up: (c, d) and (2 d, c), in place of its keys and values (2 d, d).
    """

    def __init__(self, attention: nn.Module, down: Tensor, up: Tensor):
        super().__init__()
        self.out = deepcopy(attention.out)
        self.query = nn.Parameter(attention.qkv.weight.detach()[:WIDTH].clone())
        self.down, self.up = nn.Parameter(down), nn.Parameter(up)

    def forward(self, x: Tensor, cache=None) -> Tensor:
        parts = x @ self.query.T, *(x @ self.down.T @ self.up.T).chunk(2, dim=-1)
        q, k, v = (part.unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in parts)
        y = F.scaled_dot_product_attention(rotate(q), rotate(k), v, is_causal=True)
        return self.out(y.transpose(1, 2).flatten(2))


def with_own(layer_of: Callable[[], nn.Module], seed: int) -> LanguageModel:
    """A new model with another attention, which starts as the model's own does."""
    model = LanguageModel(len(_NUMBER), WIDTH, LAYERS, HEADS)
    for block in model.blocks:
        block.attention = Own(layer_of())
        for name, weight in block.attention.named_parameters():
            if weight.dim() == 2:
                scale = (2 * LAYERS) ** -0.5 if "out_proj" in name else 1.0
                nn.init.normal_(weight, std=scale * weight.shape[1] ** -0.5)
    return model


def one_key_head() -> MultiHeadAttention:
    """Multi-query attention."""
    rope = RotaryEmbedding(WIDTH // HEADS, pairing="half")
    return MultiHeadAttention(WIDTH, HEADS, num_kv_heads=1, bias=False, rope=rope)


def latent(c: int, turned: int, norm: bool = True) -> LatentAttention:
    """A latent of c numbers, with so many turned beside it; with its norm or without."""
    layer = LatentAttention(WIDTH, HEADS, c, rope=RotaryEmbedding(turned) if turned else None)
    layer.latent_norm = layer.latent_norm if norm else nn.Identity()
    return layer


_finished: dict[tuple[str, int], LanguageModel] = {}


def new(name: str, seed: int) -> nn.Module:
    """The model of a design before its training."""
    torch.manual_seed(seed)
    return DESIGNS[name](seed)


def again(name: str, seed: int) -> LanguageModel:
    """A finished model of a design, to be cut or trained again."""
    if (name, seed) not in _finished:
        seeds = SEEDS if seed in SEEDS else (seed,)
        models = [new(name, one) for one in seeds]
        train(models, seeds, [RATE] * len(seeds))
        _finished.update({(name, one): model for one, model in zip(seeds, models, strict=True)})
    return deepcopy(_finished[name, seed])


def cut(c: int, seed: int) -> LanguageModel:
    """The finished model, whose keys and values are the best that c numbers give of its inputs."""
    model, read = again("full", seed), sentences(seed)[:400, :-1]
    with torch.no_grad():
        x = model.norm_in(model.embedding(read.clamp(min=0)))
        for block in model.blocks:
            seen = block.norm1(x)[read != NOTHING].double()
            values, vectors = torch.linalg.eigh(seen.T @ seen / len(seen))
            root = values.clamp(min=1e-10).sqrt()
            keys_and_values = block.attention.qkv.weight[WIDTH:].double()
            U, s, Vt = torch.linalg.svd(keys_and_values @ (vectors * root), full_matrices=False)
            down, up = (Vt[:c] / root) @ vectors.T, U[:, :c] * s[:c]
            block.attention = Cut(block.attention, down.float(), up.float())
            x = block(x)  # what the next block will read
    return model


# name: the model before its training, for a seed; those of "again" have been trained once
DESIGNS: dict[str, Callable[[int], nn.Module]] = {
    "full": lambda seed: LanguageModel(len(_NUMBER), WIDTH, LAYERS, HEADS),
    "full, again": partial(again, "full"),
    "one key head": partial(with_own, one_key_head),
}
for _c, _r in LATENTS.items():
    DESIGNS |= {
        f"cut to {_c}": partial(cut, _c),
        f"cut to {_c}, again": partial(cut, _c),
        f"latent {_c}": partial(with_own, partial(latent, _c, 0)),
        f"latent {_c} + {_r}": partial(with_own, partial(latent, _c, _r)),
    }
DESIGNS |= {
    "latent 4 + 2, no norm": partial(with_own, partial(latent, 4, 2, norm=False)),
    "latent 4 + 2, again": partial(again, "latent 4 + 2"),
    "latent 8 + 4, again": partial(again, "latent 8 + 4"),
    "latent 16 + 8, again": partial(again, "latent 16 + 8"),
    "one key head, again": partial(again, "one key head"),
}
UNTRAINED = tuple(f"cut to {c}" for c in LATENTS)


def gaps(name: str, seeds: Sequence[int], rates: Sequence[float] | None) -> list[float]:
    """The gaps of models of a design, side by side; without rates they are not trained."""
    models = [new(name, seed) for seed in seeds]
    if rates is not None:
        train(models, seeds, rates, STEPS * BATCH * name.endswith("again"))
    return [round(gap(model), 4) for model in models]


def measured() -> dict[str, dict]:
    """The committed table: by design the rate, what each rate gave, and the gap of each seed."""
    return json.loads(files("book.experts").joinpath("narrow.json").read_text("utf8"))


def main() -> None:
    """Choose the rates, then print the table."""
    found = {}
    for name in DESIGNS:
        tuned, rates = [], None
        if name not in UNTRAINED:
            tuned = gaps(name, [TUNED_ON] * len(RATES), RATES)
            rates = [RATES[tuned.index(min(tuned))]] * len(SEEDS)
        found[name] = {"tuned": tuned, "rate": rates and rates[0], "gaps": gaps(name, SEEDS, rates)}
        print(name, found[name], file=sys.stderr, flush=True)
    rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(one)}" for name, one in found.items())
    print(f"{{\n{rows}\n}}")


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
