"""The folder of a run: what was asked for, and what happened at each step."""

import json
from pathlib import Path

from tqdm.auto import tqdm

from companion.training import History, load_checkpoint


def start(out: Path, checkpoint: Path, run: Path, asked: dict, resume: bool) -> History:
    """Make or check the folder of a run; return what has happened in it so far.

    Raises:
        ValueError: without `resume` the folder is not empty, or with it the run was another one.
        FileNotFoundError: there is nothing to resume.
    """
    if not resume:
        if out.exists() and any(out.iterdir()):
            go_on = "add --resume to go on, or " if checkpoint.exists() else ""
            raise ValueError(f"{out} is not empty; {go_on}choose another --out")
        out.mkdir(parents=True, exist_ok=True)
        run.write_text(json.dumps(asked, indent=1) + "\n", "utf8")
        return History()
    history = History(**load_checkpoint(checkpoint)["history"])
    begun = json.loads(run.read_text("utf8"))
    if begun != asked:
        raise ValueError(
            f"{out} has the run {begun}, not {asked}; ask for the same, or another --out"
        )
    return history


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
