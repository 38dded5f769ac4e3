"""What a published model is on disk: a config.json, and tensors in safetensors files."""

import json
import os
import re
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open

from companion.pretrained.packages import PACKAGES, packaged

CONFIG = "config.json"
ADAPTER = "adapter_config.json"
WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"
TOKENIZER = "tokenizer.json"
TOKENIZER_CONFIG = "tokenizer_config.json"
CHAT_TEMPLATE = "chat_template.jinja"
GENERATION_CONFIG = "generation_config.json"
SPECIAL_TOKENS = "special_tokens_map.json"
LFS_POINTER = b"version https://git-lfs.github.com/spec/"

HUB_NAME = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)?")


def find(name_or_folder: str | os.PathLike) -> Path:
    """Where a model is: the folder or GGUF file that is given, or fetched under that name.

    Raises:
        FileNotFoundError: it looks like a path, and there is no such folder.
        ValueError: the hub has no model of that name, or does not give it to everybody.
        ConnectionError: hub or registry cannot be reached, and no earlier download is there.
    """
    if not isinstance(name_or_folder, str | os.PathLike):
        raise TypeError(
            "name_or_folder must be a name on the hub or the path of a folder, "
            f"got {type(name_or_folder).__name__}"
        )
    folder = Path(name_or_folder)
    if folder.is_dir() or (folder.is_file() and folder.suffix.lower() == ".gguf"):
        return folder
    if folder.exists():
        raise ValueError(
            f"{folder} is a file; give the folder that holds {CONFIG} and {WEIGHTS}, or a .gguf"
        )
    if name_or_folder in PACKAGES:
        return packaged(name_or_folder)
    if isinstance(name_or_folder, str) and HUB_NAME.fullmatch(name_or_folder):
        return _downloaded(name_or_folder)
    raise FileNotFoundError(
        f"there is no folder {folder}; give a folder that holds {CONFIG} and {WEIGHTS}, a name "
        f"on the hub such as openai-community/gpt2, or one of {', '.join(PACKAGES)}"
    )


def _downloaded(name: str) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import RepositoryNotFoundError

    wanted = [CONFIG, ADAPTER, WEIGHTS, INDEX, "model-*.safetensors", "model.safetensors-*"]
    wanted += [TOKENIZER, TOKENIZER_CONFIG, SPECIAL_TOKENS, CHAT_TEMPLATE, GENERATION_CONFIG]
    try:
        return Path(snapshot_download(name, allow_patterns=wanted))
    except RepositoryNotFoundError as error:
        raise ValueError(
            f"there is no folder {name!r} here, and the hub has no model of that name that is open "
            f"to everybody ({_first_line(error)}); check the name, or log in if access is granted"
        ) from error
    except OSError as error:
        raise ConnectionError(
            f"there is no folder {name!r} here, and it could not be fetched from the hub "
            f"({_first_line(error)}); connect to the network, or copy the model's {CONFIG} and "
            f"{WEIGHTS} into a folder and give its path"
        ) from error


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


def remedy(path: Path) -> str:
    """What to do about a file that cannot be read."""
    with path.open("rb") as file:
        is_pointer = file.read(len(LFS_POINTER)) == LFS_POINTER
    return "it is Git LFS's pointer to it: run `git lfs pull`" if is_pointer else "get it again"


def read_json(path: Path) -> dict:
    """The object in a JSON file.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is not JSON, or not an object.
    """
    if not path.is_file():
        raise FileNotFoundError(f"there is no {path.name} in {path.parent}")
    try:
        values = json.loads(path.read_text("utf8"))
    except ValueError as error:  # of JSON and of UTF-8
        raise ValueError(f"{path} is damaged or not JSON ({error}); {remedy(path)}") from error
    if not isinstance(values, dict):
        raise ValueError(f"{path} must hold a JSON object, got {type(values).__name__}")
    return values


class Tensors:
    """The tensors of a folder by name, in however many files; each is read when it is taken.

    Args:
        folder: holds model.safetensors, or model.safetensors.index.json and what that names.

    Attributes:
        shapes: {name: shape}.
        dtypes: {name: safetensors' word for the type}, such as "F32".

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: a file is damaged, or the folder holds pickles only.
    """

    def __init__(self, folder: Path) -> None:
        self.shapes: dict[str, tuple[int, ...]] = {}
        self.dtypes: dict[str, str] = {}
        self._files = {}
        for path, named in _weight_files(folder).items():
            try:
                file = safe_open(path, framework="pt")
            except (SafetensorError, OSError) as error:
                raise ValueError(
                    f"{path} is truncated, damaged or not a safetensors file ({error}); "
                    f"{remedy(path)}"
                ) from error
            for name in file.keys():
                if named is not None and name not in named:
                    continue  # the index decides which file a tensor is read from
                entry = file.get_slice(name)
                self._files[name] = file
                self.shapes[name] = tuple(entry.get_shape())
                self.dtypes[name] = entry.get_dtype()

    def take(self, name: str) -> torch.Tensor:
        """The tensor of that name, still in the file: copy what you keep."""
        return self._files[name].get_tensor(name)


def _weight_files(folder: Path) -> dict[Path, set[str] | None]:
    """The files, and the tensors that the index places in each; None if there is no index."""
    if (folder / WEIGHTS).is_file():
        return {folder / WEIGHTS: None}
    if not (folder / INDEX).is_file():
        pickles = sorted(p.name for p in folder.glob("*") if p.suffix in (".bin", ".pt", ".pth"))
        held = f"; its {', '.join(pickles)} is a pickle, which may run any code" if pickles else ""
        raise FileNotFoundError(
            f"there is no {WEIGHTS} in {folder}{held}. Only safetensors files are read: get the "
            "model in that format, or save it with save_pretrained of transformers"
        )
    weight_map = read_json(folder / INDEX).get("weight_map")
    if not isinstance(weight_map, dict) or not weight_map:
        raise ValueError(f"{folder / INDEX} has no weight_map from tensors to files; get it again")
    names = sorted(set(map(str, weight_map.values())))
    if strange := [name for name in names if not re.fullmatch(r"[\w.-]+\.safetensors", name)]:
        raise ValueError(
            f"{folder / INDEX} must name safetensors files beside it, got {', '.join(strange)}"
        )
    if missing := [name for name in names if not (folder / name).is_file()]:
        raise FileNotFoundError(
            f"{folder} is incomplete: {INDEX} names {', '.join(missing)}, not there; get it again"
        )
    return {
        folder / name: {tensor for tensor, file in weight_map.items() if file == name}
        for name in names
    }
