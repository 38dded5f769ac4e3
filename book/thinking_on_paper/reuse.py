"""The same answers for several steps: what the ratio and the clipping of GRPO do.

    python -m book.thinking_on_paper.reuse 801 701 702 703 > book/thinking_on_paper/reuse.json

made the table beside this file. A model has read a few sums with their carries, answers others, and
is paid for the right number. All methods are paid for as many answers. A seed draws sums and
starts. The first one chooses each method's rate, constant and with warm-up and decay, which takes
about forty minutes; the others have each method at its own rate, and at that which suits clipping.

Source: Shao et al. 2024 (https://arxiv.org/abs/2402.03300), section 4.1, without its KL term.
"""

import json
import sys
from collections.abc import Sequence
from copy import deepcopy
from importlib.resources import files
from itertools import product

import torch
from torch import Tensor, nn

from book.thinking_on_paper.tool import (
    BATCH,
    BLANK,
    SYMBOLS,
    Sum,
    learn,
    noting,
    practise,
    prompt_of,
)
from companion.generation import generate
from companion.models import GPT

EXAMPLES, ASKED, PASSES = 256, 500, 100
KEPT_ROUNDS, KEPT_STEPS = 4, 60
ROUNDS, SUMS, GROUP, TIMES = 40, 32, 8, 4  # a round is paid for SUMS x GROUP answers
RATES = (1e-5, 3e-5, 1e-4, 3e-4, 1e-3)
WARMUP = 10  # steps, as in the rounds of `filtered`
SCHEDULES = {
    "constant": lambda step, steps: 1.0,
    "warm-up and decay": lambda step, steps: min(step / WARMUP, max(0.05, 1 - step / steps)),
}
CLIP = 0.2
CLIPPED = "four, with ratio and clipping"
CLIPPING = {"times": TIMES, "ratio": True, "clip": CLIP}
METHODS = {
    "one step": {},
    "one step, divided": {"divided": True},
    "four steps, on a quarter each": {"parts": TIMES},
    "four steps on all": {"times": TIMES},
    "four, with the ratio": {"times": TIMES, "ratio": True},
    CLIPPED: CLIPPING,
    "four, with both, divided": {**CLIPPING, "divided": True},
}


def advantages(rewards: Tensor, divided: bool = False) -> Tensor:
    """How much better (sums, group) each answer was than its group's mean."""
    better = rewards - rewards.mean(dim=1, keepdim=True)
    return better / (rewards.std(dim=1, keepdim=True) + 1e-4) if divided else better


def objective(
    logp: Tensor, old: Tensor, better: Tensor, ratio: bool = False, clip: float | None = None
) -> Tensor:
    """What a step raises: REINFORCE, or its form with p / p_old, or that with GRPO's clipping.

    Args:
        logp, old: of each written token (B, T), now and when it was written.
        better: the advantage (B, 1) of its answer.
    """
    if not ratio:
        return (better * logp).mean()
    r = (logp - old).exp()
    if clip is None:
        return (better * r).mean()
    return torch.minimum(better * r, better * r.clamp(1 - clip, 1 + clip)).mean()


def ids_of(texts: Sequence[str]) -> Tensor:
    return torch.tensor([[SYMBOLS.index(symbol) for symbol in text] for text in texts])


def written(model: GPT, pairs: Sequence[Sum], temperature: float) -> Tensor:
    """Sums (B, 16), each with the carries and the answer that the model gives them."""
    return generate(model, ids_of([prompt_of(pair) for pair in pairs]), 8, temperature=temperature)


def is_right(texts: Tensor, pairs: Sequence[Sum]) -> Tensor:
    """Whether (B,) the number is the sum, whatever stands before it."""
    return (texts[:, -4:] == ids_of([f"{sum(pair):04d}" for pair in pairs])).all(1)


def log_probs(model: GPT, texts: Tensor) -> Tensor:
    """Of what the model has written (B, 8), at temperature 1."""
    logp = model(texts[:, :-1]).log_softmax(dim=-1)
    return logp.gather(-1, texts[:, 1:, None])[:, -8:, 0]


def paid(
    base: GPT,
    pairs: Sequence[Sum],
    rate: float,
    schedule: str,
    *,
    parts: int = 1,
    times: int = 1,
    divided: bool = False,
    **how,
) -> tuple[GPT, float]:
    """The base, paid for its answers to these sums: `times` steps on each part of a round.

    And the share of tokens whose probability the last of these steps found further off than CLIP.
    """
    model, count, beyond = deepcopy(base), SUMS // parts, []
    optimizer = torch.optim.AdamW(model.parameters(), rate, betas=(0.9, 0.99), fused=True)
    factor, steps = SCHEDULES[schedule], ROUNDS * parts * times
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda done: factor(done + 1, steps))
    for start in range(0, ROUNDS * SUMS, count):
        asked = [pair for pair in pairs[start : start + count] for _ in range(GROUP)]
        with torch.no_grad():
            texts = written(model, asked, temperature=1.0)
            old = log_probs(model, texts)
        rewards = is_right(texts, asked).float().view(count, GROUP)
        better = advantages(rewards, divided).reshape(-1, 1)
        for _ in range(times):
            logp = log_probs(model, texts)
            loss = -objective(logp, old, better, **how)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
        beyond.append(((logp - old).exp() - 1).abs() > CLIP)
    return model, torch.cat(beyond).double().mean().item()


def filtered(base: GPT, examples: Sequence[Sum], pairs: Sequence[Sum]) -> GPT:
    """The chapter's four rounds: right answers join the examples, on which the base trains on."""
    model, pool = deepcopy(base), ids_of([noting(pair) for pair in examples])
    count = ROUNDS * SUMS // KEPT_ROUNDS
    for start in range(0, ROUNDS * SUMS, count):
        asked = [pair for pair in pairs[start : start + count] for _ in range(GROUP)]
        texts = written(model, asked, temperature=1.0)
        pool = torch.cat([pool, texts[is_right(texts, asked)]])

        def batch(step, pool=pool):
            rows = pool[torch.randint(len(pool), (BATCH,))]
            targets = rows[:, 1:].clone()
            targets[:, :7] = BLANK  # the prompt
            return rows[:, :-1], targets

        practise(model, batch, KEPT_STEPS, peak=1e-3, warmup=10)
    return model


@torch.no_grad()
def examined(model: GPT, pairs: Sequence[Sum]) -> dict[str, float]:
    """Shares that are right: greedy, and of single samples."""
    return {
        name: round(is_right(written(model, pairs, t), pairs).double().mean().item(), 4)
        for name, t in (("greedy", 0.0), ("sample", 1.0))
    }


def run(seed: int, rates: dict[str, dict[str, Sequence[float]]]) -> dict:
    """Every method, by schedule, at each of its rates, from one model and with the same sums."""
    draw = torch.Generator().manual_seed(seed)
    numbers = torch.randperm(1_000_000, generator=draw)[: EXAMPLES + ASKED + ROUNDS * SUMS]
    pairs = [divmod(number, 1000) for number in numbers.tolist()]
    examples, others = pairs[:EXAMPLES], pairs[EXAMPLES:]
    asked, rest = others[:ASKED], others[ASKED:]
    base = learn([noting(pair) for _ in range(PASSES) for pair in examples], seed)
    torch.manual_seed(seed)
    kept = filtered(base, examples, rest)
    found = {"seed": seed, "examples": examined(base, asked), "kept": examined(kept, asked)}
    for schedule, name in product(SCHEDULES, METHODS):
        rows = found.setdefault(schedule, {})[name] = {}
        for rate in rates[schedule][name]:
            torch.manual_seed(seed)
            model, beyond = paid(base, rest, rate, schedule, **METHODS[name])
            rows[str(rate)] = examined(model, asked) | {"beyond": round(beyond, 4)}
            print(seed, schedule, name, rate, rows[str(rate)], file=sys.stderr, flush=True)
    return found


def chosen(row: dict, schedule: str) -> dict[str, float]:
    """The rate of each method with which most samples are right."""
    return {
        name: float(max(by_rate, key=lambda rate: by_rate[rate]["sample"]))
        for name, by_rate in row[schedule].items()
    }


def measured() -> list[dict]:
    """The committed table, a row for each seed; the first one has chosen the rates."""
    return json.loads(files("book.thinking_on_paper").joinpath("reuse.json").read_text("utf8"))


def main(first: int, *seeds: int) -> None:
    """Print the table of these seeds."""
    rows = [run(first, dict.fromkeys(SCHEDULES, dict.fromkeys(METHODS, RATES)))]
    rates = {}
    for schedule in SCHEDULES:
        best = chosen(rows[0], schedule)
        rates[schedule] = {name: sorted({rate, best[CLIPPED]}) for name, rate in best.items()}
    rows += [run(seed, rates) for seed in seeds]
    print("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
