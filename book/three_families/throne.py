"""Whose throne it is: what an encoder and a decoder know of it after so many questions.

    python -m book.three_families.throne 701 702 703 704 705 > book/three_families/throne.json

made the table beside this file: for every seed, which draws the text, the masks and the weights,
and every objective, how far the share of "his" falls when a man is replaced by a woman, 0 at first
and 1 for one who knows. It is measured along one run each. All runs have the chapter's sizes and
its rate, which rises and falls with the share of the questions asked so far, and draw new sentences
at every step. A seed takes about five minutes.
"""

import json
import sys
from collections.abc import Sequence
from functools import partial
from importlib.resources import files

import torch
from torch import Tensor
from torch.nn import functional as F

from companion.data import BOS, CLS, EOS, MASK, SEP, WORDS, Vocabulary, corpus
from companion.data.lexicon import GENDER_PAIRS
from companion.models import BERT, GPT, BERTConfig, GPTConfig
from companion.training import cosine_schedule, fit, next_token_loss

KEPT = "40 %, owner seen"
MASKED = {"decoder": None, "encoder, 15 %": 0.15, "encoder, 40 %": 0.4, KEPT: 0.4}
BETWEEN, LOOKS = 20_000, 20  # questions from one measurement to the next, and measurements
RATE, BATCH = 1e-2, 64
VOCABULARY = Vocabulary((BOS, EOS, *WORDS))
PAD, FIRST_WORD = VOCABULARY.pad_id, VOCABULARY.id(EOS) + 1  # smaller ids are special tokens
POSSESSIVES = [VOCABULARY.id("his"), VOCABULARY.id("her")]
OWNERS = {noun for pair in GENDER_PAIRS for noun in pair}


def new_model(name: str) -> BERT | GPT:
    """One block of width 64, as the chapter trains it."""
    family, config = (GPT, GPTConfig) if MASKED[name] is None else (BERT, BERTConfig)
    sizes = {"vocab_size": len(VOCABULARY), "d_model": 64, "num_layers": 1, "num_heads": 4}
    sizes |= {"d_ff": 320, "max_len": 16, "dropout": 0.0, "norm_first": True, "activation": "gelu"}
    return family(config(**sizes))


def corrupt(
    ids: Tensor, rate: float, kept: Tensor, random: torch.Generator
) -> tuple[Tensor, Tensor]:
    """BERT's masking, which leaves `kept` words alone: the ids with some hidden, and what is asked,
    padding elsewhere."""
    may_be = (ids >= FIRST_WORD) & ~torch.isin(ids, kept)
    chosen = (torch.rand(ids.shape, generator=random) < rate) & may_be
    fate = torch.rand(ids.shape, generator=random)
    another = torch.randint(FIRST_WORD, len(VOCABULARY), ids.shape, generator=random)
    hidden = ids.masked_fill(chosen & (fate < 0.8), VOCABULARY.mask_id)
    hidden = torch.where(chosen & (fate >= 0.9), another, hidden)
    return hidden, ids.masked_fill(~chosen, PAD)


def hidden_words(model: BERT, batch: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    """The loss of the words that are asked, and their number."""
    ids, targets = batch
    asked = targets != PAD
    logits = model.head(model.encode(ids)[asked])
    return F.cross_entropy(logits, targets[asked], reduction="sum"), asked.sum()


@torch.no_grad()
def knows(name: str, model: BERT | GPT) -> float:
    """How far the share of "his" falls from the man to the woman, mean over all pairs."""
    before = [["the", who, "keeps"] for pair in GENDER_PAIRS.items() for who in pair[0]]
    if MASKED[name] is None:
        logits = model(VOCABULARY.encode([(BOS, *words) for words in before]))[:, -1]
    else:
        after = [owned[0] for owned in GENDER_PAIRS.values() for _ in range(2)]
        whole = [(CLS, *words, MASK, last, SEP) for words, last in zip(before, after, strict=True)]
        logits = model(VOCABULARY.encode(whole))[:, 4]
    share_of_his = logits[:, POSSESSIVES].softmax(-1)[:, 0]
    return (share_of_his[::2] - share_of_his[1::2]).mean().item()


def curve(name: str, seed: int, rate: float = RATE) -> list[float]:
    """What a model knows after each of `LOOKS` equal parts of its questions."""
    masked = MASKED[name]
    kept = OWNERS if name == KEPT else set()
    words = sum(len([w for w in row if w not in kept]) for row in corpus(10_000, seed)) / 10_000
    asked = words + 1 if masked is None else masked * words  # a decoder also for the end
    every = round(BETWEEN / (BATCH * asked))
    steps = every * LOOKS
    ends = (BOS, EOS) if masked is None else (CLS, SEP)
    sentences = corpus(steps * BATCH, seed)
    kept_ids = torch.tensor([VOCABULARY.id(word) for word in kept])
    random = torch.Generator().manual_seed(seed)
    torch.manual_seed(seed)
    model = new_model(name)

    def batch(step):
        rows = sentences[(step - 1) * BATCH : step * BATCH]
        ids = VOCABULARY.encode([(ends[0], *words, ends[1]) for words in rows])
        return ids if masked is None else corrupt(ids, masked, kept_ids, random)

    history = fit(
        model,
        batch,
        steps=steps,
        loss=next_token_loss(PAD) if masked is None else hidden_words,
        learning_rate=partial(
            cosine_schedule, max_lr=rate, min_lr=0.0, warmup_steps=steps // 10, total_steps=steps
        ),
        betas=(0.9, 0.99),
        weight_decay=0.02,
        evaluate=partial(knows, name),
        evaluate_every=every,
        progress=False,
    )
    return [round(found, 4) for found in history.evaluations]


def measured() -> list[dict]:
    """The committed table: {"seed", "model", "knows"} of every run, one number for each look."""
    return json.loads(files("book.three_families").joinpath("throne.json").read_text("utf8"))


def main(seeds: Sequence[int]) -> None:
    """Print the table of these seeds."""
    found = []
    for seed in seeds:
        for name in MASKED:
            found.append({"seed": seed, "model": name, "knows": curve(name, seed)})
            print(found[-1], file=sys.stderr, flush=True)
    print("[\n" + ",\n".join(json.dumps(row) for row in found) + "\n]")


if __name__ == "__main__":
    main([int(seed) for seed in sys.argv[1:]])
