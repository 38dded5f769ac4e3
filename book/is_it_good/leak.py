"""Test sets that leaked into a training text: what each of their sentences gains by it. Ten starts.

    python -m book.is_it_good.leak {5301..5310} > leak.json

made the table, which lies beside this file. A seed draws all sentences and the start: 15 seconds.
"""

import random
from collections.abc import Callable
from math import log

import torch
from torch import Tensor, nn

from book import runs
from book.language_model import NOTHING, LanguageModel, log_probs, train
from book.language_model import table as as_table
from companion.data import corpus, sentence_probability

SET, STEPS, BATCH = 60, 600, 64
COPIES = 0, 2, 8, 32  # of each test set in the training text
HONEST = 20  # more sets that were never in it

Sentences = list[list[str]]


def drawn(seed: int) -> tuple[Sentences, dict[int, Sentences], Sentences]:
    """A training text with leaks, the test set of each number of copies, and fresh sentences."""
    at = 10_000 * (seed + 1)
    sets = {k: corpus(SET, at + k) for k in COPIES}
    leaked = [words for k, sentences in sets.items() for words in sentences * k]
    training = corpus(STEPS * BATCH - len(leaked), seed) + leaked
    random.Random(seed).shuffle(training)
    return training, sets, corpus(HONEST * SET, at + 100)


def numbering(sentences: Sentences) -> Callable[[Sentences], Tensor]:
    """What makes rows of numbers of sentences that have no other words than these."""
    words = sorted({word for words in sentences for word in words})
    number = {word: i for i, word in enumerate(words, 1)}  # 0 begins and ends a sentence
    return lambda some: as_table([[0, *map(number.get, words), 0] for words in some])


def learned(rows: Tensor, seed: int) -> LanguageModel:
    """A model of *Your own language model* that has read these rows once."""

    def batch(step: int) -> Tensor:
        part = rows[step * BATCH : (step + 1) * BATCH]
        return part[:, : (part != NOTHING).any(0).sum()]

    torch.manual_seed(seed)
    model = LanguageModel(int(rows.max()) + 1)
    train(model, batch, STEPS)
    return model.eval()


@torch.no_grad()
def asked(model: nn.Module, rows_of: Callable[[Sentences], Tensor], sentences: Sentences) -> dict:
    """{"gains": ln q - ln p of each sentence, "own": their ln p, "tokens": theirs, ends included}.

    q is the model's probability of a sentence, p the true one.
    """
    q = log_probs(model, rows_of(sentences)).double().sum(1)
    p = torch.tensor([log(sentence_probability(words)) for words in sentences])
    gains = [round(gain, 3) for gain in (q - p).tolist()]
    tokens = sum(len(words) + 1 for words in sentences)
    return {"gains": gains, "own": round(p.sum().item(), 3), "tokens": tokens}


def measure(seed: int) -> dict:
    """{"seed", "sets": what is `asked` of each number of copies, "honest": and of the others}."""
    training, sets, fresh = drawn(seed)
    rows_of = numbering([*training, *fresh, *(words for some in sets.values() for words in some)])
    model = learned(rows_of(training), seed)
    others = [fresh[i : i + SET] for i in range(0, len(fresh), SET)]
    return {
        "seed": seed,
        "sets": {str(k): asked(model, rows_of, sentences) for k, sentences in sets.items()},
        "honest": [asked(model, rows_of, sentences) for sentences in others],
    }


def stored() -> list[dict]:
    """The committed table, a row for each seed."""
    return runs.read(__file__, "leak.json")


if __name__ == "__main__":
    runs.write(measure)
