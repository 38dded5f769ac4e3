"""A GPT trained by `fit` in one process and, shared out by torch's FSDP2, in two.

`python -m book.many_machines.two_processes` trains it alone, then starts torchrun as a reader
would, and writes two_processes.json beside this file: how far the two ended apart, what each
process kept, and what was sent. It takes half a minute, most of which is importing torch.
"""

import json
import math
import os
import subprocess
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

import torch
import torch.distributed as dist

from book.many_machines.replicas import PADDING, SIZES, ragged
from companion.models import GPT
from companion.training import fit, next_token_loss

STEPS = 5
FILE = Path(__file__).with_suffix(".json")
COLLECTIVES = {  # whose names are older or newer, by release of torch
    "gathered": ("all_gather_single", "all_gather_into_tensor"),
    "reduced": ("reduce_scatter_single", "reduce_scatter_tensor"),
}


def measured() -> dict:
    """What the run wrote to two_processes.json."""
    return json.loads(files("book.many_machines").joinpath("two_processes.json").read_text("utf8"))


def train(shard: bool, sent: dict[str, int]) -> dict:
    """Five steps of `fit`; weights and losses, and the bytes of one step and in each process."""
    torch.manual_seed(0)
    model, kept, steps = GPT(SIZES).double(), {}, []
    whole = sum(weight.nbytes for weight in model.parameters())

    def optimizer(own):  # of the model as this process has it
        parts = list(own.parameters())
        kept["weights"] = sum(getattr(p, "to_local", lambda p=p: p)().nbytes for p in parts)
        return torch.optim.AdamW(parts, lr=1e-2)

    history = fit(
        model, ragged, steps=STEPS, loss=next_token_loss(PADDING), learning_rate=1e-2,
        optimizer=optimizer, shard=shard, progress=False,
        report=lambda _: steps.append(dict(sent)),
    )  # fmt: skip
    one = {name: (steps[-1][name] - steps[-2][name]) / whole for name in sent} if steps else {}
    weights = torch.cat([weight.detach().flatten() for weight in model.parameters()])
    return {"weights": weights, "loss": history.loss, "kept": kept["weights"] / whole, "sent": one}


def count(sent: dict[str, int], name: str, names: tuple[str, ...]) -> None:
    """Have torch count the bytes of the whole tensor in each call of a collective."""
    known = next(one for one in names if hasattr(dist, one))
    call = getattr(dist, known)

    def counted(*args, **options):
        tensors = [x for x in (*args, *options.values()) if isinstance(x, torch.Tensor)]
        sent[name] += max(tensor.nbytes for tensor in tensors)
        return call(*args, **options)

    setattr(dist, known, counted)


def main() -> None:
    """One process starts two, which compare themselves with it."""
    torch.set_num_threads(1)
    if "WORLD_SIZE" not in os.environ:
        with tempfile.TemporaryDirectory() as folder:
            alone = Path(folder) / "alone.pt"
            torch.save(train(False, {}), alone)
            torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
            command = [*torchrun, "--nproc_per_node", "2", "-m", "book.many_machines.two_processes"]
            subprocess.run(command, check=True, env=os.environ | {"ALONE": str(alone)})
        return
    sent = dict.fromkeys(COLLECTIVES, 0)
    for name, names in COLLECTIVES.items():
        count(sent, name, names)
    found, alone = train(True, sent), torch.load(os.environ["ALONE"])
    if dist.get_rank() == 0:
        gap = max(abs(a - b) for a, b in zip(found["loss"], alone["loss"], strict=True))
        assert math.isfinite(gap)
        result = {
            "torch": torch.__version__,
            "processes": dist.get_world_size(),
            "steps": STEPS,
            "loss_gap": gap,
            "weights_gap": (found["weights"] - alone["weights"]).abs().max().item(),
            "kept": found["kept"],
            "sent": found["sent"],
        }
        FILE.write_text(json.dumps(result, indent=2) + "\n", "utf8")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
