"""The folder of a run: what was asked for, and what happened at each step."""

import json
from pathlib import Path

from tqdm.auto import tqdm

from companion.training import History
from companion.training.loop import load_history

METRICS = "metrics.jsonl"


def start(out: Path, checkpoint: Path, run: Path, asked: dict, resume: bool) -> History:
    """Make or check the folder of a run; return what has happened in it so far.

    Raises:
        ValueError: without `resume` the folder holds steps of a run or other things; with it the
            run was another one, or a file is damaged.
        FileNotFoundError: there is nothing to resume.
    """
    if not resume:
        if out.exists() and not all(_is_empty(path) or path == run for path in out.iterdir()):
            go_on = "add --resume to go on, or " if checkpoint.exists() else ""
            raise ValueError(f"{out} is not empty; {go_on}choose another --out")
        out.mkdir(parents=True, exist_ok=True)
        run.write_text(json.dumps(asked, indent=1) + "\n", "utf8")
        return History()
    history = load_history(checkpoint)
    try:
        begun = json.loads(run.read_text("utf8"))
    except ValueError as error:
        raise ValueError(
            f"{run} is damaged ({error}): it must say what was asked for, {asked}"
        ) from error
    if begun != asked:
        raise ValueError(
            f"{out} has the run {begun}, not {asked}; ask for the same, or another --out"
        )
    return history


def _is_empty(path: Path) -> bool:
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
