"""The judge of the race: what an entry may be, what it is given, and how far it ends from the best.

An entry is a file with a function `train(rows, vocab_size, budget)` that returns a model.
"""

import ast
import inspect
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from book.language_model import log_probs, table
from book.own_language_model.counting import Budget, Refused
from companion.data import WORDS, corpus, sentence_probability

BUDGET = 500_000_000_000
SENTENCES, FRESH = 100_000, 1000
NUMBER = {word: number for number, word in enumerate(WORDS, 1)}  # 0 begins and ends a sentence
VOCAB_SIZE = len(NUMBER) + 1

MAY_IMPORT = {"torch", "math", "functools", "itertools", "collections", "copy", "dataclasses"}
MAY_IMPORT |= {"book.language_model", "companion.nn", "companion.models", "companion.training"}


def rows_of(sentences: list[list[str]]) -> Tensor:
    """Ids (N, T) of sentences: 0, the words, 0, and NOTHING behind the end."""
    return table([[0, *(NUMBER[word] for word in words), 0] for words in sentences])


def judged(path: Path, seed: int, watch: Callable[[float], None] = lambda share: None) -> dict:
    """What an entry reaches with one seed: nats, their standard error, operations, steps,
    and the seconds of a core that its training took.

    Raises:
        Refused: it breaks a rule, or its model is none; the message says what to do.
        Exception: whatever its own code raises.
    """
    code = compiled(path)
    rows = rows_of(corpus(SENTENCES, 2 * seed))
    budget = Budget(BUDGET, watch)
    torch.manual_seed(seed)
    start = time.process_time()
    with budget:
        train = loaded(code, path)
        model = train(rows, VOCAB_SIZE, budget)
    seconds = time.process_time() - start
    if budget.exceeded:  # and it caught the error
        raise Refused(f"{path.name} went on after its budget of {BUDGET:.3g} operations was spent")
    if isinstance(model, nn.Module):
        model.eval()
    with torch.no_grad():
        nats, error = distance(model, corpus(FRESH, 2 * seed + 1))
    return {
        "seed": seed,
        "nats": round(nats, 4),
        "error": round(error, 4),
        "operations": budget.spent,
        "steps": budget.steps,
        "seconds": round(seconds, 1),
    }


def compiled(path: Path) -> Any:
    """The code of an entry, unless it cannot be read, is no Python or imports what it must not."""
    try:
        tree = ast.parse(path.read_text("utf8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(f"{path} cannot be read ({error}); name a file of Python") from error
    except SyntaxError as error:
        raise Refused(
            f"line {error.lineno} of {path.name} is no Python: {error.msg}; run it by itself first"
        ) from error
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names]
        else:
            continue
        may = ", ".join(sorted(MAY_IMPORT))
        for name in names:
            if not any(f"{name}.".startswith(f"{allowed}.") for allowed in MAY_IMPORT):
                raise Refused(
                    f"line {node.lineno} of {path.name} imports {name}; an entry learns from its "
                    f"rows alone and computes with torch, so import from {may}"
                )
    return compile(tree, str(path), "exec")


def loaded(code: Any, path: Path) -> Callable[[Tensor, int, Budget], Any]:
    """The function `train` of an entry, whose file is run anew, so that no seed inherits another's.

    What the file computes when it is run is counted, too.
    """
    names = {"__name__": path.stem, "__file__": str(path)}
    exec(code, names)
    train = names.get("train")
    if not callable(train):
        raise Refused(
            f"{path.name} has no function train; write `def train(rows, vocab_size, budget):` and "
            "return the model"
        )
    try:
        inspect.signature(train).bind(None, None, None)
    except TypeError as error:
        raise Refused(
            f"train in {path.name} takes {inspect.signature(train)}; it is called with three "
            "arguments: write `def train(rows, vocab_size, budget):`"
        ) from error
    return train


def distance(model: Any, sentences: list[list[str]]) -> tuple[float, float]:
    """The Kullback-Leibler divergence of a model from the language, in nats a sentence, as
    estimated on these, and the standard error.

    Raises:
        Refused: it is no model, or it saw the future, the other rows, or these sentences.
    """
    ids = rows_of(sentences)
    check_answers(model, ids[:64, :-1].clamp(min=0))
    apart = surplus(model, sentences)
    nats, error = apart.mean().item(), spread(apart)
    others = surplus(model, corpus(len(sentences), time.time_ns()))
    behind = others.mean().item() - nats
    if behind > 6 * math.hypot(error, spread(others)):
        raise Refused(
            f"the judge's sentences surprise it by {behind:.2f} nats less than others of the "
            "language do, so it was trained on them; train on the rows alone"
        )
    if nats < -6 * error:
        raise Refused(
            f"it is {-nats:.2f} nats a sentence below the entropy, where no model can be: its "
            "logits know the word that comes, or change from call to call"
        )
    return nats, error


def surplus(model: Any, sentences: list[list[str]]) -> Tensor:
    """By how much each sentence (N,) surprises the model more than the language itself."""
    ids = rows_of(sentences)

    def read(part: Tensor) -> Tensor:  # as every call of the judge: no NOTHING among the ids
        return answer(model, part.clamp(min=0)).double()

    says = torch.cat([log_probs(read, part).sum(dim=1) for part in ids.split(100)])
    if not says.isfinite().all():
        worst = sentences[says.isfinite().logical_not().nonzero()[0].item()]
        raise Refused(
            f"it gives no probability to {' '.join(worst)!r}, which is in the language; a logit of "
            "-inf rules a word out, so give each a finite one"
        )
    truth = [math.log(sentence_probability(words)) for words in sentences]
    return torch.tensor(truth, dtype=torch.float64) - says


def spread(values: Tensor) -> float:
    """The standard error of their mean."""
    return values.std().item() / len(values) ** 0.5


def answer(model: Any, ids: Tensor) -> Tensor:
    """The logits of a model for ids (B, T), if they are logits (B, T, VOCAB_SIZE)."""
    if not callable(model):
        raise Refused(
            f"train returned {model!r}; it has to return the model, which maps ids (B, T) to logits"
        )
    logits = model(ids)
    expected = (*ids.shape, VOCAB_SIZE)
    if not isinstance(logits, Tensor) or logits.shape != expected:
        came = f"shape {tuple(logits.shape)}" if isinstance(logits, Tensor) else type(logits)
        raise Refused(
            f"for ids of shape {tuple(ids.shape)} the model gave {came}, not logits of shape "
            f"{expected}: one for each word that may come next"
        )
    if not logits.is_floating_point() or logits.isnan().any() or (logits == math.inf).any():
        raise Refused(
            "among the model's logits are NaN or inf, or they are no floating-point numbers; a "
            "smaller learning rate or gradient clipping often keeps them finite"
        )
    return logits


def check_answers(model: Any, ids: Tensor) -> None:
    """Raise Refused if what a model says at a position depends on anything but the words so far."""
    said = answer(model, ids)
    finite = said[said.isfinite()].abs()
    near = 1e-4 * (1 + (finite.max().item() if len(finite) else 0))

    def differs(other: Tensor, rows: slice, before: int) -> bool:
        a, b = said[rows, :before], other[rows, :before]
        return not torch.allclose(a, b, rtol=0, atol=near)

    if differs(answer(model, ids), slice(None), ids.shape[1]):
        raise Refused(
            "asked the same twice, the model gave two answers; switch dropout and other chance off "
            "when `model.training` is False"
        )
    generator = torch.Generator().manual_seed(0)
    for before in range(1, ids.shape[1]):
        later = torch.randint(VOCAB_SIZE, ids[:, before:].shape, generator=generator)
        changed = torch.cat([ids[:, :before], later], dim=1)
        if differs(answer(model, changed), slice(None), before):
            raise Refused(
                f"the model reads the future: with other words from position {before} on, its "
                "logits at the positions before changed; mask what follows (is_causal=True)"
            )
    others = torch.randint(VOCAB_SIZE, ids[1:].shape, generator=generator)
    changed = torch.cat([ids[:1], others])
    if differs(answer(model, changed), slice(1), ids.shape[1]):
        raise Refused(
            "the model's logits for a row depend on the other rows of the batch; norms over the "
            "batch do that"
        )
