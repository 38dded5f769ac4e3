"""The paper's schedule and a cosine, in a run of 600 steps: ten starts, three peaks.

    python -m book.full_model.schedules {5301..5310} > book/full_model/schedules.json

made the table beside this file. Model, sentences and training are those of the chapter; only the
rate after the warm-up differs. A seed decides start, sentences and batches, in two minutes.
"""

from copy import deepcopy
from functools import cache, partial

import torch
from torch import Tensor

from book import runs
from companion.data import batches, translation_pairs, translation_vocabulary
from companion.generation import greedy_decode
from companion.models import Transformer, TransformerConfig
from companion.training import cosine_schedule, fit, translation_loss, warmup_schedule

STEPS, MORE, WARMUP, D_MODEL, LONGEST = 600, 100, 100, 48, 9
PEAKS = (3e-3, 6e-3, 1.2e-2)
COSINE, PAPER, ON, FALLING = WAYS = ("cosine", "paper", "on its curve", "falling to 0")
VOCABULARY = translation_vocabulary()


def paper(step: int, peak: float) -> float:
    """The paper's curve (section 5.3), scaled so that its highest rate is this one."""
    rate = partial(warmup_schedule, d_model=D_MODEL, warmup_steps=WARMUP)
    return peak * rate(step) / rate(WARMUP)


def sentences(seed: int, kind: str, number: int, split: str) -> list:
    pairs = translation_pairs(number, seed, split=split, kind=kind)
    return [pair for pair in pairs if len(pair.source) <= LONGEST]


def as_ids(pairs: list) -> tuple[Tensor, Tensor]:
    """Source and target ids of sentence pairs, targets between [BOS] and [EOS]."""
    targets = [("[BOS]", *pair.target, "[EOS]") for pair in pairs]
    return VOCABULARY.encode([pair.source for pair in pairs]), VOCABULARY.encode(targets)


def share_right(model: Transformer, pairs: list) -> float:
    """The share of sentences that are translated in a right way, to the last word."""
    sources, _ = as_ids(pairs)
    written = greedy_decode(model, sources, model.config.max_len)
    ended = written == model.config.eos_id
    said = VOCABULARY.decode(written.masked_fill(ended, VOCABULARY.pad_id))
    right = [tuple(w[1:]) in dict(p.translations) for w, p in zip(said, pairs, strict=True)]
    return sum(right) / len(pairs)


def new_model(seed: int) -> Transformer:
    torch.manual_seed(seed)
    return Transformer(
        TransformerConfig(
            vocab_size=len(VOCABULARY),
            d_model=D_MODEL,
            num_layers=2,
            num_heads=4,
            d_ff=64,
            max_len=32,
            dropout=0.0,
            pad_id=VOCABULARY.pad_id,
            bos_id=VOCABULARY.id("[BOS]"),
            eos_id=VOCABULARY.id("[EOS]"),
        )
    )


def measure(seed: int) -> dict:
    """{"seed", way: [(loss of the last 20 steps, share translated exactly) of each peak]}.

    The last two ways go on for `MORE` steps where the paper's schedule has ended.
    """
    pairs = sentences(seed, "plain", 11000, "train") + sentences(seed, "ambiguous", 1500, "train")
    test = sentences(seed, "plain", 1000, "test")
    batch = batches(*as_ids(pairs), batch_size=64, seed=seed, pad_id=VOCABULARY.pad_id)
    loss = translation_loss(VOCABULARY.pad_id, smoothing=0.1)

    def run(model, steps, rate):
        how = {"learning_rate": rate, "betas": (0.9, 0.98), "progress": False}
        losses = fit(model, batch, steps=steps, loss=loss, **how).loss
        return round(sum(losses[-20:]) / 20, 4), round(share_right(model, test), 4)

    found = {"seed": seed} | {way: [] for way in WAYS}
    for peak in PEAKS:
        times = {"min_lr": 0.0, "warmup_steps": WARMUP, "total_steps": STEPS}
        falls = partial(cosine_schedule, max_lr=peak, **times)
        found[COSINE].append(run(new_model(seed), STEPS, falls))
        model = new_model(seed)
        found[PAPER].append(run(model, STEPS, partial(paper, peak=peak)))
        end = paper(STEPS, peak)
        for way, rate in (
            (ON, lambda step, peak=peak: paper(STEPS + step, peak)),
            (FALLING, lambda step, end=end: end * (1 - step / MORE)),
        ):
            found[way].append(run(deepcopy(model), MORE, rate))
    return found


@cache
def stored() -> dict[str, Tensor]:
    """Of each way the committed losses and shares: (runs, peaks, 2)."""
    rows = runs.read(__file__, "schedules.json")
    return {way: torch.tensor([row[way] for row in rows]) for way in WAYS}


if __name__ == "__main__":
    runs.write(measure)
