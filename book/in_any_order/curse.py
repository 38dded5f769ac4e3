"""Who knows backwards what was told forwards? Ten starts of a GPT and of two encoders.

    python -m book.in_any_order.curse {5301..5310} > book/in_any_order/curse.json

made the table beside this file. A seed draws who wrote which book, the starts, the batches and what
is hidden: the chapter's three models learn the facts as there. A row has for each of them how many
of the hundred that are asked it knows forwards and backwards, how many the GPT knows when it is
asked forwards about every author, and whom the network for any order names for each book. A seed
takes about half a minute.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor, nn

from book import runs
from book.in_any_order.few import BATCH, FIRST_WORD, HIDDEN, PAD, any_order_loss, hide
from companion.data import BOS, CLS, EOS, SEP, Vocabulary, batches
from companion.models import BERT, GPT, BERTConfig, GPTConfig
from companion.training import cosine_schedule, fit, next_token_loss

PAIRS, ASKED, LESSONS, RATE = 200, 100, 1000, 4e-3
MODELS = ("GPT", "any order", "last words")
BAYES = "GPT, asked forwards"


class World(NamedTuple):
    """Author i wrote book i; the first `ASKED` of these facts are told forwards alone."""

    authors: list[str]
    books: list[str]

    @property
    def forwards(self) -> list[tuple[str, ...]]:
        return [(a, "wrote", b) for a, b in zip(self.authors, self.books, strict=True)]

    @property
    def backwards(self) -> list[tuple[str, ...]]:
        by = zip(self.books, self.authors, strict=True)
        return [(b, "was", "written", "by", a) for b, a in by]

    @property
    def told(self) -> list[tuple[str, ...]]:
        return self.forwards + self.backwards[ASKED:]

    @property
    def library(self) -> Vocabulary:
        others = ("wrote", "was", "written", "by")
        return Vocabulary((BOS, EOS, *others, *self.authors, *self.books))


def world_of(seed: int) -> World:
    """The pairs of a seed."""
    torch.manual_seed(seed)
    books = [f"book{i}" for i in torch.randperm(PAIRS).tolist()]
    return World([f"author{i}" for i in range(PAIRS)], books)


def encoded(name: str, world: World, sentences: list[tuple[str, ...]]) -> Tensor:
    first, last = (BOS, EOS) if name == "GPT" else (CLS, SEP)
    return world.library.encode([(first, *words, last) for words in sentences])


def last_hidden(ids: Tensor, random: torch.Generator) -> tuple[Tensor, Tensor]:
    """The ids with the last word hidden, which is a GPT's question, and the targets."""
    place = torch.arange(ids.shape[1]).expand(ids.shape)
    hidden = place == (ids >= FIRST_WORD).sum(1, keepdim=True)
    return ids.masked_fill(hidden, HIDDEN), ids.masked_fill(~hidden, PAD)


def learned(name: str, world: World, seed: int) -> BERT | GPT:
    """One of `MODELS`, with two blocks, trained as in the chapter."""
    torch.manual_seed(seed)
    family, config = (GPT, GPTConfig) if name == "GPT" else (BERT, BERTConfig)
    sizes = {"vocab_size": len(world.library), "d_model": 64, "num_layers": 2, "num_heads": 4}
    sizes |= {"d_ff": 256, "max_len": 20, "norm_first": True, "activation": "gelu"}
    model = family(config(**sizes, dropout=0.0))
    for parameter in model.blocks.parameters():
        if parameter.dim() > 1:
            nn.init.normal_(parameter, std=0.1)
    ids = encoded(name, world, world.told)
    text = batches(ids, batch_size=BATCH, seed=seed, pad_id=PAD)
    change = hide if name == "any order" else last_hidden

    def asked(step):
        return change(text(step), torch.Generator().manual_seed(100_000 * seed + step))

    fit(
        model,
        text if name == "GPT" else asked,
        steps=LESSONS,
        loss=next_token_loss(PAD) if name == "GPT" else any_order_loss,
        learning_rate=partial(
            cosine_schedule,
            max_lr=RATE,
            min_lr=0.0,
            warmup_steps=LESSONS // 20,
            total_steps=LESSONS,
        ),
        betas=(0.9, 0.99),
        weight_decay=0.02,
        progress=False,
    )
    return model


@torch.no_grad()
def last_word(
    name: str, model: Callable[[Tensor], Tensor], world: World, sentences: list[tuple[str, ...]]
) -> list[str]:
    """What a model takes for the last word of sentences of one length."""
    ids = encoded(name, world, sentences)
    if name == "GPT":
        answers = model(ids[:, :-2])[:, -1]
    else:
        ids[:, -2] = HIDDEN
        answers = model(ids)[:, -2]
    return [world.library.words[i] for i in answers.argmax(-1).tolist()]


def known(name: str, model: Callable[[Tensor], Tensor], world: World) -> list[int]:
    """How many of the facts that are asked a model knows: forwards, and backwards."""
    return [
        sum(
            word == said[-1]
            for word, said in zip(last_word(name, model, world, asked), asked, strict=True)
        )
        for asked in (world.forwards[:ASKED], world.backwards[:ASKED])
    ]


@torch.no_grad()
def by_asking_all(model: Callable[[Tensor], Tensor], world: World) -> int:
    """Of how many books that are asked the author is the one who makes it most probable."""
    ids = encoded("GPT", world, [(author, "wrote") for author in world.authors])
    chances = model(ids[:, :-1])[:, -1].softmax(-1)  # (authors, all words)
    chances = chances[:, world.library.encode([world.books[:ASKED]])[0]]
    return (chances.argmax(0) == torch.arange(ASKED)).sum().item()


def measure(seed: int) -> dict:
    """The row of a seed."""
    world = world_of(seed)
    models = {name: learned(name, world, seed) for name in MODELS}
    named = last_word("any order", models["any order"], world, world.backwards[:ASKED])
    return (
        {"seed": seed}
        | {name: known(name, model, world) for name, model in models.items()}
        | {BAYES: by_asking_all(models["GPT"], world)}
        | {"named": named}
    )


def stored() -> list[dict]:
    """The committed table, a row for each seed."""
    return runs.read(__file__, "curse.json")


if __name__ == "__main__":
    runs.write(measure)
