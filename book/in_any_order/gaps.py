"""Who writes the better words for a gap, and who judges them better?

    python -m book.in_any_order.gaps 701 702 703 704 > book/in_any_order/gaps.json

made the table beside this file. For every seed, which draws sentences and starts: the chapter's
network and its GPT, trained as there, write 16 drafts of three words for each of 200 gaps; each of
them then says which draft makes the whole sentence most probable, the network by one random order
of its words, and by 16. A row has the shares of gaps that are filled so that the sentence is in the
language. A seed takes about four minutes.
"""

from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor

from book import runs
from book.in_any_order.few import (
    BATCH,
    CLOSER,
    FIRST_WORD,
    HIDDEN,
    ORDERS,
    PAD,
    VOCABULARY,
    any_order_loss,
    closer,
    hide,
    new_model,
    price_in_any_order,
    price_left_to_right,
)
from companion.data import BOS, CLS, EOS, SEP, batches, corpus, is_sentence
from companion.models import BERT, GPT
from companion.training import cosine_schedule, fit, next_token_loss

SENTENCES, STEPS, GAPS, DRAFTS = 30_000, 1000, 200, 16
FIRST, LAST = 3, 6  # of the row: the third, fourth and fifth word are to be filled in
RATES = {"any order": 7e-3, "GPT": 1e-2}
ENDS = {"any order": (CLS, SEP), "GPT": (BOS, EOS)}


def encoded(name: str, sentences: Sequence[Sequence[str]]) -> Tensor:
    first, last = ENDS[name]
    return VOCABULARY.encode([(first, *words, last) for words in sentences])


def learn(name: str, seed: int) -> BERT | GPT:
    """The chapter's model, trained as there."""
    rows = batches(encoded(name, corpus(SENTENCES, seed)), batch_size=BATCH, seed=seed, pad_id=PAD)

    def hidden(step):
        return hide(rows(step), torch.Generator().manual_seed(100_000 * seed + step))

    model = new_model(name, seed)
    fit(
        model,
        hidden if name == "any order" else rows,
        steps=STEPS,
        loss=any_order_loss if name == "any order" else next_token_loss(PAD),
        learning_rate=partial(
            cosine_schedule,
            max_lr=RATES[name],
            min_lr=0.0,
            warmup_steps=STEPS // 20,
            total_steps=STEPS,
        ),
        betas=(0.9, 0.99),
        weight_decay=0.02,
        progress=False,
    )
    return model


def drawn(logits: Tensor, random: torch.Generator) -> Tensor:
    """A word for each row of logits (N, vocab_size)."""
    logits[:, :FIRST_WORD] = -torch.inf
    return logits.softmax(-1).multinomial(1, generator=random)[:, 0]


@torch.no_grad()
def drafts_by_filling(model: BERT, ids: Tensor, random: torch.Generator) -> Tensor:
    """The gap filled a word at a time, in a random order."""
    ids = ids.clone()
    ids[:, FIRST:LAST] = HIDDEN
    rows = torch.arange(len(ids))
    for places in torch.rand(len(ids), LAST - FIRST, generator=random).argsort(1).T:
        ids[rows, FIRST + places] = drawn(model(ids)[rows, FIRST + places], random)
    return ids


@torch.no_grad()
def drafts_from_the_left(model: GPT, ids: Tensor, random: torch.Generator) -> Tensor:
    """The gap filled from left to right, without a look at what follows."""
    ids = ids.clone()
    for place in range(FIRST, LAST):
        ids[:, place] = drawn(model(ids[:, :place])[:, -1], random)
    return ids


def run(seed: int) -> dict:
    """The shares that are right: {"seed", "drafts of": {writer: {judge: share}}}."""
    long = [words for words in corpus(4 * GAPS, seed + 1000) if len(words) > LAST][:GAPS]
    models = {name: learn(name, seed) for name in RATES}
    random = torch.Generator().manual_seed(seed)
    write: dict[str, Callable[..., Tensor]] = {
        "any order": drafts_by_filling,
        "GPT": drafts_from_the_left,
    }
    found = {}
    for writer, model in models.items():
        ids = encoded(writer, long).repeat_interleave(DRAFTS, 0)
        rows = write[writer](model, ids, random)
        sentences = [[VOCABULARY.words[i] for i in row if i >= FIRST_WORD] for row in rows.tolist()]
        right = torch.tensor([is_sentence(words) for words in sentences]).view(-1, DRAFTS).float()
        told = encoded("any order", sentences)
        orders = torch.Generator().manual_seed(seed)
        in_orders = [price_in_any_order(models["any order"], told, orders) for _ in range(ORDERS)]
        prices = {
            "any order": price_in_any_order(models["any order"], told, random),
            CLOSER: closer(torch.stack(in_orders)),
            "GPT": price_left_to_right(models["GPT"], encoded("GPT", sentences)),
        }
        found[writer] = {"the first draft": right[:, 0].mean().item()} | {
            judge: right.gather(1, price.view(-1, DRAFTS).argmin(1, keepdim=True)).mean().item()
            for judge, price in prices.items()
        }
        found[writer]["any of the drafts"] = right.amax(1).mean().item()
    return {"seed": seed} | {
        writer: {judge: round(share, 3) for judge, share in shares.items()}
        for writer, shares in found.items()
    }


def measured() -> list[dict]:
    """The committed table, a row for each seed."""
    return runs.read(__file__, "gaps.json")


if __name__ == "__main__":
    runs.write(run)
