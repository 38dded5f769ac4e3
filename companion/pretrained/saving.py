"""A model of the companion as a folder that transformers reads, and all that reads such folders."""

import json
import os
from collections import defaultdict
from dataclasses import asdict
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import nn

from companion.models import BERT, GPT, ViT
from companion.pretrained import bert, gpt2, llama, vit
from companion.pretrained.family import Family, Settings
from companion.pretrained.folder import CONFIG, WEIGHTS
from companion.pretrained.loading import FAMILIES


def save(model: nn.Module, folder: str | os.PathLike) -> None:
    """Write config.json and model.safetensors, under the names that transformers gives them.

    A GPT with learned positions becomes a GPT-2; one with rotary positions a Llama, or a Mistral
    (sliding window), Qwen2 (bias on query, key and value) or Qwen3 (norm on query and key).

    Args:
        model: a `BERT`, `GPT` or `ViT`.
        folder: made if need be.

    Raises:
        ValueError: the folder has such files already, or that family of models has no place for
            something in the model's configuration.
        TypeError: the model is none of these.
    """
    folder, family = Path(folder), _family(model)
    for name in (CONFIG, WEIGHTS):
        if (folder / name).exists():
            raise ValueError(f"{folder / name} is there already; choose another folder")
    config, settings = model.config, family.settings(model.config)
    parts = defaultdict(list)
    for name, parameter in model.named_parameters():
        theirs, layout = family.place(name)
        tensor = parameter.detach().cpu()
        if getattr(config, "rope_pairing", None) == "interleaved":
            tensor = _with_halves(name, tensor, config)
        parts[theirs].append(layout.theirs(tensor))
    _require_place(config, FAMILIES[settings["model_type"]].configuration, settings, parts)
    heads = ("lm_head.", "cls.", "classifier.")
    has_head = not settings["architectures"][0].endswith("Model") or model.__class__ is GPT
    prefix = family.prefix if has_head else ""
    tensors = {
        name if name.startswith(heads) else prefix + name: torch.cat(part, dim=-1).contiguous()
        for name, part in parts.items()
    }
    settings["dtype"] = str(next(model.parameters()).dtype).removeprefix("torch.")
    folder.mkdir(parents=True, exist_ok=True)
    save_file(tensors, folder / WEIGHTS, {"format": "pt"})
    (folder / CONFIG).write_text(json.dumps(settings, indent=1) + "\n", "utf8")


def _family(model: nn.Module) -> Family:
    if isinstance(model, GPT):
        return gpt2.FAMILY if model.rope is None else llama.FAMILY
    families = {BERT: bert.FAMILY, ViT: vit.FAMILY}
    for kind, family in families.items():
        if isinstance(model, kind):
            return family
    raise TypeError(f"save writes a GPT, a BERT or a ViT, got {type(model).__name__}")


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
    if lost:
        raise ValueError(f"{settings['model_type']} has no place for {', '.join(lost)}")


def _effective(config) -> dict:
    """The fields of a configuration, with what stands for those that were left out."""
    fields = asdict(config) | {"d_k": config.key_width, "d_v": config.value_width}
    if "num_kv_heads" in fields:
        fields["num_kv_heads"] = config.num_kv_heads or config.num_heads
        fields["qkv_bias"] = config.bias if config.qkv_bias is None else config.qkv_bias
        fields["rope_pairing"] = "half"  # the rows are put in order
    return fields
