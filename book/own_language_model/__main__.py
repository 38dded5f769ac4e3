"""The reader's own language model, trained for real: python -m book.own_language_model own.

It is the command `python -m companion.train` with one more recipe, whose model has any --width and
--depth. And the race: python -m book.own_language_model race entry.py.
"""

import math
import sys

import torch

from book.language_model import (
    NOTHING,
    LanguageModel,
    Tokenizer,
    learning_rate,
    log_probs,
    sample,
    table,
)
from book.own_language_model import standings
from companion.data import WORDS, corpus, sentence_probability
from companion.train.__main__ import main
from companion.train.recipes import Recipe, device_of


def own(steps: int = 2_000, seed: int = 0, *, width: int = 64, depth: int = 2) -> Recipe:
    """The reader's own language model, at any width and depth, against the entropy."""
    if width % 16:
        raise ValueError(f"width is {width}; choose a multiple of 16, the width of a head")
    spaced = "".join(f" {word}" for word in WORDS)
    tokenizer = Tokenizer(spaced, 5_000)  # it stops when every word is one token
    known = sorted({tokenizer.end, *tokenizer.encode(spaced)})
    number = {token: place for place, token in enumerate(known)}
    end = number[tokenizer.end]

    def encoded(sentences):
        rows = [tokenizer.encode(" " + " ".join(words)) for words in sentences]
        return table([[end, *(number[token] for token in row), end] for row in rows])

    fresh = corpus(300, 2 * seed + 1)
    held_out = encoded(fresh)
    truth = sum(math.log(sentence_probability(words)) for words in fresh) / len(fresh)

    def loss(model, ids):
        return -log_probs(model, ids).sum(), (ids[:, 1:] != NOTHING).sum()

    def evaluate(model):
        ids = held_out.to(device_of(model))
        with torch.no_grad():
            says = sum(log_probs(model, part).sum().item() for part in ids.split(100))
        prompts = torch.full((100, 1), end, device=ids.device)
        generator = torch.Generator(ids.device).manual_seed(seed)
        written = sample(model, prompts, 20, end, generator=generator).tolist()
        whole = [row if end in row[1:] else [] for row in written]  # a text has to end
        texts = [tokenizer.decode([known[i] for i in row if i >= 0]) for row in whole]
        right = sum(sentence_probability(text.split()) > 0 for text in texts)
        return {
            "validation_loss": -says / (ids[:, 1:] != NOTHING).sum().item(),
            "nats_from_the_best": truth - says / len(fresh),  # KL, for each sentence
            "grammatical": right / len(texts),
            "samples": [text.strip() for text in texts[:5]],
        }

    return Recipe(
        model=LanguageModel(len(known), d=width, layers=depth, heads=width // 16),
        batches=lambda step: encoded(corpus(64, 2 * (seed + 1_000_003 * step))),
        loss=loss,
        learning_rate=lambda step: learning_rate(step - 1, steps, min(1e-2, 0.64 / width)),
        evaluate=evaluate,
        arguments={"weight_decay": 0.02, "betas": (0.9, 0.99)},
    )


PROGRAM = "python -m book.own_language_model"

if __name__ == "__main__":
    if sys.argv[1:2] == ["race"]:
        standings.main(sys.argv[2:], PROGRAM)
    else:
        main(recipes={"own": own}, program=PROGRAM)
