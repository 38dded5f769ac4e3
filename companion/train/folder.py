"""The folder of a run: what was asked for, and what happened at each step."""

import json
import os
from pathlib import Path

from tqdm.auto import tqdm

from companion.training import History
from companion.training.loop import load_history

CHECKPOINT, METRICS, RUN = "checkpoint.safetensors", "metrics.jsonl", "run.json"
OURS = {name + end for name in (CHECKPOINT, METRICS, RUN) for end in ("", ".unfinished")}


def start(out: Path, asked: dict, resume: bool) -> History:
    """Make or check the folder of a run; return what was saved of it, nothing if it is to begin.

    Raises:
        ValueError: without `resume` the folder holds steps of a run or other things; with it the
            run was another one, or a file is damaged.
    """
    checkpoint, run = out / CHECKPOINT, out / RUN
    found = sorted(path.name for path in out.iterdir()) if out.exists() else []
    if not resume and not all(name == RUN or _is_empty_metrics(out / name) for name in found):
        go_on = "add --resume to go on, or " if OURS & set(found) else ""
        raise ValueError(f"{out} is not empty; {go_on}choose another --out")
    if resume:
        begun = _asked_before(run)
        if begun not in (None, asked):
            raise ValueError(
                f"{out} has the run {begun}, not {asked}; ask for the same, or another --out"
            )
        if checkpoint.exists():
            history = load_history(checkpoint)
            if begun is None:
                raise ValueError(f"{run} is damaged: it must say what was asked for, {asked}")
            return history
        if begun is None and not OURS.issuperset(found):
            raise ValueError(f"{out} is not empty, and has no run; choose another --out")
    out.mkdir(parents=True, exist_ok=True)
    unfinished = run.with_name(RUN + ".unfinished")
    unfinished.write_text(json.dumps(asked, indent=1) + "\n", "utf8")
    os.replace(unfinished, run)
    return History()


def _asked_before(run: Path) -> dict | None:
    """What the run was begun with; None if that is not written there."""
    try:
        return json.loads(run.read_text("utf8"))
    except (FileNotFoundError, ValueError):
        return None


def _is_empty_metrics(path: Path) -> bool:
    """Whether these are the metrics of a run that came to no step: it may be begun again."""
    return path.name == METRICS and path.stat().st_size == 0


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
            told = ", ".join(f"{name} {number:.4f}" for name, number in numbers.items())
            tqdm.write("\n  ".join([f"step {step}: loss {history.loss[-1]:.4f}, {told}", *samples]))


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
