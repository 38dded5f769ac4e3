"""What a student may be told after each prefix of its sentences, and how far it then gets.

    python -m book.small_change.targets 21 22 23 24 25 > book/small_change/targets.json

made the table beside this file: for every seed, which draws sentences and starts, each target on
200, 1,000 and 5,000 sentences; on 200 also where a student stops at its best, on the others also in
twice the steps. It takes about two minutes for a seed.
"""

import json
import sys
from collections.abc import Callable, Sequence
from importlib.resources import files

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from book.language_model import NOTHING, LanguageModel, learning_rate, sample
from book.small_change.truth import NUMBER, Truth, ids_of
from companion.data import BOS, EOS, corpus

V, LAYERS, BATCH, PEAK = len(NUMBER), 1, 32, 1e-2
STUDENT, TEACHER = 32, 64  # widths
STEPS, TEACHER_STEPS = 400, 500
SIZES = (200, 1000, 5000)


def logits_at(model: LanguageModel, ids: Tensor) -> Tensor:
    """Logits (positions, V) where ids (B, T) have a next word, row by row."""
    x = model.norm_in(model.embedding(ids[:, :-1].clamp(min=0)))
    for block in model.blocks:
        x = block(x)
    return model.norm_out(x[ids[:, 1:] != NOTHING]) @ model.embedding.weight.T


def words_at(ids: Tensor) -> Tensor:
    """The next words (positions,) of ids, in the order of `logits_at`."""
    return ids[:, 1:][ids[:, 1:] != NOTHING]


@torch.no_grad()
def probabilities_at(model: LanguageModel, ids: Tensor) -> Tensor:
    """What a model says (positions, V) after each prefix."""
    return torch.cat([logits_at(model, rows).softmax(-1) for rows in ids.split(100)])


def truth_at(truth: Truth, ids: Tensor) -> Tensor:
    """The true probabilities (positions, V) after each prefix."""
    parts = [truth.next(rows)[rows[:, 1:] != NOTHING] for rows in ids.split(50)]
    return torch.cat(parts)


def divergence(p: Tensor, q: Tensor) -> float:
    """KL from probabilities p to q, each (positions, V), the mean in nats."""
    return (torch.xlogy(p, p) - torch.xlogy(p, q)).sum(-1).mean().item()


def learn(
    d: int,
    ids: Tensor,
    target: Tensor,
    seed: int,
    steps: int = STEPS,
    *,
    temperature: float = 1.0,
    anew: bool = False,
    watch: Callable[[LanguageModel], None] | None = None,
) -> LanguageModel:
    """A model of width d that is told a target at each position of its sentences.

    Args:
        ids: the sentences (N, T).
        target: words (positions,), or probabilities (positions, V).
        temperature: divides the logits; the target is taken to be at this temperature.
        anew: draw a word from the target at every step instead of telling all of it.
        watch: sees the model every 25 steps.
    """
    asked = ids[:, 1:] != NOTHING
    number = asked.flatten().cumsum(0).view_as(asked) - 1  # of a position, in the target
    torch.manual_seed(seed)
    model = LanguageModel(V, d, LAYERS)
    optimizer = torch.optim.AdamW(
        model.parameters(), betas=(0.9, 0.99), weight_decay=0.02, fused=True
    )
    order = torch.cat([torch.randperm(len(ids)) for _ in range(steps * BATCH // len(ids) + 1)])
    for step, rows in enumerate(order[: steps * BATCH].split(BATCH)):
        batch = ids[rows, : asked[rows].sum(1).max() + 1]
        told = target[number[rows][asked[rows]]]
        if anew:
            told = torch.multinomial(told, 1)[:, 0]
        loss = temperature**2 * F.cross_entropy(logits_at(model, batch) / temperature, told)
        optimizer.param_groups[0]["lr"] = learning_rate(step, steps, PEAK, 30)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if watch is not None and (step + 1) % 25 == 0:
            watch(model)
    return model


def teacher_of(seed: int) -> LanguageModel:
    """A model twice as wide that has read every sentence once."""
    text = ids_of(corpus(TEACHER_STEPS * BATCH, seed + 20_000))
    return learn(TEACHER, text, words_at(text), seed, TEACHER_STEPS)


def possible_only(teacher: Tensor, truth: Tensor) -> Tensor:
    """The teacher's probabilities among the words that can come."""
    p = teacher * (truth > 0)
    return p / p.sum(-1, keepdim=True)


def slips_added(teacher: Tensor, truth: Tensor) -> Tensor:
    """The truth, but with the teacher's probabilities for words that cannot come."""
    slips = teacher * (truth == 0)
    return truth * (1 - slips.sum(-1, keepdim=True)) + slips


def slips_of_another(teacher: Tensor, truth: Tensor) -> Tensor:
    """The truth, but with the slips that the teacher makes after another prefix."""
    slips = (teacher * (truth == 0)).roll(len(truth) // 2, 0)
    return truth * (1 - slips.sum(-1, keepdim=True)) + slips


def spread_evenly(teacher: Tensor, truth: Tensor) -> Tensor:
    """The truth, but with as much as the teacher gives impossible words spread over all."""
    share = (teacher * (truth == 0)).sum(-1).mean()
    return (1 - share) * truth + share / V


def written_by(teacher: LanguageModel, count: int) -> Tensor:
    """Sentences (count, T) that a model wrote."""
    begin = torch.full((count, 1), NUMBER[BOS])
    return sample(teacher, begin, 14, NUMBER[EOS])


def measured() -> list[dict]:
    """The committed table: {"seed", "sentences", "target", "gap"} of every student.

    `gap` is KL(truth || student) in nats a word, over all prefixes of 500 fresh sentences.
    """
    return json.loads(files("book.small_change").joinpath("targets.json").read_text("utf8"))


def runs(
    seed: int, size: int, ids: Tensor, truth: Tensor, teacher: LanguageModel
) -> dict[str, Callable[[], LanguageModel]]:
    """By target: how to train a student on these sentences."""
    words, told = words_at(ids), probabilities_at(teacher, ids)

    def student(target: Tensor, ids: Tensor = ids, **how) -> Callable[[], LanguageModel]:
        return lambda: learn(STUDENT, ids, target, seed + 2, **how)

    found = {"words": student(words), "teacher": student(told), "truth": student(truth)}
    if size > min(SIZES):
        for name, target in (("words", words), ("teacher", told)):
            found[f"{name}, twice the steps"] = student(target, steps=2 * STEPS)
    if size < max(SIZES):
        found["a new word each time"] = student(truth, anew=True)
        louder = (told**0.5) / (told**0.5).sum(-1, keepdim=True)
        found["teacher at temperature 2"] = student(louder, temperature=2.0)
    if size == min(SIZES):
        for change in (possible_only, slips_added, slips_of_another, spread_evenly):
            found[change.__name__] = student(change(told, truth))
    return found


def main(seeds: Sequence[int]) -> None:
    """Print the table of these seeds."""
    rows: list[str] = []

    def note(said: Tensor, sentences: int, target: str) -> None:
        note_gap(divergence(true, said), sentences, target)

    def note_gap(gap: float, sentences: int, target: str) -> None:
        row = {"seed": seed, "sentences": sentences, "target": target, "gap": round(gap, 4)}
        rows.append(json.dumps(row))
        print(row, file=sys.stderr, flush=True)

    truth = Truth()
    for seed in seeds:
        fresh = ids_of(corpus(500, seed + 10_000))
        true = truth_at(truth, fresh)
        teacher = teacher_of(seed)
        note(probabilities_at(teacher, fresh), TEACHER_STEPS * BATCH, "the teacher itself")
        for size in SIZES:
            ids = ids_of(corpus(size, seed + 30_000))
            for target, run in runs(seed, size, ids, truth_at(truth, ids), teacher).items():
                student = run()
                note(probabilities_at(student, fresh), size, target)
                if (size, target) == (1000, "words"):
                    small, small_ids = student, ids
        ids = ids_of(corpus(min(SIZES), seed + 30_000))
        told = {
            "words": words_at(ids),
            "teacher": probabilities_at(teacher, ids),
            "truth": truth_at(truth, ids),
        }
        for target, of_words in told.items():
            gaps: list[float] = []

            def watch(model: LanguageModel, gaps=gaps, true=true, fresh=fresh) -> None:
                gaps.append(divergence(true, probabilities_at(model, fresh)))

            learn(STUDENT, ids, of_words, seed + 2, watch=watch)
            note_gap(min(gaps), min(SIZES), f"{target}, stopped at its best")
        torch.manual_seed(seed)
        written = written_by(teacher, 1000)
        student = learn(STUDENT, written, words_at(written), seed + 2)
        note(probabilities_at(student, fresh), 1000, "words of the teacher's own sentences")
        told = probabilities_at(small, small_ids)
        student = learn(STUDENT, small_ids, told, seed + 7)
        note(probabilities_at(student, fresh), 1000, "a teacher of its own size")
        other = learn(STUDENT, small_ids, words_at(small_ids), seed + 7)
        both = (probabilities_at(small, fresh) + probabilities_at(other, fresh)) / 2
        note(both, 1000, "two such teachers averaged")
    print("[\n" + ",\n".join(rows) + "\n]")


if __name__ == "__main__":
    torch.set_num_threads(1)
    main([int(seed) for seed in sys.argv[1:]])
