"""Two processes train together, then one alone, as torchrun would start them: one import for all.

Each reports as a line of JSON (see test_processes).
"""

import json
import os
import socket
import tempfile
from pathlib import Path

import torch
from torch import nn

from companion.training import fit, next_token_loss
from companion.training.processes import in_any_process


def tokens(step):
    """Rows of lengths 2 to 8, sorted: the processes' shares hold very different numbers."""
    generator = torch.Generator().manual_seed(step)
    ids = torch.randint(1, 23, (7, 8), generator=generator)
    return ids.masked_fill(torch.arange(8) >= 2 + torch.arange(7)[:, None], 0)


def train(dropout: float = 0.0, steps: int = 3, seed: int = 0, **options):
    torch.manual_seed(seed)
    layers = nn.Embedding(23, 5), nn.LayerNorm(5), nn.Dropout(dropout), nn.Linear(5, 23)
    model, options = nn.Sequential(*layers).double(), {"learning_rate": 0.1, **options}
    history = fit(model, tokens, steps=steps, loss=next_token_loss(0), progress=False, **options)
    return model, history


def resumed() -> dict:
    """Six steps with dropout, at once and in two runs; only the first process has a file."""
    with tempfile.TemporaryDirectory() as folder:
        options = {"dropout": 0.3, "checkpoint": Path(folder) / "run.safetensors"}
        train(steps=3, **options)
        has_file = options["checkpoint"].exists()
        model, history = train(steps=6, resume=has_file, **options)
    whole, expected = train(dropout=0.3, steps=6)
    return {
        "has_file": has_file,
        "same": history == expected and torch.equal(model[3].weight, whole[3].weight),
        "loss": history.loss,
    }


def drawn_last(seed: int, steps: int) -> list[float]:
    """What a run of so many steps would draw next."""
    train(dropout=0.3, steps=steps, seed=seed)
    return torch.rand(3).tolist()


def report() -> None:
    model, history = train()
    report = {
        "processes": torch.distributed.get_world_size(),
        "loss": history.loss,
        "grad_norm": history.grad_norm,
        "weights": model[3].weight.flatten().tolist(),
        "drawn": torch.rand(3).tolist(),
        "seeds": [drawn_last(seed=0, steps=2), drawn_last(seed=2, steps=1)],
        "accumulated": train(accumulate=3)[1].loss,
        "resumed": resumed(),
        "flags": [in_any_process(flag) for flag in (False, os.environ.get("RANK") == "1")],
    }
    os.write(1, f"{json.dumps(report)}\n".encode())  # in one piece, beside the others


def start(rank: int, count: int, port: int) -> int:
    """Report in a process of its own, with the variables that torchrun sets."""
    if (child := os.fork()) == 0:
        os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(count)}
        os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
        os.environ["TORCHELASTIC_RUN_ID"] = "none"
        report()
        torch.distributed.destroy_process_group()
        os._exit(0)
    return child


if __name__ == "__main__":
    torch.set_num_threads(1)
    for count in (2, 1):
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
        for child in [start(rank, count, port) for rank in range(count)]:
            assert os.waitpid(child, 0)[1] == 0
