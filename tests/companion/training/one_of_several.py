"""Two processes train together, then one alone, as torchrun would start them: one import for all.

Each reports in a file of JSON, in the folder that is named (see test_processes).
"""

import json
import os
import shutil
import socket
import sys
import tempfile
from pathlib import Path
from unittest import mock

import torch
import torch.distributed.checkpoint  # here once, not in each process
from torch import nn
from torch.distributed.fsdp import fully_shard

from companion.generation import generate
from companion.models import GPT, GPTConfig
from companion.pretrained import load, save
from companion.training import fit, load_checkpoint, mean_loss, next_token_loss
from companion.training.processes import in_any_process


def tokens(step):
    """Rows of lengths 2 to 8, sorted: the processes' shares hold very different numbers."""
    generator = torch.Generator().manual_seed(step)
    ids = torch.randint(1, 23, (7, 8), generator=generator)
    return ids.masked_fill(torch.arange(8) >= 2 + torch.arange(7)[:, None], 0)


def train(dropout: float = 0.0, steps: int = 3, seed: int = 0, **options):
    torch.manual_seed(seed)
    layers = nn.Embedding(23, 5), nn.LayerNorm(5), nn.Dropout(dropout), nn.Linear(5, 23)
    model, options = nn.Sequential(*layers).double(), {"learning_rate": 0.01, **options}
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


def gpt(tied: bool = True, seed: int = 0) -> GPT:
    torch.manual_seed(seed)
    sizes = {"vocab_size": 23, "d_model": 8, "num_layers": 2, "num_heads": 2, "d_ff": 11}
    sizes |= {"max_len": 13, "positions": "rotary", "norm": "rms", "activation": "swiglu"}
    # Without biases: those of the keys have gradients of rounding alone, which AdamW enlarges.
    sizes |= {"bias": False, "dropout": 0.0, "pad_id": 0}
    return GPT(GPTConfig(**sizes, tie_weights=tied)).double()


def train_gpt(model: GPT, steps: int = 3, **options) -> dict:
    """What happened, and the weights: of a sharded model, those that it is left with."""
    options = {"loss": next_token_loss(0), "learning_rate": 0.1, **options}
    history = fit(model, tokens, steps=steps, progress=False, **options)
    whole = [getattr(p, "full_tensor", lambda p=p: p)().flatten() for p in model.parameters()]
    weights = torch.cat(whole)
    return {**vars(history), "skipped": history.skipped, "weights": weights.tolist()}


def look(model: GPT) -> dict:
    """What each process does alone with the whole model, and what is shared out."""
    written = generate(model, tokens(9)[:, :2], 3, temperature=0).tolist()
    calls = []
    handle = model.register_forward_hook(lambda *_: calls.append(1))
    loss = mean_loss(model, next_token_loss(0), tokens(9), batch_size=2)
    handle.remove()
    return {"written": written, "loss": loss, "calls": len(calls), "is": type(model).__name__}


def overflowing(model: GPT, ids: torch.Tensor):
    """A gradient that float16 holds only when it is scaled down."""
    total, count = next_token_loss(0)(model, ids)
    return total * 2.0**20, count


def sharded_by_hand(model: GPT) -> GPT:
    mesh = torch.distributed.device_mesh.init_device_mesh("cpu", (count(),))
    for block in model.blocks:
        fully_shard(block, mesh=mesh)
    return fully_shard(model, mesh=mesh)


def count() -> int:
    return torch.distributed.get_world_size()


def sharded(folder: Path) -> dict:
    """Runs of a GPT whose weights are shared out, or its batches, and that go on from a folder."""
    options, report = {"shard": True}, {}
    for tied in (True, False):
        report[f"shared, {tied}"] = train_gpt(gpt(tied), evaluate=look, accumulate=2)
        model = gpt(tied, seed=torch.distributed.get_rank())  # that of the first counts
        report[f"sharded, {tied}"] = train_gpt(model, evaluate=look, accumulate=2, **options)
    report["by hand"] = train_gpt(sharded_by_hand(gpt()), accumulate=2)
    half = {"loss": overflowing, "mixed_precision": "fp16"}
    for shard in (True, False):
        report[f"fp16, {shard}"] = train_gpt(gpt().float(), steps=12, shard=shard, **half)
    run = folder / f"of {count()}"
    train_gpt(gpt(), steps=3, checkpoint=run, checkpoint_every=1, **options)
    report["names"] = [path.name for path in run.iterdir()]
    if is_first():
        shutil.copytree(run, folder / f"copy {count()}")
    in_any_process(False)  # none goes on before it is there
    going_on = {"steps": 5, "resume": True, "checkpoint": run, **options}
    report["resumed"] = train_gpt(gpt(seed=1), **going_on)
    report["straight"] = train_gpt(gpt(), steps=5, **options)
    report["diverged"], report["failed"] = diverged(), failed(folder / f"failed {count()}")
    if count() == 1:  # what two have begun
        going_on["checkpoint"] = folder / "copy 2"
        report["by another number"] = train_gpt(gpt(seed=1), **going_on)
    if is_first():
        save(model, folder / f"saved by {count()}")
        same = load(folder / f"saved by {count()}")
        report["saved"] = torch.allclose(same(tokens(1)), model(tokens(1)))
    return report


def diverged() -> bool:
    """Whether a sharded run that diverges leaves the model the weights of the step before."""
    model, expected = gpt(), train_gpt(gpt(), steps=1, shard=True)["weights"]
    losses = iter([1.0, float("nan")])

    def loss(model, ids):
        total, number = next_token_loss(0)(model, ids)
        return total * next(losses), number

    try:
        train_gpt(model, loss=loss, shard=True)
    except FloatingPointError:
        return torch.cat([p.flatten() for p in model.parameters()]).tolist() == expected
    return False


def failed(path: Path) -> list:
    """How a sharded run ends in which the first process cannot report, and what was saved of it."""
    ended = ""
    try:
        train_gpt(gpt(), shard=True, checkpoint=path, report=lambda history: 1 / 0)
    except (ZeroDivisionError, KeyboardInterrupt) as error:
        ended = type(error).__name__
    return [ended, len(load_checkpoint(path)["history"]["loss"])]


def is_first() -> bool:
    return torch.distributed.get_rank() == 0


def compiled() -> list[str]:
    """The modules that `fit` compiles."""
    found = []
    with mock.patch("torch.compile", lambda module: found.append(type(module).__name__) or module):
        train(compile=True)
    return found


def report(folder: Path) -> None:
    model, history = train()
    report = {
        "processes": count(),
        "loss": history.loss,
        "grad_norm": history.grad_norm,
        "weights": model[3].weight.flatten().tolist(),
        "drawn": torch.rand(3).tolist(),
        "seeds": [drawn_last(seed=0, steps=2), drawn_last(seed=2, steps=1)],
        "accumulated": train(accumulate=3)[1].loss,
        "resumed": resumed(),
        "flags": [in_any_process(flag) for flag in (False, os.environ.get("RANK") == "1")],
        "compiled": compiled(),
    }
    if hasattr(torch.cpu.current_stream(), "record_event"):  # torch 2.6 shards on GPUs alone
        report["sharded"] = sharded(folder)
    of_rank = f"{count()}-{os.environ['RANK']}.json"  # a pipe would mix what two write at once
    (folder / of_rank).write_text(json.dumps(report))


def start(rank: int, count: int, port: int, folder: Path) -> int:
    """Report in a process of its own, with the variables that torchrun sets."""
    if (child := os.fork()) == 0:
        os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(count)}
        os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
        os.environ["TORCHELASTIC_RUN_ID"] = "none"
        report(folder)
        torch.distributed.destroy_process_group()
        os._exit(0)
    return child


if __name__ == "__main__":
    torch.set_num_threads(1)
    for number in (2, 1):
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
        for child in [start(rank, number, port, Path(sys.argv[1])) for rank in range(number)]:
            assert os.waitpid(child, 0)[1] == 0
