"""What a figure takes from a trained model."""

from collections.abc import Sequence

import torch
from torch import nn

from companion.data import Vocabulary
from companion.page.live import packed


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
