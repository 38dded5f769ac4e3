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

from companion.training.processes import in_any_process, of_first_process, rank_and_number

PLACES = {"Metadata", "TensorStorageMetadata", "TensorProperties", "_MEM_FORMAT_ENCODING"}
PLACES |= {"ChunkStorageMetadata", "MetadataIndex", "StorageMeta", "_StorageInfo", "_get_layout"}
PLACES |= {"Size", "PosixPath", "WindowsPath"}
MODULES = ("torch", "torch.serialization", "pathlib", "torch.distributed.checkpoint.metadata")
MODULES += ("torch.distributed.checkpoint.filesystem",)


def is_sharded(model: nn.Module) -> bool:
    """Whether the model has been through torch's fully_shard."""
    return hasattr(model, "set_requires_gradient_sync")


def sharded(model: nn.Module) -> nn.Module:
    """A copy of the first process's model, shared out among all; the model's own memory is freed.

    To compute, the blocks (entries of a ModuleList) are gathered one at a time.
    """
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
    from torch.distributed.fsdp import fully_shard

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
    """Give the model the whole weights of `part`; all must ask."""
    for parameter, shard in zip(model.parameters(), part.parameters(), strict=True):
        parameter.data = shard.full_tensor()
    for buffer, own in zip(model.buffers(), part.buffers(), strict=True):
        buffer.copy_(own)


def save_folder(path: Path, tensors: dict[str, torch.Tensor]) -> None:
    """Write tensors, each process its part of them, to a folder; all must ask.

    They stand in a folder with a number in it, which replaces the one before once it is complete.
    """
    from torch.distributed.checkpoint import FileSystemWriter, save

    is_first, unfinished = rank_and_number()[0] == 0, path.with_name(path.name + ".unfinished")
    if is_first and unfinished.exists():
        shutil.rmtree(unfinished)
    number, tensors["json"] = of_first_process((str(_newest(path) + 1), tensors["json"]))
    save(tensors, storage_writer=FileSystemWriter(unfinished / number))
    if is_first and path.exists():
        os.replace(unfinished / number, path / number)
        unfinished.rmdir()
        for earlier in path.iterdir():
            if earlier.name != number:
                shutil.rmtree(earlier)
    elif is_first:
        os.replace(unfinished, path)
    in_any_process(False)  # the others wait until it is there


def read_folder(path: Path, like: dict[str, torch.Tensor], parts: set[str]) -> dict:
    """The tensors of a folder whose names begin with one of the parts; all processes must ask.

    Each is shared out as its namesake in `like` is, or as the parameter whose state it is.
    """
    from torch.distributed.checkpoint import CheckpointException, FileSystemReader, load

    newest, tensors = path / str(_newest(path)), {}
    with (newest / ".metadata").open("rb") as file:
        metadata = Places(file).load()
    reader = FileSystemReader(newest)
    reader.read_metadata = lambda *_, **__: metadata  # torch's own would unpickle anything
    for name, entry in metadata.state_dict_metadata.items():
        if name.partition(".")[0] in parts:
            own = like.get(name, like.get(name.rpartition(".")[0]))
            is_like = own is not None and own.shape == entry.size
            shape = own if is_like else torch.empty(entry.size)
            tensors[name] = torch.empty_like(shape, dtype=entry.properties.dtype)
    try:
        with warnings.catch_warnings(action="ignore"):  # torch's, that it is alone
            load(tensors, storage_reader=reader)
    except CheckpointException as error:  # which is a BaseException
        raise RuntimeError([failure for failure, _ in error.failures.values()]) from error
    return tensors


class Places(pickle.Unpickler):
    """Reads where the tensors of a folder are, which torch pickles, and makes nothing else."""

    def find_class(self, module: str, name: str):
        module = module.removesuffix("._local")  # of pathlib, written by Python 3.13
        is_dtype = module == "torch" and isinstance(getattr(torch, name, None), torch.dtype)
        if is_dtype or (module in MODULES and name in PLACES):
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} has no place in a checkpoint")


def _newest(path: Path) -> int:
    """The number of the newest checkpoint in a folder, 0 if there is none."""
    numbers = [int(part.name) for part in path.glob("*") if part.name.isdecimal()]
    return max(numbers, default=0)
