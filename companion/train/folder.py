"""The folder of a run: what was asked for, what happened at each step, and the model to use."""

import json
import math
import os
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

from torch import nn
from tqdm.auto import tqdm

from companion import models
from companion.data import BPETokenizer, Vocabulary
from companion.models import BERT, GPT, Forecaster, Transformer, ViT
from companion.nn import RotaryScaling
from companion.train.recipes import Recipe
from companion.training import History, load_checkpoint, save_checkpoint
from companion.training.loop import load_history

CHECKPOINT, METRICS, RUN = "checkpoint.safetensors", "metrics.jsonl", "run.json"
MODEL, WORDS, PIECES, BEST = "model.json", "vocabulary.json", "tokenizer.json", "best.safetensors"
FILES = (CHECKPOINT, METRICS, RUN, MODEL, WORDS, PIECES, BEST)
OURS = {name + end for name in FILES for end in ("", ".unfinished")}
MODELS = (GPT, BERT, Transformer, ViT, Forecaster)
TEXT, SHA256 = "text", "sha256 of the text"  # in run.json; the first is a path, for its reader
MOST_PASSES = 40  # Muennighoff et al. 2023 (https://arxiv.org/abs/2305.16264), figure 1


def load(
    folder: str | os.PathLike[str],
) -> tuple[GPT | BERT | Transformer | ViT | Forecaster, Vocabulary | BPETokenizer | None]:
    """The model of a run of `python -m companion.train`, in eval mode, and its tokenizer.

    For a type checker, `assert isinstance(model, GPT)` says which model it is.

    Args:
        folder: the run's folder. Of a run that keeps its best weights, those of the lowest
            validation loss are taken, otherwise those of the last checkpoint.

    Returns:
        The model, and a `Vocabulary` or a `BPETokenizer`; None for a model that reads no text.

    Raises:
        FileNotFoundError: there is no such folder, or no checkpoint was saved there yet.
        ValueError: a file is damaged, or the run's model is not one of `companion.models`.
    """
    folder = Path(folder)
    if not (folder / MODEL).is_file():
        raise FileNotFoundError(
            f"there is no {MODEL} in {folder}; give the folder of a run of python -m "
            "companion.train whose model is one of companion.models"
        )
    try:
        described = json.loads((folder / MODEL).read_text("utf8"))
        kind, values = described["model"], described["config"]
        if isinstance(values.get("rope_scaling"), dict):
            values["rope_scaling"] = RotaryScaling(**values["rope_scaling"])
        config = getattr(models, f"{kind}Config")(**values)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{folder / MODEL} describes no model ({error})") from error
    model, tokenizer = getattr(models, kind)(config), None
    load_checkpoint(folder / (BEST if (folder / BEST).exists() else CHECKPOINT), model)
    if (folder / WORDS).is_file():
        tokenizer = Vocabulary(json.loads((folder / WORDS).read_text("utf8")))
    elif (folder / PIECES).is_file():
        tokenizer = BPETokenizer.load(folder / PIECES)
    return model.eval(), tokenizer


def describe(out: Path, model: nn.Module, tokenizer: Vocabulary | BPETokenizer | None) -> None:
    """Write what `load` needs beside the checkpoint."""
    if type(model) not in MODELS:
        return
    described = {"model": type(model).__name__, "config": asdict(model.config)}
    (out / MODEL).write_text(json.dumps(described, indent=1) + "\n", "utf8")
    if isinstance(tokenizer, Vocabulary):
        (out / WORDS).write_text(json.dumps(tokenizer.words, ensure_ascii=False), "utf8")
    elif tokenizer is not None:
        tokenizer.save(out / PIECES)


def start(out: Path, request: dict[str, object], resume: bool) -> History:
    """Make or check the folder of a run; return what was saved of it, nothing if it is to begin.

    Raises:
        ValueError: without `resume` the folder holds steps of a run or other things; with it the
            run was another one, or a file is damaged.
    """
    checkpoint, run, history = out / CHECKPOINT, out / RUN, History()
    if out.exists() and not out.is_dir():
        raise ValueError(f"{out} is a file; choose a folder, another --out")
    names = {path.name for path in out.iterdir()} if out.exists() else set()
    if METRICS in names and (out / METRICS).stat().st_size == 0:
        names.remove(METRICS)  # a run that came to no step may be begun again
    if not resume and not names <= {RUN, MODEL, WORDS, PIECES}:
        go_on = "add --resume to go on, or " if OURS & names else ""
        raise ValueError(f"{out} is not empty; {go_on}choose another --out")
    if resume:
        earlier = _earlier_request(run)
        # More steps may be asked for: the learning rate is then that of the longer run. The text
        # may have moved: what it says has a hash.
        fixed = request.keys() - {"steps", TEXT}
        if earlier and (changed := [n for n in fixed if earlier.get(n) != request[n]]):
            then, now = ({name: of.get(name) for name in changed} for of in (earlier, request))
            raise ValueError(
                f"{out} has a run with {then}, not {now}; ask for the same, or another --out"
            )
        if checkpoint.exists():
            history = load_history(checkpoint)
            if earlier is None:
                raise ValueError(f"{run} is damaged: it must say what was asked for, {request}")
        elif earlier is None and not names <= OURS:
            raise ValueError(f"{out} is not empty, and has no run; choose another --out")
    out.mkdir(parents=True, exist_ok=True)
    _replace(run, json.dumps(request, indent=1) + "\n")
    return history


def _earlier_request(run: Path) -> dict[str, object] | None:
    """What the run was begun with; None if that is not written there."""
    try:
        told = json.loads(run.read_text("utf8"))
    except (FileNotFoundError, ValueError):
        return None
    return told if isinstance(told, dict) and told else None


def _replace(path: Path, text: str) -> None:
    """Write a file in one operation of the file system, so that a kill leaves one or the other."""
    unfinished = path.with_name(f"{path.name}.unfinished")
    unfinished.write_text(text, "utf8")
    os.replace(unfinished, path)


class Record:
    """What a run writes and says as it goes; after a resumption it goes on where that does."""

    def __init__(self, out: Path, recipe: Recipe, steps: int, history: History):
        self.metrics, self.best, self.recipe, self.steps = out / METRICS, out / BEST, recipe, steps
        self.lowest = load_checkpoint(self.best)["loss"] if self.best.exists() else math.inf
        known = dict(_seconds(self.metrics))
        lines = (metrics_line(history, step, known.get(step)) for step in history.step)
        _replace(self.metrics, "".join(lines))
        self.took: list[float] = []  # seconds for each step of this session
        self.last = time.perf_counter()

    def evaluate(self, model: nn.Module) -> dict[str, Any]:
        """What the recipe's function says; the weights are kept if they are the best so far."""
        began = time.perf_counter()
        told = self.recipe.evaluate(model)
        if self.recipe.text_tokens and told["validation_loss"] < self.lowest:
            self.lowest = told["validation_loss"]
            save_checkpoint(self.best, model, loss=self.lowest)
        self.last += time.perf_counter() - began  # not a part of the step
        return told

    def add(self, history: History) -> None:
        """Write the line of the last step, and show the evaluation there, if there was one."""
        step, now = len(history.loss), time.perf_counter()
        self.took.append(now - self.last)
        self.last = now
        with self.metrics.open("a", encoding="utf8") as file:
            file.write(metrics_line(history, step, self.took[-1]))
        if len(self.took) == 4:  # the first takes longer than the others
            minutes = (self.steps - step) * median(self.took[1:]) / 60
            tqdm.write(f"{self.steps} steps: about {minutes:.1f} more minutes on this machine")
        if step == 1 and self.recipe.text_tokens:
            passes = self.steps * history.tokens[0] / self.recipe.text_tokens
            few = f"; more than {MOST_PASSES} teach it nothing: give fewer --steps or a longer text"
            told = f"{passes:.1f} passes over {self.recipe.text_tokens} tokens of text"
            tqdm.write(told + (few if passes > MOST_PASSES else ""))
        if history.evaluated_at[-1:] == [step]:
            numbers = dict(history.evaluations[-1])
            samples = numbers.pop("samples")
            text = ", ".join(f"{name} {number:.4f}" for name, number in numbers.items())
            tqdm.write("\n  ".join([f"step {step}: loss {history.loss[-1]:.4f}, {text}", *samples]))


def _seconds(metrics: Path) -> Iterator[tuple[int, float | None]]:
    """How long the steps of earlier sessions took."""
    try:
        for line in metrics.read_text("utf8").splitlines():
            told = json.loads(line)
            yield told["step"], told["seconds"]
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return  # a first session, a line half written, or damage: then no time is known


def metrics_line(history: History, step: int, seconds: float | None) -> str:
    """The line of one step, the first being 1."""
    names = "loss", "learning_rate", "grad_norm", "tokens"
    line = {"step": step} | {name: getattr(history, name)[step - 1] for name in names}
    line["seconds"] = seconds
    if step in history.skipped:
        line["grad_norm"] = None  # it overflowed, and JSON has no infinity
    if step in history.evaluated_at:
        line["evaluation"] = history.evaluations[history.evaluated_at.index(step)]
    return json.dumps(line) + "\n"
