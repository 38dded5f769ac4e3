"""What the command can train: each recipe is a model, its data, its loss and how to judge it."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import nn

from companion.data import (
    BOS,
    CLS,
    EOS,
    SEP,
    WORDS,
    BPETokenizer,
    Vocabulary,
    batches,
    corpus,
    lorenz,
    sentence_probability,
    series_windows,
    split_series,
    standard_library_text,
    translation_pairs,
    translation_vocabulary,
    windows,
)
from companion.forecasting import forecast_loss, roll_out, valid_steps
from companion.generation import generate, greedy_decode
from companion.models import (
    BERT,
    GPT,
    BERTConfig,
    Forecaster,
    ForecasterConfig,
    GPTConfig,
    Transformer,
    TransformerConfig,
)
from companion.training import (
    cosine_schedule,
    masked_token_loss,
    mean_loss,
    next_token_loss,
    translation_loss,
    warmup_schedule,
)
from companion.training.losses import Loss
from companion.validation import require_positive_number

SMALL = {"d_model": 64, "num_layers": 2, "num_heads": 4, "d_ff": 256}
SENTENCES = SMALL | {"max_len": 32}


@dataclass(frozen=True)
class Recipe:
    """A model, what it learns from, and how.

    `evaluate` returns numbers by name, and "samples", a list of strings; `arguments` are further
    ones of `fit`; `tokenizer` makes the model's ids of a text, if it reads text. Where a text of
    `text_tokens` is read again and again, the weights with the lowest "validation_loss" are kept.
    """

    model: nn.Module
    batches: Callable[[int], object]
    loss: Loss
    learning_rate: Callable[[int], float]
    evaluate: Callable[[nn.Module], dict[str, Any]]
    arguments: dict[str, Any]
    tokenizer: Vocabulary | BPETokenizer | None = None
    text_tokens: int | None = None


def gpt(steps: int = 2_000, seed: int = 0, dropout: float = 0.1) -> Recipe:
    """A GPT that learns to write sentences of the generated language."""
    words = Vocabulary((BOS, EOS, *WORDS))
    bos_id, eos_id = words.id(BOS), words.id(EOS)
    train = words.encode([BOS, *sentence, EOS] for sentence in corpus(20_000, 2 * seed))
    held_out = words.encode([BOS, *sentence, EOS] for sentence in corpus(1_000, 2 * seed + 1))
    config = GPTConfig(**SENTENCES, vocab_size=len(words), dropout=dropout, pad_id=words.pad_id)
    loss = next_token_loss(words.pad_id)

    def evaluate(model):
        prompts = torch.full((100, 1), bos_id, device=device_of(model))
        generator = torch.Generator(prompts.device).manual_seed(seed)
        written = generate(model, prompts, 20, eos_id=eos_id, generator=generator)
        sentences = sentences_of(written, words)
        grammatical = sum(sentence_probability(sentence) > 0 for sentence in sentences)
        return {
            "validation_loss": mean_loss(model, loss, held_out),
            "grammatical": grammatical / len(sentences),
            "samples": [" ".join(sentence) for sentence in sentences[:5]],
        }

    return Recipe(
        model=GPT(config),
        batches=batches(train, batch_size=64, seed=seed, pad_id=words.pad_id),
        loss=loss,
        learning_rate=cosine(steps, 3e-3),
        evaluate=evaluate,
        arguments={"weight_decay": 0.05, "betas": (0.9, 0.95)},
        tokenizer=words,
    )


def bert(steps: int = 3_000, seed: int = 0, dropout: float = 0.1) -> Recipe:
    """A BERT that learns to guess hidden words of the generated language."""
    words = Vocabulary()
    train = words.encode([CLS, *sentence, SEP] for sentence in corpus(20_000, 2 * seed))
    held_out = words.encode([CLS, *sentence, SEP] for sentence in corpus(1_000, 2 * seed + 1))
    config = BERTConfig(**SENTENCES, vocab_size=len(words), dropout=dropout, pad_id=words.pad_id)
    loss = masked_token_loss(words.pad_id)
    whole = batches(train, batch_size=64, seed=seed, pad_id=words.pad_id)
    tests = hide_words(held_out, words, torch.Generator().manual_seed(seed))

    def evaluate(model):
        shown, targets = (ids.to(device_of(model)) for ids in tests)
        guesses = model(shown).argmax(dim=-1)
        hidden = targets != words.pad_id
        samples = []
        for row in hidden.any(dim=1).nonzero()[:5, 0]:
            (sentence,) = words.decode(shown[row, None].cpu())
            (guessed,) = words.decode(guesses[row, None][:, hidden[row]].cpu())
            samples.append(f"{' '.join(sentence)} -> {' '.join(guessed)}")
        return {
            "validation_loss": mean_loss(model, loss, tests),
            "accuracy": (guesses == targets)[hidden].float().mean().item(),
            "samples": samples,
        }

    return Recipe(
        model=BERT(config),
        batches=lambda step: hide_words(
            whole(step), words, torch.Generator().manual_seed(seed + 1_000_003 * step)
        ),
        loss=loss,
        learning_rate=cosine(steps, 2e-3),
        evaluate=evaluate,
        arguments={"weight_decay": 0.01},
        tokenizer=words,
    )


def translation(steps: int = 3_000, seed: int = 0, dropout: float = 0.1) -> Recipe:
    """An encoder and a decoder that learn to translate; schedule and smoothing are the paper's."""
    words = translation_vocabulary()

    def encoded(pairs):
        sources = words.encode([pair.source for pair in pairs])
        return sources, words.encode([[BOS, *pair.target, EOS] for pair in pairs])

    held_out = translation_pairs(200, seed, split="validation")
    train, tests = encoded(translation_pairs(20_000, seed)), encoded(held_out)
    config = TransformerConfig(
        **SENTENCES,
        vocab_size=len(words),
        dropout=dropout,
        pad_id=words.pad_id,
        bos_id=words.id(BOS),
        eos_id=words.id(EOS),
    )

    def evaluate(model):
        written = greedy_decode(model, tests[0].to(device_of(model)), config.max_len)
        translations = sentences_of(written, words)
        right = [
            translation in dict(pair.translations)
            for translation, pair in zip(translations, held_out, strict=True)
        ]
        return {
            "validation_loss": mean_loss(model, translation_loss(words.pad_id, smoothing=0), tests),
            "right": sum(right) / len(right),
            "samples": [
                f"{' '.join(pair.source)} -> {' '.join(translation)}"
                for translation, pair in zip(translations[:5], held_out, strict=False)
            ],
        }

    schedule = partial(warmup_schedule, d_model=config.d_model, warmup_steps=max(1, steps // 5))
    return Recipe(
        model=Transformer(config),
        batches=batches(*train, batch_size=64, seed=seed, pad_id=words.pad_id),
        loss=translation_loss(words.pad_id, smoothing=0.1),
        learning_rate=schedule,
        evaluate=evaluate,
        arguments={"betas": (0.9, 0.98)},
        tokenizer=words,
    )


def library(steps: int = 5_000, seed: int = 0, dropout: float = 0.1) -> Recipe:
    """A larger GPT that learns from the source of Python's standard library; for a GPU."""
    sizes = {"batch_size": 64, "vocabulary": 4096, "width": 384, "depth": 6, "heads": 6}
    return text(steps, seed, dropout, text=standard_library_text(), **sizes)


def text(
    steps: int = 1_000,
    seed: int = 0,
    dropout: float = 0.1,
    *,
    text: str,
    batch_size: int = 8,
    length: int = 256,
    vocabulary: int = 1024,
    learning_rate: float = 1e-3,
    width: int = 128,
    depth: int = 4,
    heads: int = 4,
) -> Recipe:
    """A GPT that learns from a text file of your own, --text FILE; its last tenth is held out."""
    require_positive_number(learning_rate=learning_rate)
    if width % heads:
        raise ValueError(f"width is {width}; choose a multiple of {heads}, the number of heads")
    cut = len(text) - len(text) // 10
    tokenizer = BPETokenizer.train([text[:cut]], vocabulary)  # pieces of words, learned from it
    tokens, held_out = (torch.tensor(tokenizer.encode(part)) for part in (text[:cut], text[cut:]))
    window = length + 1  # the first token is given
    if min(len(tokens), len(held_out)) < window:
        raise ValueError(
            f"the text has {len(tokens)} tokens to learn from and {len(held_out)} to judge by; "
            f"both need {window}, so give a longer one, or a smaller --length"
        )
    held_out = held_out[: min(40, len(held_out) // window) * window].view(-1, window)
    prompt = tokenizer.encode(text[:20])[:length]
    config = GPTConfig(
        vocab_size=len(tokenizer),
        d_model=width,
        num_layers=depth,
        num_heads=heads,
        d_ff=4 * width,
        max_len=length,
        dropout=dropout,
        pad_id=tokenizer.pad_id,
    )
    loss = next_token_loss(pad_id=None)

    def evaluate(model):
        prompts = torch.tensor([prompt], device=device_of(model))
        generator = torch.Generator(prompts.device).manual_seed(seed)
        room = min(100, length - len(prompt))
        written = generate(model, prompts, room, top_p=0.9, generator=generator)
        return {
            "validation_loss": mean_loss(model, loss, held_out),
            "samples": [tokenizer.decode(written[0].tolist())],
        }

    return Recipe(
        model=GPT(config),
        batches=windows(tokens.tolist(), batch_size=batch_size, length=window, seed=seed),
        loss=loss,
        learning_rate=cosine(steps, learning_rate),
        evaluate=evaluate,
        arguments={"weight_decay": 0.1, "betas": (0.9, 0.95)},
        tokenizer=tokenizer,
        text_tokens=len(tokens),
    )


def read_text(path: str | os.PathLike[str]) -> str:
    """The text of a file in UTF-8: without a byte order mark, and "\\n" at the end of each line.

    Raises:
        ValueError: there is no such file, it has no text, or has it in another encoding.
    """
    path = Path(path)
    if path.is_dir() or not path.exists():
        what = "a folder" if path.is_dir() else "not there"
        raise ValueError(f"{path} is {what}; --text takes one file of plain text")
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        likely = "UTF-16" if b"\0" in error.object else "Windows-1252"
        raise ValueError(
            f"{path} is not UTF-8 but perhaps {likely} (byte {error.start} is "
            f"{error.object[error.start]:#04x}); open it in an editor and save it as UTF-8"
        ) from error
    if "\0" in text:
        raise ValueError(f"{path} is no plain text, or UTF-16 (it has a NUL); save it as UTF-8")
    if not text.strip():
        raise ValueError(f"{path} is empty; give a text of some thousand words")
    return text


def lorenz_forecaster(steps: int = 20_000, seed: int = 0, dropout: float = 0.1) -> Recipe:
    """A Forecaster of the Lorenz system that sees x alone; in the second half rolled out."""
    dt, window, rollout = 0.05, 20, 20
    series = lorenz(2280, seed=seed, dt=dt)[0, :, :1].float()
    split = split_series(series, gap=window + rollout, fractions=(0.7, 0.2, 0.1))
    scale = split.train.diff(dim=0).std().item()
    config = ForecasterConfig(
        **SMALL,
        features=1,
        window=window,
        horizon=1,
        patch_size=5,
        step_scale=scale,
        dropout=dropout,
    )
    whole = batches(*series_windows(split.train, window, rollout), batch_size=64, seed=seed)
    begin, truth = (part[::6] for part in series_windows(split.validation, window, 130))

    def batch(step):
        windows, targets = whole(step)
        return windows, targets[:, : 1 if step <= steps // 2 else rollout]

    def evaluate(model):
        forecast = roll_out(model, begin.to(device_of(model)), truth.shape[1]).cpu()
        times = valid_steps(forecast, truth) * dt * 0.906  # in Lyapunov times
        return {
            "validation_loss": mean_loss(model, forecast_loss(scale), (begin, truth[:, :1])),
            "valid_time": times.median().item(),
            "samples": [f"start {i}: good for {time:.2f}" for i, time in enumerate(times[:5])],
        }

    return Recipe(
        model=Forecaster(config),
        batches=batch,
        loss=forecast_loss(scale),
        learning_rate=cosine(steps, 2e-3),
        evaluate=evaluate,
        arguments={},
    )


RECIPES = {make.__name__: make for make in (gpt, bert, translation, library, text)}
RECIPES["lorenz"] = lorenz_forecaster


def hide_words(
    token_ids: torch.Tensor, words: Vocabulary, generator: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    """The token ids (B, T) with some words hidden, and the hidden words (pad_id elsewhere).

    15 % of the words are to be guessed. Of these 80 % become [MASK], 10 % a random word, and 10 %
    stay.

    Source: Devlin et al. 2019, section 3.1 (https://arxiv.org/abs/1810.04805).
    """
    special = torch.tensor([words.pad_id, words.cls_id, words.sep_id])
    chance = torch.rand(token_ids.shape, generator=generator)
    chosen = (chance < 0.15) & ~torch.isin(token_ids, special)
    way = torch.rand(token_ids.shape, generator=generator)
    random_words = torch.randint(4, len(words), token_ids.shape, generator=generator)
    shown = token_ids.masked_fill(chosen & (way < 0.8), words.mask_id)
    shown = torch.where(chosen & (way >= 0.9), random_words, shown)
    return shown, token_ids.masked_fill(~chosen, words.pad_id)


def sentences_of(token_ids: torch.Tensor, words: Vocabulary) -> list[tuple[str, ...]]:
    """The sentences of ids (B, T), without what begins and ends them."""
    sentences = words.decode(token_ids.cpu())
    return [tuple(word for word in words if word not in (BOS, EOS)) for words in sentences]


def cosine(steps: int, max_lr: float) -> Callable[[int], float]:
    """Up to max_lr in a tenth of the steps, and down to a tenth of it in the others."""
    lengths = {"warmup_steps": steps // 10, "total_steps": steps}
    return partial(cosine_schedule, max_lr=max_lr, min_lr=max_lr / 10, **lengths)


def device_of(model: nn.Module) -> torch.device:
    return next(model.parameters()).device
