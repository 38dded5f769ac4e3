"""What a figure takes from a trained model."""

import base64
from collections.abc import Sequence

import torch
from torch import nn

from book.page.live import packed
from companion.data import Vocabulary
from companion.models import ViT

NEEDED = {"channels": 1, "norm_first": True, "norm": "layer", "bias": True}


def packed_model(
    model: nn.Module,
    vocabulary: Vocabulary,
    words: Sequence[str],
    attentions: Sequence[str],
    length: int,
) -> dict[str, dict]:
    """Weights that a figure needs: vectors of these words and positions, whole attention layers."""
    device = next(model.parameters()).device
    vectors = model.embedding(vocabulary.encode([words]).to(device))  # (1, words, d_model)
    weights = {
        "embedding": vectors[0],
        "positions": model.positions(torch.zeros_like(vectors[:, :length]))[0],
    }
    for name in attentions:
        for part, tensor in getattr(model, name).state_dict(prefix=f"{name}.").items():
            weights[part] = tensor
    return {name: packed(tensor) for name, tensor in weights.items()}


def attention_rows(model: nn.Module, vocabulary: Vocabulary, words: Sequence[str]) -> torch.Tensor:
    """Attention weights (H, T, T) of the model for one sentence."""
    device = next(model.parameters()).device
    with torch.no_grad():
        _, weights = model(vocabulary.encode([words]).to(device), need_weights=True)
    return weights[0].cpu()


def packed_parameters(model: nn.Module) -> dict[str, dict]:
    """Every parameter by its name in the state dict; a tied one once, under its first name.

    Raises:
        ValueError: a weight does not fit into float16.
    """
    return {name: packed(parameter) for name, parameter in model.named_parameters()}


def packed_maps(maps: torch.Tensor) -> dict:
    """Causal attention weights (..., T, T) as JSON: what is not above the diagonal, in 255ths.

    Raises:
        ValueError: a weight is outside 0 to 1, or above the diagonal.
    """
    maps = maps.detach().cpu().float()
    if maps.triu(1).any() or maps.min() < 0 or maps.max() > 1 + 1e-4:
        raise ValueError("the figure draws causal weights, from 0 to 1 and none above the diagonal")
    T = maps.shape[-1]
    rows, columns = torch.tril_indices(T, T)
    weights = (255 * maps.reshape(-1, T, T)[:, rows, columns]).round().to(torch.uint8)
    content = base64.b64encode(weights.numpy().tobytes()).decode()
    return {"count": len(weights), "length": T, "uint8": content}


def packed_vit(model: ViT) -> dict:
    """What the figures compute a `ViT` of grey images from: its weights, sizes and options.

    Raises:
        ValueError: the model is configured otherwise than the figures compute, or a weight does
            not fit into float16.
    """
    config = model.config
    for name, needed in NEEDED.items():
        if getattr(config, name) != needed:
            raise ValueError(
                f"the figure computes {name}={needed!r}, got {getattr(config, name)!r}"
            )
    if config.activation == "swiglu":
        raise ValueError("the figure computes feed-forward networks without a gate, got 'swiglu'")
    parameters = dict(model.named_parameters())
    weight = parameters["patch_embedding.proj.weight"]
    parameters["patch_embedding.proj.weight"] = weight.flatten(1)
    parameters["cls_token"] = parameters["cls_token"][0]
    return {
        "weights": {name: packed(parameter) for name, parameter in parameters.items()},
        "image_size": config.image_size,
        "patch_size": config.patch_size,
        "num_layers": config.num_layers,
        "block": {
            "numHeads": config.num_heads,
            "normFirst": True,
            "activation": config.activation,
            "eps": config.norm_eps,
        },
    }
