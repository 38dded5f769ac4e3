"""Runs that are really killed; a script, since whoever is killed cannot be the test.

    python killed_runs.py <folder> <seed>

trains one small model without a break (whole.safetensors), and again with kills, one file for each
way to be killed. After each kill a new process goes on from the checkpoint, if there is one.
"""

import os
import random
import signal
import sys
import time
from pathlib import Path

import torch
import torch._dynamo  # an optimizer does so, in seconds: here once, not in each that is killed

from companion.models import GPT, GPTConfig
from companion.training import checkpoints, fit, next_token_loss

STEPS = 16


def train(path: Path, announce: int) -> None:
    """Go on from the checkpoint, or start, and train to the end; write a byte before each step."""

    def batches(step):
        os.write(announce, b".")
        generator = torch.Generator().manual_seed(step)
        ids = torch.randint(1, 23, (7, 13), generator=generator)
        return ids.masked_fill(torch.arange(13) >= 2 + torch.arange(7)[:, None], 0)

    torch.set_num_threads(1)
    torch.manual_seed(5)
    config = GPTConfig(
        vocab_size=23, d_model=8, num_layers=1, num_heads=2, d_ff=11, max_len=13, dropout=0.2
    )
    fit(
        GPT(config),
        batches,
        steps=STEPS,
        loss=next_token_loss(0),
        learning_rate=lambda step: 0.01 * step,
        weight_decay=0.1,
        accumulate=2,
        evaluate=lambda model: torch.rand(()).item(),
        evaluate_every=5,
        checkpoint=path,
        checkpoint_every=1,
        resume=path.exists(),
        progress=False,
    )


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def die_while_writing(save: int) -> None:
    """Let this process kill itself when its save number `save` is half written.

    Since 0.8 safetensors writes to a file .tmp and six characters beside the one it is asked for.
    """
    saves, save_file = iter(range(1, STEPS + 1)), checkpoints.save_file

    def half_written(tensors, path, metadata):
        if next(saves) == save:
            path = path.with_name(f".tmp{os.getpid():06}")
            save_file(tensors, path, metadata)
            os.truncate(path, path.stat().st_size // 2)
            die()
        save_file(tensors, path, metadata)

    checkpoints.save_file = half_written


def die_before_the_exchange(save: int) -> None:
    """The same when the new file is complete, and the old one still in its place."""
    saves, replace = iter(range(1, STEPS + 1)), os.replace

    def replace_or_die(*paths):
        if next(saves) == save:
            die()
        replace(*paths)

    checkpoints.os.replace = replace_or_die


def killed(path: Path, rng: random.Random, prepare=None) -> None:
    """Train in a process that is killed: as `prepare` arranges it, or from outside."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        if prepare:
            prepare(rng.randint(1, 4))
        train(path, writing)
        os._exit(0)
    if prepare is None:
        for _ in range(rng.randint(1, 5)):  # steps
            os.read(reading, 1)
        time.sleep(rng.uniform(0, 0.01))
        os.kill(child, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.close(reading)
    os.close(writing)
    assert status == -signal.SIGKILL, f"the process ended with {status} and was not killed"


def main() -> None:
    folder, rng = Path(sys.argv[1]), random.Random(int(sys.argv[2]))
    ways = {"writing": die_while_writing, "exchange": die_before_the_exchange, "random": None}
    for name, prepare in ways.items():
        for _ in range(3):
            killed(folder / f"{name}.safetensors", rng, prepare)
    for name in (*ways, "whole"):
        train(folder / f"{name}.safetensors", os.open(os.devnull, os.O_WRONLY))


if __name__ == "__main__":
    main()
