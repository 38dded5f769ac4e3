"""A small model's healthy run, and runs with one mistake in them, for the page "Is this normal?".

`train` is the healthy program. Every other run is a function whose few lines change one thing, and
whose docstring is its name and what to do about it; `KINDS` has them all. The language is that of
`companion.data.corpus`, whose entropy is known.
"""

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial

import torch
from torch import Tensor, nn

from companion.data import BOS, EOS, WORDS, Vocabulary, batches, corpus
from companion.models import GPT, GPTConfig
from companion.training import (
    History,
    cosine_schedule,
    fit,
    label_smoothing_loss,
    masked_token_loss,
    next_token_loss,
)

STEPS, BATCH, RATE = 200, 32, 1e-2
VOCABULARY = Vocabulary((*WORDS, BOS, EOS))
PAD = VOCABULARY.pad_id
PLAIN = next_token_loss(PAD)
CONFIG = GPTConfig(
    vocab_size=len(VOCABULARY),
    max_len=16,
    d_model=64,
    num_layers=1,
    num_heads=4,
    d_ff=128,
    dropout=0.0,
    positions="rotary",  # so that a token that sees only itself does not know where it stands
)


@dataclass(frozen=True)
class Run:
    """What a run leaves behind: its curves, and its model.

    Attributes:
        loss: of each step; NaN behind the last if the loss was no longer finite.
        judged_at, judged: the steps after which the validation loss was measured, and its values.
        accuracy: the share of the validation sentences' words that are the likeliest in the end.
    """

    loss: list[float]
    judged_at: list[int]
    judged: list[float]
    accuracy: float
    model: GPT


@cache
def sentences(count: int, seed: int) -> Tensor:
    """Token ids (count, T) of sentences drawn with this seed."""
    return VOCABULARY.encode([BOS, *words, EOS] for words in corpus(count, seed))


def fresh_model(seed: int, **changes) -> GPT:
    """An untrained model, the same for the same seed."""
    torch.manual_seed(seed)
    return GPT(replace(CONFIG, **changes))


def train(
    seed: int,
    *,
    model: GPT | None = None,
    ids: Tensor | None = None,
    batch: Callable[[int], Tensor] | None = None,
    loss: Callable = PLAIN,
    rate: float = RATE,
    task: Callable[[Tensor], Tensor] = lambda ids: ids,
    **options,
) -> Run:
    """The healthy program; what a kind of run gives it replaces a part, `options` those of `fit`.

    No sentence is drawn twice, and the validation loss is always the plain one, on other sentences.
    `task` is what becomes of every sentence.
    """
    model = fresh_model(seed) if model is None else model
    ids = task(sentences(STEPS * BATCH, seed) if ids is None else ids)
    unseen = task(sentences(100, seed + 10_000))
    history = History()

    def report(now):
        nonlocal history
        history = now

    def judge(model):
        total, count = PLAIN(model, unseen)
        return (total / count).item()

    rates = partial(cosine_schedule, max_lr=rate, min_lr=0.0, warmup_steps=20, total_steps=STEPS)
    ended = []
    try:
        fit(
            model,
            batch or batches(ids, batch_size=BATCH, seed=seed, pad_id=PAD),
            steps=STEPS,
            loss=loss,
            learning_rate=rates,
            evaluate=judge,
            evaluate_every=20,
            report=report,
            progress=False,
            **options,
        )
    except FloatingPointError:
        ended = [math.nan]
    with torch.no_grad():
        guesses, targets = model.eval()(unseen[:, :-1]).argmax(-1), unseen[:, 1:]
    accuracy = (guesses == targets)[targets != PAD].float().mean().item()
    return Run(history.loss + ended, history.evaluated_at, history.evaluations, accuracy, model)


@cache
def healthy(seed):
    """healthy

    It starts at ln V, falls at once, and bends towards its floor.
    """
    return train(seed)


def stuck(seed):
    """the optimizer holds a copy

    Nothing is learned. Does any weight change in a step? Whose weights has the optimizer?
    """

    def optimizer(model):
        held = torch.optim.AdamW(model.parameters())
        held.step = lambda closure=None: None  # as one that holds a copy's, which fit refuses
        return held

    return train(seed, optimizer=optimizer)


def slow(seed):
    """rate 100 times too low

    It learns, but slowly. Raise the rate by factors of 3 until that stops helping.
    """
    return train(seed, rate=RATE / 100)


def shuffled(seed):
    """targets shuffled apart

    It has learned how frequent tokens are, and nothing else. Print inputs and targets.
    """

    def loss(model, ids):
        targets = ids[:, 1:].flatten()
        targets = targets[torch.randperm(len(targets))].view_as(ids[:, 1:])
        return masked_token_loss(PAD)(model, (ids[:, :-1], targets))

    return train(seed, loss=loss)


def alone(seed):
    """a token sees only itself

    It reads only the last token. Does a change of an earlier one move the logits? Look at the
    mask.
    """
    return train(seed, model=fresh_model(seed, sliding_window=1))


def exchanged(ids):
    """The sentences with "the" and "this" exchanged: something to be learned."""
    the, this = VOCABULARY.id("the"), VOCABULARY.id("this")
    return torch.where(ids == the, this, torch.where(ids == this, the, ids))


def tuned(seed):
    """fine-tuning

    Normal for a model that already knows something: it starts below ln V and falls fast.
    """
    model = copy.deepcopy(healthy(seed).model)
    return train(seed, model=model, task=exchanged, rate=RATE / 5)


def frozen(seed):
    """fine-tuning, rate too low

    Nothing has changed. Compare some answers, and some weights, with those of before.
    """
    model = copy.deepcopy(healthy(seed).model)
    return train(seed, model=model, task=exchanged, rate=1e-6)


def leak(seed):
    """targets not shifted

    Too good to be true: the answer is in the input. Print inputs and targets side by side.
    """

    def loss(model, ids):
        return masked_token_loss(PAD)(model, (ids, ids))

    return train(seed, loss=loss)


def padding(seed):
    """padding is counted

    Padding is easy, and pulls the mean down. Average the loss over real tokens alone.
    """
    batch = batches(sentences(STEPS * BATCH, seed), batch_size=BATCH, seed=seed)
    return train(seed, batch=batch, loss=next_token_loss(None))


def few(seed):
    """few sentences, many times

    It learns its sentences by heart. Look at validation; stop earlier, or get more data.
    """
    return train(seed, ids=sentences(STEPS * BATCH, seed)[:200])


def parts(seed):
    """parts added, not averaged

    A factor: the first loss divided by ln V says which. Divide by the number of parts.
    """

    def loss(model, ids):
        total, count = PLAIN(model, ids)
        return total / count, torch.tensor(1 / 4)

    return train(seed, loss=loss, accumulate=4)


def smoothing(seed):
    """label smoothing

    Normal: smoothed targets have a floor of their own. Compare the plain loss.
    """

    def loss(model, ids):
        logits, targets = model(ids[:, :-1]), ids[:, 1:]
        mean = label_smoothing_loss(logits, targets, smoothing=0.1, pad_id=PAD)
        return mean, torch.tensor(1)

    return train(seed, loss=loss)


def dropout(seed):
    """dropout

    Normal: training is judged with parts missing, so its loss may lie above validation.
    """
    return train(seed, model=fresh_model(seed, dropout=0.2))


def large(seed):
    """weights start too large

    Its first guesses are sure and wrong. Start smaller, until the first loss is ln V.
    """
    model = fresh_model(seed)
    nn.init.normal_(model.token_embedding.weight)
    return train(seed, model=model)


def fast(seed):
    """rate too high, no clipping

    It jumps. Lower the rate by factors of 3, warm up, clip the gradient.
    """
    return train(seed, rate=30 * RATE, max_grad_norm=math.inf)


def bad(seed):
    """bad batches

    Single steps stand out. Print the batch of such a step.
    """
    whole = batches(sentences(STEPS * BATCH, seed), batch_size=BATCH, seed=seed, pad_id=PAD)

    def batch(step):
        ids = whole(step)
        return torch.randint_like(ids, len(VOCABULARY)) if step % 40 == 30 else ids

    return train(seed, batch=batch)


def half(seed):
    """softmax in float16

    A number overflowed or became 0 in half precision. Take softmax and loss in float32.
    """

    def loss(model, ids):
        logits, targets = model(ids[:, :-1]).half(), ids[:, 1:]
        p = logits.exp() / logits.exp().sum(-1, keepdim=True)
        logp = p.gather(-1, targets[..., None])[..., 0].log()[targets != PAD]
        return -logp.float().sum(), torch.tensor(len(logp))

    return train(seed, loss=loss)


KINDS = {
    make.__doc__.partition("\n")[0]: make
    for make in (
        healthy,
        tuned,
        smoothing,
        dropout,
        stuck,
        slow,
        shuffled,
        alone,
        frozen,
        leak,
        padding,
        few,
        parts,
        large,
        fast,
        bad,
        half,
    )
}


def advice(name: str) -> str:
    """What to do about a kind of run, in a sentence or two."""
    return " ".join(KINDS[name].__doc__.split()).removeprefix(f"{name} ")
