"""One of several processes that train together; reports as a line of JSON (see test_processes)."""

import json
import os

import torch
from torch import nn

from companion.training import fit, next_token_loss
from companion.training.processes import in_any_process


def tokens(step):
    """Rows of lengths 2 to 8, sorted: the processes' shares hold very different numbers."""
    generator = torch.Generator().manual_seed(step)
    ids = torch.randint(1, 23, (7, 8), generator=generator)
    return ids.masked_fill(torch.arange(8) >= 2 + torch.arange(7)[:, None], 0)


def train(accumulate: int):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(23, 5), nn.LayerNorm(5), nn.Linear(5, 23)).double()
    history = fit(
        model,
        tokens,
        steps=3,
        loss=next_token_loss(0),
        learning_rate=0.1,
        accumulate=accumulate,
        progress=False,
    )
    return model, history


def main():
    torch.set_num_threads(1)
    model, history = train(accumulate=1)
    report = {
        "processes": torch.distributed.get_world_size() if "RANK" in os.environ else 1,
        "loss": history.loss,
        "grad_norm": history.grad_norm,
        "weights": model[2].weight.flatten().tolist(),
        "drawn": torch.rand(3).tolist(),
        "accumulated": train(accumulate=3)[1].loss,
        "flags": [in_any_process(flag) for flag in (False, os.environ.get("RANK") == "1")],
    }
    os.write(1, f"{json.dumps(report)}\n".encode())  # in one piece, beside the others
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
