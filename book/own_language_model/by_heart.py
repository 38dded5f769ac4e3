"""The control of "what was read once leaves little": a model that must learn sentences by heart.

    python -m book.own_language_model.by_heart 701 702 703 704 705 > \
        book/own_language_model/by_heart.json

made the table beside this file. The chapter's model takes the chapter's steps, but on 2,560
sentences, each read twenty times. Its prices are compared as there. A word is a token, which is
what the chapter's tokenizer comes to. A seed draws sentences and weights; it takes half a minute.
"""

from collections import Counter
from collections.abc import Sequence
from math import log

import torch

from book import runs
from book.language_model import NOTHING, LanguageModel, log_probs, table, train
from companion.data import WORDS, corpus, sentence_probability

STEPS, BATCH, KEPT, COMPARED = 800, 64, 2560, 1000
_NUMBER = {word: i for i, word in enumerate(WORDS, start=1)}  # 0 begins and ends a sentence


def ids_of(sentences: Sequence[Sequence[str]]) -> torch.Tensor:
    """Token ids (B, T), NOTHING after the end of each sentence."""
    return table([[0, *(_NUMBER[word] for word in words), 0] for words in sentences])


@torch.no_grad()
def too_dear(model: torch.nn.Module, sentences: Sequence[Sequence[str]]) -> float:
    """Nats per sentence above its price in the language, the mean of these sentences."""
    says = log_probs(model, ids_of(sentences)).sum().item()
    return (sum(log(sentence_probability(words)) for words in sentences) - says) / len(sentences)


def measure(seed: int) -> dict:
    """What sentences cost above their price: {"seed", "read" often, "never read"}.

    Those that are never read have only words that were read.
    """
    read = corpus(KEPT, seed)
    rows = ids_of(read)

    def batch(step):
        part = rows.roll(-step * BATCH, dims=0)[:BATCH]
        return part[:, : (part != NOTHING).any(dim=0).sum()]

    torch.manual_seed(seed)
    model = LanguageModel(len(_NUMBER) + 1, d=64, layers=2, heads=4)
    train(model, batch, STEPS)
    times = Counter(map(tuple, read))
    words = {word for sentence in read for word in sentence}
    once = [sentence for sentence in read if times[tuple(sentence)] == 1][-COMPARED:]
    never = [
        sentence
        for sentence in corpus(COMPARED, seed + 1000)
        if tuple(sentence) not in times and words.issuperset(sentence)
    ]
    return {
        "seed": seed,
        "read": round(too_dear(model, once), 3),
        "never read": round(too_dear(model, never), 3),
    }


def stored() -> list[dict]:
    """The committed table, a row for each seed."""
    return runs.read(__file__, "by_heart.json")


if __name__ == "__main__":
    runs.write(measure)
