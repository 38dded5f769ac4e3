"""A model, its optimizer and where training stood, in one file, from which nothing is unpickled.

The file is a safetensors file. Its tensors are the model's, the optimizer's and torch's random
state, and the bytes of a JSON text with the rest, which may be longer than a file's header. Those
of a sharded model are in a folder of torch.distributed.checkpoint instead; it says in a pickle
where they are, and nothing else is taken from that.
"""

import json
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save, save_file
from torch import nn

from companion.training.sharding import is_sharded, read_folder, save_folder

FORMAT = "companion checkpoint 5"


def save_checkpoint(
    path: str | os.PathLike,
    model: nn.Module,
    optimizer: torch.optim.Optimizer | None = None,
    **state,
) -> None:
    """Write model, optimizer, torch's random state and `state` to one safetensors file.

    Of a sharded model (fully_shard) every process writes its part to a folder; all must call this.

    The file is written beside `path` and then takes its place in one operation of the file system,
    so that a process that is killed leaves the previous checkpoint as it was. The next one to save
    there clears away what it had begun.

    Args:
        path: the file or folder; what it is in is made if need be.
        model: parameters and buffers; a tensor that goes by several names is written once. The
            names are those of the plain model if it, or a part of it, is compiled.
        optimizer: its state and its parameter groups.
        state: whatever else should be there afterwards, in terms of JSON: numbers, strings, None,
            lists, dictionaries with strings as keys.

    Raises:
        TypeError: `state` or a parameter group of the optimizer holds something that JSON does not
            have, or model or optimizer keep something else than dense tensors.
    """
    tensors = require_savable(model, optimizer, state)
    tensors["random.cpu"] = torch.get_rng_state()
    if device := _gpu(tensors.values()):
        tensors["random.cuda"] = torch.cuda.get_rng_state(device)
    path = Path(path).resolve()  # a link stays one
    if is_sharded(model):
        path.parent.mkdir(parents=True, exist_ok=True)
        save_folder(path, tensors)
        return
    unfinished = make_room(path)
    save_file(_apart(tensors), unfinished / path.name, {"format": FORMAT})
    _readable_as_usual(unfinished / path.name)
    os.replace(unfinished / path.name, path)
    unfinished.rmdir()


def make_room(path: Path) -> Path:
    """An empty folder beside a checkpoint, where the next one is written first; raise OSError.

    A folder, since a writer that is killed may leave a file with a name that only it knows.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(path.name + ".unfinished")
    if unfinished.exists():
        shutil.rmtree(unfinished)
    unfinished.mkdir()
    return unfinished


def require_savable(model, optimizer=None, state: dict | None = None) -> dict[str, torch.Tensor]:
    """What `save_checkpoint` writes of these as they are now; raise as it would."""
    stored, weights = _stored_names(model), model.state_dict()
    tensors = {f"model.{stored[name]}": tensor for name, tensor in weights.items()}
    saved = {} if optimizer is None else optimizer.state_dict()
    for index, entries in saved.get("state", {}).items():
        tensors |= {f"optimizer.{index}.{name}": entry for name, entry in entries.items()}
    for name, tensor in tensors.items():
        if not isinstance(tensor, torch.Tensor):
            raise TypeError(f"{name} must be a tensor, got {type(tensor).__name__}")
        try:
            save({name: torch.empty(0, dtype=tensor.dtype, layout=tensor.layout)})
        except (KeyError, ValueError, RuntimeError) as error:
            raise TypeError(
                f"{name} is of {tensor.dtype}, {tensor.layout}, which no safetensors file holds; "
                "keep it in another form, or register it with persistent=False"
            ) from error
    plain = {"state": state, "model": _model_layout(model)}
    if optimizer is not None:
        plain |= {"optimizer": _optimizer_layout(optimizer), "groups": saved["param_groups"]}
    try:
        plain = json.dumps(plain).encode()
    except TypeError as error:
        raise TypeError(
            "the state must be numbers, strings, None, lists and dictionaries, and so must the "
            f"optimizer's parameter groups, but {error}"
        ) from error
    return tensors | {"json": torch.frombuffer(bytearray(plain), dtype=torch.uint8)}


def load_checkpoint(
    path: str | os.PathLike,
    model: nn.Module | None = None,
    optimizer: torch.optim.Optimizer | None = None,
) -> dict:
    """Read a checkpoint into a model and an optimizer that are built like the saved ones.

    With an optimizer, that is to go on training, torch's random state is restored too. Everything
    is checked before anything is changed.

    Args:
        path: what `save_checkpoint` wrote; if that is a folder, all processes must call this.
        model: its parameters and buffers are overwritten; they stay where they are. It may be
            compiled where the saved one was not, and the other way round.
        optimizer: its state and parameter groups are replaced, but for how it computes (`fused`,
            `foreach`, `capturable`).

    Returns:
        The keyword arguments that `save_checkpoint` was given as `state`.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is truncated or no checkpoint, or model or optimizer are built
            otherwise.
    """
    path = Path(path)
    in_folder = path.is_dir()
    tensors, plain = _read_folder(path, model, optimizer) if in_folder else _read_file(path)
    if model is not None:
        _require_same(path, "model", plain["model"], _model_layout(model))
    if optimizer is not None:
        if "optimizer" not in plain:
            raise ValueError(f"{path} was saved without an optimizer; load it without one")
        _require_same(path, "optimizer", plain["optimizer"], _optimizer_layout(optimizer))
        _load_optimizer(optimizer, plain["groups"], tensors)
        torch.set_rng_state(tensors["random.cpu"])
        device = _gpu(p for group in optimizer.param_groups for p in group["params"])
        if device and "random.cuda" in tensors:
            torch.cuda.set_rng_state(tensors["random.cuda"], device)
    if model is not None:
        stored = _stored_names(model)
        model.load_state_dict({name: tensors[f"model.{stored[name]}"] for name in stored})
    return plain["state"]


def _apart(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The tensors on the CPU, none of them a part of another: a safetensors file has no such."""
    apart, seen = {}, set()
    for name, tensor in tensors.items():
        tensor = tensor.detach().cpu().contiguous()
        memory = tensor.untyped_storage().data_ptr()
        apart[name] = tensor.clone() if memory in seen else tensor
        seen.add(memory)
    return apart


def _readable_as_usual(path: Path) -> None:
    """Give the file the mode that the umask asks for; safetensors makes it private."""
    umask = os.umask(0)
    os.umask(umask)
    path.chmod(0o666 & ~umask)


def _read_file(path: Path) -> tuple[dict[str, torch.Tensor], dict]:
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
            f"{path} was not written by companion.training.save_checkpoint of this version; "
            "published weights are read by companion.pretrained.load"
        )
    return tensors, json.loads(tensors.pop("json").numpy().tobytes())


def _read_folder(path: Path, model, optimizer) -> tuple[dict[str, torch.Tensor], dict]:
    """What model and optimizer need of a checkpoint, shared out among processes as they are."""
    like, parts = {}, {"json"}
    if model is not None:
        stored, parts = _stored_names(model), parts | {"model"}
        like |= {f"model.{stored[name]}": x for name, x in model.state_dict().items()}
    if optimizer is not None:
        parameters = [p for group in optimizer.param_groups for p in group["params"]]
        like |= {f"optimizer.{i}": p.detach() for i, p in enumerate(parameters)}
        parts |= {"optimizer", "random"}
    try:
        tensors = read_folder(path, like, parts)
        return tensors, json.loads(tensors.pop("json").numpy().tobytes())
    except Exception as error:  # torch raises whatever its readers do
        raise ValueError(
            f"{path} is damaged, or not the folder of a sharded model ({type(error).__name__}: "
            f"{error}); use another checkpoint"
        ) from error


def _stored_names(model: nn.Module) -> dict[str, str]:
    """For each name of a tensor the one that it is stored by: its first, in the plain model."""
    first, tensors = {}, model.state_dict(keep_vars=True)
    return {name: first.setdefault(id(x), _plain_name(name)) for name, x in tensors.items()}


def _plain_name(name: str) -> str:
    """A tensor's name without what torch.compile adds."""
    return name.replace("_orig_mod.", "")


def _model_layout(model: nn.Module) -> dict[str, str]:
    """The shape and dtype of each tensor, and what it is tied to."""
    layout, weights = {}, model.state_dict()
    for name, stored in _stored_names(model).items():
        tied = f" tied to {stored}" if stored != _plain_name(name) else ""
        dtype = str(weights[name].dtype).removeprefix("torch.")
        layout[_plain_name(name)] = f"{tuple(weights[name].shape)} {dtype}{tied}"
    return layout


def _optimizer_layout(optimizer: torch.optim.Optimizer) -> dict[str, str]:
    """The optimizer's class or classes, and the shapes of the parameters in each of its groups."""
    groups = enumerate(optimizer.param_groups)
    shapes = {f"group {i}": str([tuple(p.shape) for p in group["params"]]) for i, group in groups}
    several = getattr(optimizer, "optimizers", [optimizer])
    return {"class": " and ".join(type(one).__name__ for one in several), **shapes}


def _require_same(path, what: str, saved: dict, here: dict) -> None:
    """Raise, with what differs, unless both layouts are equal."""
    differences = [
        f"{name}: {saved.get(name, 'missing')} in the file, {here.get(name, 'missing')} here"
        for name in saved | here
        if saved.get(name) != here.get(name)
    ]
    if differences:
        raise ValueError(
            f"the {what} is not built like the one saved in {path}; {len(differences)} entries "
            "differ:\n  " + "\n  ".join(differences[:8])
        )


def _load_optimizer(optimizer: torch.optim.Optimizer, groups: list[dict], tensors) -> None:
    for saved, group in zip(groups, optimizer.param_groups, strict=True):
        # JSON has no tuples. How a step is computed depends on the device, not on what was saved.
        saved |= {name: tuple(saved[name]) for name, own in group.items() if type(own) is tuple}
        saved |= {name: group[name] for name in ("fused", "foreach", "capturable") if name in group}
    entries = {}
    for full_name, tensor in tensors.items():
        part, *rest = full_name.split(".", 2)
        if part == "optimizer":
            entries.setdefault(int(rest[0]), {})[rest[1]] = tensor
    optimizer.load_state_dict({"state": entries, "param_groups": groups})


def _gpu(tensors: Iterable[torch.Tensor]) -> torch.device | None:
    """The CUDA device of the tensors, if they are on one."""
    return next((tensor.device for tensor in tensors if tensor.is_cuda), None)
