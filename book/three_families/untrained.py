"""Encoders that were not pre-trained: what labels alone teach them of what "it" stands for.

    python -m book.three_families.untrained {5301..5310} > book/three_families/untrained.json

made the table beside this file. A seed draws the start and the sentences, and takes a quarter of a
minute. Model, sentences and training are those of the chapter's control, at both places where the
chapter reads an encoder, with half of the labels and with all.
"""

from functools import partial

import torch
from torch import Tensor
from torch.nn import functional as F

from book import runs
from book.sentences import PronounSentence, pronoun_sentences
from book.three_families.throne import VOCABULARY, new_model
from companion.data import CLS, SEP, batches
from companion.models import BERT
from companion.training import cosine_schedule, fit

STEPS, RATE = 300, 6e-3
PLACES, LABELS = ("it", CLS), (256, 512)


def task(sentences: list[PronounSentence], place: str) -> tuple[Tensor, Tensor, Tensor]:
    """Ids (B, T), the position that answers (B,), and right and wrong noun (B, 2)."""
    ids = VOCABULARY.encode([(CLS, *s.words, SEP) for s in sentences])
    at = torch.tensor([s.it_position + 1 if place == "it" else 0 for s in sentences])
    return ids, at, VOCABULARY.encode([(s.right_noun, s.wrong_noun) for s in sentences])


def answer(model: BERT, ids: Tensor, at: Tensor) -> Tensor:
    """Logits (B, vocab_size) at one position of each sentence."""
    return model.head(model.encode(ids)[torch.arange(len(ids)), at])


@torch.no_grad()
def share_right(model: BERT, sentences: list[PronounSentence], place: str) -> float:
    """Where the right noun has a larger logit than the wrong one."""
    ids, at, nouns = task(sentences, place)
    right, wrong = answer(model, ids, at).gather(1, nouns).unbind(1)
    return round((right > wrong).double().mean().item(), 4)


def tuned(place: str, labels: int, seed: int) -> list[float]:
    """Shares right, in the test and among the labels, after so many labelled sentences."""
    sentences = pronoun_sentences(512, seed)[:labels]
    torch.manual_seed(seed)
    model = new_model("encoder, 40 %")

    def loss(model, batch):
        ids, at, nouns = batch
        logits = answer(model, ids, at)
        return F.cross_entropy(logits, nouns[:, 0], reduction="sum"), len(logits)

    times = {"warmup_steps": STEPS // 10, "total_steps": STEPS}
    fit(
        model,
        batches(*task(sentences, place), batch_size=32, seed=seed),
        steps=STEPS,
        loss=loss,
        learning_rate=partial(cosine_schedule, max_lr=RATE, min_lr=0.0, **times),
        betas=(0.9, 0.99),
        weight_decay=0.02,
        progress=False,
    )
    held_out = pronoun_sentences(600, seed, split="test")
    return [share_right(model, part, place) for part in (held_out, sentences)]


def measure(seed: int) -> dict:
    """{"seed", place: [shares right in the test and among the labels, of half and of all]}."""
    return {"seed": seed} | {
        place: [tuned(place, labels, seed) for labels in LABELS] for place in PLACES
    }


def stored() -> Tensor:
    """The committed shares (runs, places, numbers of labels, 2)."""
    rows = runs.read(__file__, "untrained.json")
    return torch.tensor([[row[place] for place in PLACES] for row in rows])


if __name__ == "__main__":
    runs.write(measure)
