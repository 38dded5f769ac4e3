"""A narrow cache: a latent that is trained with its model, against one cut into a finished model.

    python -m book.experts.narrow > book/experts/narrow.json

made the table beside this file in half an hour. The model and its sentences are the chapter's own;
the gap is the loss above the entropy of the sentences, which is known. Every design takes the best
of the same four rates on a seed of its own, then meets five others, which draw sentences and
weights. What is trained on goes on for as many steps, with new sentences and a rate chosen for it.
"""

import json
import sys
from collections.abc import Callable
from copy import deepcopy
from functools import cache, partial
from importlib.resources import files
from math import log

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from book.language_model import NOTHING, LanguageModel, log_probs, rotate, table, train
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
    """What a model is trained on: a first half, and a second one to be trained on further."""
    return ids_of(corpus(2 * STEPS * BATCH, seed))


@torch.no_grad()
def gap(model: nn.Module) -> float:
    """Nats per token above the entropy of a thousand fresh sentences."""
    fresh = corpus(1000, 999)
    ids = ids_of(fresh)
    said = sum(log_probs(model, part).sum().item() for part in ids.split(100))
    known = sum(log(sentence_probability(words)) for words in fresh)
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


@cache
def finished(name: str, seed: int) -> LanguageModel:
    """The model of a design, trained."""
    torch.manual_seed(seed)
    model = DESIGNS[name](seed)
    train(model, lambda i: sentences(seed)[i * BATCH : (i + 1) * BATCH], STEPS, peak=RATE)
    return model


def again(name: str, seed: int) -> LanguageModel:
    """A finished model, to be trained further."""
    return deepcopy(finished(name, seed))


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
        f"latent {_c} + {_r}, again": partial(again, f"latent {_c} + {_r}"),
        f"latent {_c} + {_r}, no norm": partial(with_own, partial(latent, _c, _r, norm=False)),
    }
UNTRAINED = tuple(f"cut to {c}" for c in LATENTS)


def measure(name: str, seed: int, rate: float | None) -> float:
    """The gap of one run; without a rate, of a model that is not trained further."""
    again = STEPS * BATCH * name.endswith("again")
    torch.manual_seed(seed)
    model = DESIGNS[name](seed)
    if rate is not None:
        rows = sentences(seed)[again:]
        train(model, lambda i: rows[i * BATCH : (i + 1) * BATCH], STEPS, peak=rate)
    return round(gap(model), 4)


def measured() -> dict[str, dict]:
    """The committed table: by design the rate, what each rate gave, and the gap of each seed."""
    return json.loads(files("book.experts").joinpath("narrow.json").read_text("utf8"))


def main() -> None:
    """Choose the rates, then print the table."""
    found = {}
    for name in DESIGNS:
        tuned = {rate: measure(name, TUNED_ON, rate) for rate in RATES if name not in UNTRAINED}
        found[name] = {"tuned": tuned, "rate": min(tuned, key=tuned.get, default=None), "gaps": []}
        print(name, found[name], file=sys.stderr, flush=True)
    for seed in SEEDS:
        for name, one in found.items():
            one["gaps"].append(measure(name, seed, one["rate"]))
            print(seed, name, one["gaps"][-1], file=sys.stderr, flush=True)
    rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(one)}" for name, one in found.items())
    print(f"{{\n{rows}\n}}")


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
