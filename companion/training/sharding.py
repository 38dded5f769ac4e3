"""A model of which every process holds a part, by torch's fully_shard, and its checkpoint.

torch's parts for it are imported where they are used: that takes a second.
"""

import copy
import os
import pickle
import shutil
import warnings
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn

from companion.training.processes import in_any_process, of_first_process

METADATA = {
    ("pathlib", "PosixPath"),
    ("pathlib", "WindowsPath"),
    ("torch", "Size"),
    ("torch.serialization", "_get_layout"),
    ("torch.distributed.checkpoint.filesystem", "_StorageInfo"),
    *(
        ("torch.distributed.checkpoint.metadata", name)
        for name in (
            "Metadata",
            "TensorStorageMetadata",
            "TensorProperties",
            "_MEM_FORMAT_ENCODING",
            "ChunkStorageMetadata",
            "MetadataIndex",
            "StorageMeta",
        )
    ),
}


def is_sharded(model: nn.Module) -> bool:
    """Whether the model has been through torch's fully_shard."""
    return hasattr(model, "set_requires_gradient_sync")


def sharded(model: nn.Module) -> nn.Module:
    """A copy of the model, as the first process has it, that is shared out among the processes.

    The entries of its ModuleLists, the blocks, are gathered one at a time; what is left of the
    model together. The model itself is left without weights until `gather` brings them back.
    """
    from torch.distributed.fsdp import fully_shard

    device = next(model.parameters()).device.type
    if not (dist.is_available() and dist.is_initialized()):
        raise ValueError(
            "shard=True shares the model out among the processes of torchrun, and this one was "
            "started without; leave it out, or run torchrun --nproc_per_node 2 ..."
        )
    if device == "cpu" and not hasattr(torch.cpu.current_stream(), "record_event"):
        raise ValueError(
            f"torch {torch.__version__} shards on GPUs alone; a newer one does on a CPU"
        )
    for tensor in model.state_dict().values():
        dist.broadcast(tensor, 0)
    part = copy.deepcopy(model)
    release(model)
    mesh = dist.device_mesh.init_device_mesh(device, (dist.get_world_size(),))
    lists = [module for module in part.modules() if isinstance(module, nn.ModuleList)]
    blocks = dict.fromkeys(block for blocks in lists for block in blocks)
    for module in [*reversed(blocks), part]:  # the parts of a module before it
        if not isinstance(module, nn.ModuleList | nn.ModuleDict):  # which compute nothing
            fully_shard(module, mesh=mesh)
    return part


def release(model: nn.Module) -> None:
    """Free the memory of the weights."""
    for parameter in model.parameters():
        parameter.data = parameter.new_empty(0)


@torch.no_grad()
def gather(model: nn.Module, part: nn.Module) -> None:
    """Give the model the whole weights of which every process has a part; all must ask."""
    for parameter, shard in zip(model.parameters(), part.parameters(), strict=True):
        parameter.data = shard.full_tensor()
    for buffer, own in zip(model.buffers(), part.buffers(), strict=True):
        buffer.copy_(own)


def save_folder(path: Path, tensors: dict[str, torch.Tensor]) -> None:
    """Write tensors, of some of which each process has a part, to a folder; all must ask.

    What is written has a number and takes the place of the one before when it is complete.
    """
    from torch.distributed.checkpoint import FileSystemWriter, save

    unfinished = path.with_name(path.name + ".unfinished")
    if dist.get_rank() == 0 and unfinished.exists():
        shutil.rmtree(unfinished)
    number = of_first_process(str(_newest(path) + 1))
    tensors["json"] = of_first_process(tensors["json"])
    save(tensors, storage_writer=FileSystemWriter(unfinished / number))
    if dist.get_rank() == 0 and path.exists():
        os.replace(unfinished / number, path / number)
        unfinished.rmdir()
        for earlier in path.iterdir():
            if earlier.name != number:
                shutil.rmtree(earlier)
    elif dist.get_rank() == 0:
        os.replace(unfinished, path)
    in_any_process(False)  # none reads it before it is there


def read_folder(path: Path, like: dict[str, torch.Tensor], parts: set[str]) -> dict:
    """The tensors of a folder whose names begin with one of the parts; all processes must ask.

    One that is `like` another, as are the states of an optimizer by the names of their parameters,
    is shared out among the processes as that is.
    """
    from torch.distributed.checkpoint import FileSystemReader, load

    newest = path / str(_newest(path))
    with (newest / ".metadata").open("rb") as file:
        metadata = Metadata(file).load()
    reader = FileSystemReader(newest)
    reader.read_metadata = lambda *_, **__: metadata  # where torch's own unpickles anything
    tensors = {}
    for name, entry in metadata.state_dict_metadata.items():
        if name.partition(".")[0] in parts:
            dtype, own = entry.properties.dtype, like.get(name, like.get(name.rpartition(".")[0]))
            is_like = own is not None and own.shape == entry.size
            empty = torch.empty_like(own, dtype=dtype) if is_like else None
            tensors[name] = torch.empty(entry.size, dtype=dtype) if empty is None else empty
    with warnings.catch_warnings(action="ignore"):  # of being alone
        load(tensors, storage_reader=reader)
    return tensors


class Metadata(pickle.Unpickler):
    """Reads where the tensors of a folder are, which torch pickles, and makes nothing else."""

    def find_class(self, module: str, name: str):
        if (module, name) in METADATA or isinstance(getattr(torch, name, None), torch.dtype):
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} has no place in a checkpoint")


def _newest(path: Path) -> int:
    """The number of the newest checkpoint in a folder, 0 if there is none."""
    numbers = [int(part.name) for part in path.glob("*") if part.name.isdecimal()]
    return max(numbers, default=0)
