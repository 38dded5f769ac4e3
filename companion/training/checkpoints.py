"""A model, its optimizer and where training stood, in one file, from which nothing is unpickled.

The file is a safetensors file. Its tensors are the model's, the optimizer's and torch's random
state; its metadata holds the rest as JSON, and a checksum of everything.
"""

import json
import os
import zlib
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import nn

FORMAT = "companion checkpoint 1"


def save_checkpoint(
    path: str | os.PathLike,
    model: nn.Module,
    optimizer: torch.optim.Optimizer | None = None,
    **state,
) -> None:
    """Write model, optimizer, torch's random state and `state` to one safetensors file.

    The file is written beside `path` and then takes its place in one operation of the file system,
    so that a save that is interrupted leaves the previous checkpoint as it was.

    Args:
        path: the file; its folder is made if need be.
        model: parameters and buffers; a tensor that goes by several names is written once.
        optimizer: its state and its parameter groups.
        state: whatever else should be there afterwards, in terms of JSON: numbers, strings, None,
            lists, dictionaries with strings as keys.

    Raises:
        TypeError: `state` or a parameter group of the optimizer holds something that JSON does not
            have, or model or optimizer keep something else than tensors.
    """
    path = Path(path)
    tensors, tied = _named_once(model)
    tensors = {f"model.{name}": tensor for name, tensor in tensors.items()}
    tensors["random.cpu"] = torch.get_rng_state()
    if torch.cuda.is_initialized():
        tensors["random.cuda"] = torch.cuda.get_rng_state()
    plain = {"state": state, "tied": tied, "optimizer": None}
    if optimizer is not None:
        plain["optimizer"] = optimizer.state_dict()["param_groups"]
        plain["shapes"] = _shapes(optimizer)
        for index, entries in optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{index}.{name}": entry for name, entry in entries.items()}
    for name, tensor in tensors.items():
        if not isinstance(tensor, torch.Tensor):
            raise TypeError(f"{name} must be a tensor, got {type(tensor).__name__}")
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    try:
        text = json.dumps(plain)
    except TypeError as error:
        raise TypeError(
            "the state must be numbers, strings, None, lists and dictionaries, and so must the "
            f"optimizer's parameter groups, but {error}"
        ) from error

    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(path.name + ".unfinished")
    metadata = {"format": FORMAT, "plain": text, "checksum": _checksum(tensors, text)}
    save_file(tensors, unfinished, metadata)
    _flush(unfinished)
    os.replace(unfinished, path)
    if os.name != "nt":  # Windows opens no folder
        _flush(path.parent)


def load_checkpoint(
    path: str | os.PathLike,
    model: nn.Module | None = None,
    optimizer: torch.optim.Optimizer | None = None,
) -> dict:
    """Read a checkpoint into a model and an optimizer that are built like the saved ones.

    With an optimizer, that is to go on training, torch's random state is restored too. Everything
    is checked before anything is changed.

    Args:
        path: what `save_checkpoint` wrote.
        model: its parameters and buffers are overwritten; they stay where they are.
        optimizer: its state and parameter groups are replaced.

    Returns:
        The keyword arguments that `save_checkpoint` was given as `state`.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is damaged or no checkpoint, or model or optimizer are built otherwise.
    """
    path = Path(path)
    tensors, plain = _read(path)
    parts = {"model": {}, "optimizer": {}, "random": {}}
    for full_name, tensor in tensors.items():
        part, name = full_name.split(".", 1)
        parts[part][name] = tensor
    if model is not None:
        _check_same_model(path, model, parts["model"], plain["tied"])
    if optimizer is not None:
        if plain["optimizer"] is None:
            raise ValueError(f"{path} was saved without an optimizer; load it without one")
        try:
            _load_optimizer(optimizer, parts["optimizer"], plain)
        except ValueError as error:
            raise ValueError(f"{path} was saved with another optimizer: {error}") from error
        torch.set_rng_state(parts["random"]["cpu"])
        if "cuda" in parts["random"] and torch.cuda.is_available():
            torch.cuda.set_rng_state(parts["random"]["cuda"])
    if model is not None:
        model.load_state_dict(parts["model"], strict=False)
    return plain["state"]


def _shapes(optimizer: torch.optim.Optimizer) -> list[list[int]]:
    """The shapes of an optimizer's parameters, in its order."""
    return [list(p.shape) for group in optimizer.param_groups for p in group["params"]]


def _load_optimizer(optimizer, tensors, plain) -> None:
    """Give an optimizer the saved state; raise unless it has such settings, groups and shapes."""
    for group in plain["optimizer"]:
        if missing := sorted(optimizer.defaults.keys() - group.keys()):
            raise ValueError(
                f"{type(optimizer).__name__} has {', '.join(missing)}, which the saved one has not"
            )
    entries = {}
    for full_name, tensor in tensors.items():
        index, name = full_name.split(".", 1)
        entries.setdefault(int(index), {})[name] = tensor
    shapes = zip(plain.get("shapes", []), _shapes(optimizer), strict=False)  # torch counts them
    for number, (found, expected) in enumerate(shapes):
        if found != expected:
            raise ValueError(f"its parameter {number} has the shape {found}, here {expected}")
    optimizer.load_state_dict({"state": entries, "param_groups": plain["optimizer"]})


def _named_once(model: nn.Module) -> tuple[dict[str, torch.Tensor], dict[str, str]]:
    """The model's tensors under the first name of each, and the first name for each other name."""
    first, tensors, tied = {}, {}, {}
    for name, tensor in model.state_dict(keep_vars=True).items():
        if id(tensor) in first:
            tied[name] = first[id(tensor)]
        else:
            first[id(tensor)] = name
            tensors[name] = tensor
    return tensors, tied


def _read(path: Path) -> tuple[dict[str, torch.Tensor], dict]:
    """All tensors of a checkpoint, and its JSON."""
    if not path.exists():
        raise FileNotFoundError(f"there is no checkpoint {path}; was one saved there?")
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}
    except (SafetensorError, OSError) as error:
        raise ValueError(
            f"{path} is damaged, or not a safetensors file ({error}); use another checkpoint"
        ) from error
    if metadata.get("format") != FORMAT:
        raise ValueError(
            f"{path} was not written by companion.training.save_checkpoint; "
            "published weights are read by companion.pretrained.load"
        )
    if metadata.get("checksum") != _checksum(tensors, metadata.get("plain", "")):
        raise ValueError(
            f"{path} is damaged: its contents do not match its checksum; use another checkpoint"
        )
    return tensors, json.loads(metadata["plain"])


def _checksum(tensors: dict[str, torch.Tensor], text: str) -> str:
    checksum = zlib.crc32(text.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        checksum = zlib.crc32(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode(), checksum)
        checksum = zlib.crc32(tensor.reshape(-1).view(torch.uint8).numpy(), checksum)
    return f"{checksum:08x}"


def _check_same_model(path, model, saved, saved_ties) -> None:
    """Raise unless the model has the names, shapes and ties of the saved one."""
    tensors, ties = _named_once(model)
    expected = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    found = {name: tuple(tensor.shape) for name, tensor in saved.items()}
    expected |= {name: f"tied to {first}" for name, first in ties.items()}
    found |= {name: f"tied to {first}" for name, first in saved_ties.items()}
    names = [*expected, *(found.keys() - expected.keys())]
    differences = [
        f"{name}: {found.get(name, 'missing')} in the file, {expected.get(name, 'missing')} here"
        for name in names
        if found.get(name) != expected.get(name)
    ]
    if differences:
        listed = "\n  ".join(differences[:8])
        more = f"\n  and {len(differences) - 8} more" if len(differences) > 8 else ""
        raise ValueError(
            f"the model is not built like the one saved in {path}; they differ in\n  {listed}{more}"
        )


def _flush(path: Path) -> None:
    """Wait until the disk has what was written to a file or done in a folder."""
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
