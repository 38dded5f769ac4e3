"""The folder of a run: what was asked for, what happened at each step, and the model to use."""

import json
import os
from dataclasses import asdict
from pathlib import Path

from torch import nn
from tqdm.auto import tqdm

from companion import models
from companion.data import BPETokenizer, Vocabulary
from companion.nn import RotaryScaling
from companion.training import History, load_checkpoint
from companion.training.loop import load_history

CHECKPOINT, METRICS, RUN = "checkpoint.safetensors", "metrics.jsonl", "run.json"
MODEL, WORDS, PIECES = "model.json", "vocabulary.json", "tokenizer.json"
FILES = (CHECKPOINT, METRICS, RUN, MODEL, WORDS, PIECES)
OURS = {name + end for name in FILES for end in ("", ".unfinished")}
MODELS = ("GPT", "BERT", "Transformer", "ViT", "Forecaster")


def load(folder: str | os.PathLike) -> tuple[nn.Module, Vocabulary | BPETokenizer | None]:
    """The model of a run of `python -m companion.train`, in eval mode, and its tokenizer.

    Args:
        folder: the run's folder; a run that still goes on has the model of its last checkpoint.

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
    load_checkpoint(folder / CHECKPOINT, model)
    if (folder / WORDS).is_file():
        tokenizer = Vocabulary(json.loads((folder / WORDS).read_text("utf8")))
    elif (folder / PIECES).is_file():
        tokenizer = BPETokenizer.load(folder / PIECES)
    return model.eval(), tokenizer


def describe(out: Path, model: nn.Module, tokenizer) -> None:
    """Write what `load` needs beside the checkpoint."""
    if type(model).__name__ not in MODELS:
        return
    described = {"model": type(model).__name__, "config": asdict(model.config)}
    (out / MODEL).write_text(json.dumps(described, indent=1) + "\n", "utf8")
    if isinstance(tokenizer, Vocabulary):
        (out / WORDS).write_text(json.dumps(tokenizer.words, ensure_ascii=False), "utf8")
    elif tokenizer is not None:
        tokenizer.save(out / PIECES)


def start(out: Path, request: dict, resume: bool) -> History:
    """Make or check the folder of a run; return what was saved of it, nothing if it is to begin.

    Raises:
        ValueError: without `resume` the folder holds steps of a run or other things; with it the
            run was another one, or a file is damaged.
    """
    checkpoint, run, history = out / CHECKPOINT, out / RUN, History()
    names = {path.name for path in out.iterdir()} if out.exists() else set()
    if METRICS in names and (out / METRICS).stat().st_size == 0:
        names.remove(METRICS)  # a run that came to no step may be begun again
    if not resume and not names <= {RUN, MODEL, WORDS, PIECES}:
        go_on = "add --resume to go on, or " if OURS & names else ""
        raise ValueError(f"{out} is not empty; {go_on}choose another --out")
    if resume:
        earlier = _earlier_request(run)
        # More steps may be asked for: the learning rate is then that of the longer run.
        if earlier is not None and earlier | {"steps": request["steps"]} != request:
            raise ValueError(
                f"{out} has the run {earlier}, not {request}; ask for the same, or another --out"
            )
        if checkpoint.exists():
            history = load_history(checkpoint)
            if earlier is None:
                raise ValueError(f"{run} is damaged: it must say what was asked for, {request}")
        elif earlier is None and not names <= OURS:
            raise ValueError(f"{out} is not empty, and has no run; choose another --out")
    out.mkdir(parents=True, exist_ok=True)
    unfinished = out / f"{RUN}.unfinished"
    unfinished.write_text(json.dumps(request, indent=1) + "\n", "utf8")
    os.replace(unfinished, run)
    return history


def _earlier_request(run: Path) -> dict | None:
    """What the run was begun with; None if that is not written there."""
    try:
        return json.loads(run.read_text("utf8"))
    except (FileNotFoundError, ValueError):
        return None


class Metrics:
    """A file with a line of JSON for each step; after a resumption it goes on where that does."""

    def __init__(self, path: Path, history: History):
        self.path = path
        lines = (metrics_line(history, step) for step in history.step)
        path.write_text("".join(lines), "utf8")

    def add(self, history: History) -> None:
        """Write the line of the last step, and show the evaluation there, if there was one."""
        step = len(history.loss)
        with self.path.open("a", encoding="utf8") as file:
            file.write(metrics_line(history, step))
        if history.evaluated_at[-1:] == [step]:
            numbers = dict(history.evaluations[-1])
            samples = numbers.pop("samples")
            text = ", ".join(f"{name} {number:.4f}" for name, number in numbers.items())
            tqdm.write("\n  ".join([f"step {step}: loss {history.loss[-1]:.4f}, {text}", *samples]))


def metrics_line(history: History, step: int) -> str:
    """The line of one step, the first being 1."""
    line = {
        "step": step,
        "loss": history.loss[step - 1],
        "learning_rate": history.learning_rate[step - 1],
        "grad_norm": history.grad_norm[step - 1],
    }
    if step in history.evaluated_at:
        line["evaluation"] = history.evaluations[history.evaluated_at.index(step)]
    return json.dumps(line) + "\n"
