"""A model of the companion as a folder for transformers, and for all that reads such folders."""

import json
import os
from collections import defaultdict
from dataclasses import asdict
from pathlib import Path

import torch
from safetensors.torch import save as serialized
from torch import nn

from companion.models import BERT, GPT, ViT
from companion.pretrained import bert, gpt2, llama, vit
from companion.pretrained.family import Family, Settings
from companion.pretrained.folder import CONFIG, WEIGHTS
from companion.pretrained.loading import FAMILIES, listed, unfilled


def save(model: nn.Module, folder: str | os.PathLike) -> None:
    """Write config.json and model.safetensors as transformers writes them.

    A GPT with learned positions becomes a GPT-2; one with rotary positions a Llama, or a Mistral
    (sliding window), Qwen2 (bias on query, key and value) or Qwen3 (norm on query and key). Put a
    tokenizer beside it with `BPETokenizer.save(folder / "tokenizer.json")`.

    >>> import os, tempfile
    >>> from companion.models import GPT, GPTConfig
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(GPT(GPTConfig.preset("gpt2", num_layers=1, d_model=8, num_heads=2)), folder)
    ...     sorted(os.listdir(folder))  # for AutoModelForCausalLM.from_pretrained, or load
    ['config.json', 'model.safetensors']

    Args:
        model: a `BERT`, `GPT` or `ViT`, compiled or not.
        folder: made if it is not there.

    Raises:
        ValueError: the folder has such files already, that family of models has no place for
            something in the model's configuration, the weights are sharded over several processes,
            or parameters were added, removed, replaced, tied or untied since the model was made.
        TypeError: the model is of another class; a subclass may compute something else.
    """
    model = getattr(model, "_orig_mod", model)  # of torch.compile
    if any(hasattr(parameter, "full_tensor") for parameter in model.parameters()):
        raise ValueError(
            "each process has a part of the weights only; gather them (get_model_state_dict of "
            "torch.distributed.checkpoint.state_dict with full_state_dict=True) into a model that "
            "is not sharded, and save that in one process"
        )
    folder, family = Path(folder), _family(model)
    for name in (CONFIG, WEIGHTS):
        if (folder / name).exists():
            raise ValueError(f"{folder / name} is there already; choose another folder")
    config, settings = model.config, family.settings(model.config)
    _require_as_configured(model)
    heads = [family.place(n)[0] for n, _ in model.named_parameters() if n.startswith("head.")]
    _require_place(config, FAMILIES[settings["model_type"]].configuration, settings, heads)
    parts = defaultdict(list)
    for name, parameter in model.named_parameters():
        theirs, layout = family.place(name)
        tensor = parameter.detach().cpu()
        if getattr(config, "rope_pairing", None) == "interleaved":
            tensor = _with_halves(name, tensor, config)
        parts[theirs].append(layout.theirs(tensor))
    prefix = family.prefix if isinstance(model, GPT) or heads else ""
    tensors = {
        name if name in heads else prefix + name: torch.cat(part, dim=-1).contiguous()
        for name, part in parts.items()
    }
    settings["dtype"] = str(next(model.parameters()).dtype).removeprefix("torch.")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / WEIGHTS).write_bytes(serialized(tensors, {"format": "pt"}))  # as the umask says
    (folder / CONFIG).write_text(json.dumps(settings, indent=1) + "\n", "utf8")


def _family(model: nn.Module) -> Family:
    if type(model) is GPT:
        return gpt2.FAMILY if model.rope is None else llama.FAMILY
    families = {BERT: bert.FAMILY, ViT: vit.FAMILY}
    if type(model) not in families:
        raise TypeError(f"save writes a GPT, a BERT or a ViT, got {type(model).__name__}")
    return families[type(model)]


def _require_as_configured(model: nn.Module) -> None:
    """Raise unless names, shapes and ties of the parameters are those of a newly made model."""
    own, usual = (_parameters(each) for each in (model, unfilled(type(model), model.config)))
    names = dict.fromkeys((*own, *usual))
    if odd := [name for name in names if own.get(name) != usual.get(name)]:
        raise ValueError(
            f"the {type(model).__name__} has parameters that are not those of its configuration: "
            f"{listed(odd)}; copy what you want to keep into a model made from it"
        )


def _parameters(model: nn.Module) -> dict[str, tuple]:
    """From every name to the shape of its parameter and the first name that this has."""
    first = {}
    named = model.named_parameters(remove_duplicate=False)
    return {name: (tuple(x.shape), first.setdefault(id(x), name)) for name, x in named}


def _with_halves(name: str, tensor: torch.Tensor, config) -> torch.Tensor:
    """Rows of query and key in Llama's order, where a pair's entries stand half a head apart."""
    part = name.split(".")[-2]
    if config.positions != "rotary" or part not in ("q_proj", "k_proj", "q_norm", "k_norm"):
        return tensor
    heads = tensor.unflatten(0, (-1, config.key_width // 2, 2))
    return heads.transpose(1, 2).reshape(tensor.shape)


def _require_place(config, read, settings: dict, names) -> None:
    """Raise unless the settings, read again, are those of the configuration."""
    again, own = (_effective(c) for c in (read(Settings(settings), names), config))
    lost = [f"{name} = {own[name]!r}" for name in own if own[name] != again[name]]
    if settings["model_type"] == "llama" and config.d_model % config.num_heads:
        lost.append(f"num_heads = {config.num_heads} that do not divide {config.d_model}")
    if lost:
        raise ValueError(f"{settings['model_type']} has no place for {', '.join(lost)}")


def _effective(config) -> dict:
    """The fields of a configuration, with the values that stand in for those left out."""
    fields = asdict(config) | {"d_k": config.key_width, "d_v": config.value_width}
    if "num_kv_heads" in fields:
        fields["num_kv_heads"] = config.num_kv_heads or config.num_heads
        fields["qkv_bias"] = config.bias if config.qkv_bias is None else config.qkv_bias
        fields["rope_pairing"] = "half"  # the rows are put in order
    return fields
