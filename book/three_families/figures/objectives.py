"""Masked words, the next word, and a gap: three objectives on one sentence."""

from collections.abc import Sequence
from itertools import product

import torch
from torch import nn

from book.page.live import LiveFigure, table
from companion.data import BOS, CLS, EOS, MASK, SEP, Vocabulary
from companion.generation import evaluating

LONGEST_GAP = 3  # words


@torch.no_grad()
def objectives_figure(
    words: Sequence[str], encoder: nn.Module, decoder: nn.Module, both: nn.Module, vocabulary
) -> LiveFigure:
    """What an encoder, a decoder and an encoder-decoder read, see and are asked of one sentence.

    Args:
        words: the sentence, of four to seven words.
        encoder: a `BERT`, asked for words that the reader hides, all of them by `[MASK]`.
        decoder: a `GPT`, asked for each next word, from `[BOS]` to `[EOS]`.
        both: a `Transformer`, asked for a gap of up to three words, which one `[MASK]` stands for.
        vocabulary: the `Vocabulary` of all three, with `BOS` and `EOS` among its words.

    Raises:
        ValueError: the sentence is too short or too long, or the vocabulary lacks one of its words.
    """
    words, n = list(words), len(words)
    if not 4 <= n <= 7:
        raise ValueError(f"the sentence needs four to seven words, got {n}: {words}")
    with evaluating(encoder), evaluating(decoder), evaluating(both):
        masked = [
            _masked(encoder, vocabulary, words, hidden[::-1])
            for hidden in product((False, True), repeat=n)
        ]
        next_words = _terms(
            decoder(_ids(decoder, vocabulary, [BOS, *words]))[0], vocabulary, [*words, EOS]
        )
        gaps = {
            f"{start + 1},{size}": _gap(both, vocabulary, words, start, start + size)
            for start in range(n)
            for size in range(1, min(LONGEST_GAP, n - start) + 1)
        }
    hidden, start, size = [i == n - 2 for i in range(n)], n - 1, 2
    asked = masked[sum(2**i for i, on in enumerate(hidden) if on)]
    asked_of = {
        "encoder-decoder": zip([*words[-2:], EOS], gaps[f"{start},{size}"], strict=True),
        "encoder-only": [(words[i], term) for i, term in enumerate(asked) if term],
        "decoder-only": zip([*words, EOS], next_words, strict=True),
    }
    rows = [(f"{name}: {word}", term[0]) for name, of in asked_of.items() for word, term in of]
    return LiveFigure(
        __file__,
        {"words": words, "encoder": masked, "decoder": next_words, "both": gaps},
        {"family": "encoder-decoder", "step": 1, "hidden": hidden, "start": start, "size": size}
        | {"places": {"encoder-only": n - 1, "decoder-only": n - 2, "encoder-decoder": n + 2}},
        table("What is asked, and its loss in nats", ["objective: answer", "−log p"], rows),
    )


def _ids(model: nn.Module, vocabulary: Vocabulary, words: Sequence[str]) -> torch.Tensor:
    return vocabulary.encode([words]).to(next(model.parameters()).device)


def _terms(logits: torch.Tensor, vocabulary: Vocabulary, answers: Sequence[str]) -> list[list]:
    """For each place (a row of logits): −log p of the answer, the model's first choice, its p."""
    log_p = logits.log_softmax(-1)
    best, first = log_p.max(-1)
    return [
        [-log_p[t, vocabulary.id(word)].item(), vocabulary.words[first[t]], best[t].exp().item()]
        for t, word in enumerate(answers)
    ]


def _masked(encoder: nn.Module, vocabulary: Vocabulary, words: list[str], hidden) -> list:
    read = [MASK if on else word for word, on in zip(words, hidden, strict=True)]
    logits = encoder(_ids(encoder, vocabulary, [CLS, *read, SEP]))[0, 1:-1]
    terms = _terms(logits, vocabulary, words)
    return [term if on else None for term, on in zip(terms, hidden, strict=True)]


def _gap(both: nn.Module, vocabulary: Vocabulary, words: list[str], start: int, end: int) -> list:
    source = _ids(both, vocabulary, [CLS, *words[:start], MASK, *words[end:], SEP])
    target = _ids(both, vocabulary, [BOS, *words[start:end]])
    return _terms(both(source, target)[0], vocabulary, [*words[start:end], EOS])
