"""The command, killed at every moment; a script, since whoever is killed cannot be the test.

    python killed_commands.py <folder>

runs a tiny recipe without a break (folder/whole), and many times with one kill and --resume:
before each file that the command opens, renames or makes in its folder (folder/1, folder/2, ...),
and when its first checkpoint is half written (folder/half).
"""

import os
import signal
import sys
from functools import partial
from pathlib import Path

import torch
from torch import nn

sys.path.append(str(Path(__file__).parents[1] / "training"))
from killed_runs import die, die_while_writing

from companion.train.__main__ import main
from companion.train.recipes import RECIPES, Recipe

ARGUMENTS = "tiny --device cpu --steps 3 --evaluate-every 2 --checkpoint-every 2".split()


def tiny(steps: int = 3, seed: int = 0, dropout: float = 0.1) -> Recipe:
    """A recipe that takes no time."""

    def loss(model, rows):
        return model(rows).square().sum(), len(rows)

    return Recipe(
        model=nn.Sequential(nn.Linear(3, 5), nn.Dropout(dropout), nn.Linear(5, 1)),
        batches=lambda step: torch.full((2, 3), float(step)),
        loss=loss,
        learning_rate=lambda step: 0.1,
        evaluate=lambda model: {"bias": model[0].bias.sum().item(), "samples": ["a sample"]},
        arguments={},
    )


def die_before(folder: Path, moment: int) -> None:
    """Let this process kill itself before event number `moment` in the folder."""
    moments = iter(range(1, moment + 1))

    def watch(event, arguments):
        if event in ("open", "os.mkdir", "os.rename") and str(arguments[0]).startswith(str(folder)):
            if next(moments) == moment:
                die()

    sys.addaudithook(watch)


def killed(folder: Path, prepare) -> bool:
    """Run the command in a process of its own; whether it was killed on the way."""
    child = os.fork()
    if child == 0:
        prepare()
        main([*ARGUMENTS, "--out", str(folder)])
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, -signal.SIGKILL), status
    return status != 0


def go_on(folder: Path) -> None:
    main([*ARGUMENTS, "--out", str(folder), "--resume"])


if __name__ == "__main__":
    torch.set_num_threads(1)
    RECIPES["tiny"] = tiny
    root, moment = Path(sys.argv[1]), 1
    while killed(folder := root / str(moment), partial(die_before, folder, moment)):
        go_on(folder)
        moment += 1
    folder.rename(root / "whole")
    assert killed(root / "half", partial(die_while_writing, 1))
    go_on(root / "half")
