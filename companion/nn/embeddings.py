"""How tokens and image patches become vectors."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from companion.validation import (
    require_in_range,
    require_integers,
    require_positive,
    require_tensor,
)


def look_up(name: str, ids: torch.Tensor, table: torch.Tensor, remedy: str) -> torch.Tensor:
    """Rows `ids` (...) of a table (size, d_model), as (..., d_model).

    Raises:
        ValueError: an id is not in [0, size). The CPU's kernel finds that out by itself, so that
            right ids cost no look; a GPU is not made to wait.
        TypeError: the ids are not integers.
    """
    require_integers(name, ids)
    try:
        return F.embedding(ids, table)
    except IndexError:
        require_in_range(name, ids, len(table), remedy)
        raise


class TokenEmbedding(nn.Module):
    """One learned vector per token of the vocabulary.

    Args:
        vocab_size: number of tokens.
        d_model: width of a vector.
        scale: multiply by sqrt(d_model), as the original Transformer does (GPT and BERT do not).

    `weight` (vocab_size, d_model) starts normal with standard deviation 1 / sqrt(d_model), so that
    it can also serve as the output matrix.

    Source: Vaswani et al. 2017, section 3.4 (https://arxiv.org/abs/1706.03762).
    """

    def __init__(self, vocab_size: int, d_model: int, *, scale: bool = True) -> None:
        super().__init__()
        require_positive(vocab_size=vocab_size, d_model=d_model)
        self.vocab_size, self.d_model = vocab_size, d_model
        self.scale = math.sqrt(d_model) if scale else 1.0
        self.weight = nn.Parameter(torch.empty(vocab_size, d_model).normal_(std=d_model**-0.5))

    def forward(self, token_ids: torch.Tensor) -> torch.Tensor:
        """Look up integer token_ids (...) and return their vectors (..., d_model).

        Raises:
            ValueError: an id is not in [0, vocab_size) (checked on the CPU only).
            TypeError: the ids are not integers.
        """
        vectors = look_up(
            "token_ids", token_ids, self.weight, "check the tokenizer against vocab_size"
        )
        return vectors if self.scale == 1.0 else vectors * self.scale


class PatchEmbedding(nn.Module):
    """Cuts an image into square patches and projects each to a vector.

    A convolution whose stride is its kernel size is one linear map per patch.

    Args:
        image_size: height and width of the image in pixels.
        patch_size: height and width of a patch in pixels.
        channels: number of channels.
        d_model: width of a vector.

    Source: Dosovitskiy et al. 2021, section 3.1 (https://arxiv.org/abs/2010.11929).
    """

    def __init__(self, image_size: int, patch_size: int, channels: int, d_model: int) -> None:
        super().__init__()
        require_positive(
            image_size=image_size, patch_size=patch_size, channels=channels, d_model=d_model
        )
        if image_size % patch_size:
            raise ValueError(
                f"an image of {image_size} pixels does not divide into patches of {patch_size}"
            )
        self.image_size, self.channels = image_size, channels
        self.num_patches = (image_size // patch_size) ** 2
        self.proj = nn.Conv2d(channels, d_model, kernel_size=patch_size, stride=patch_size)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """(B, channels, height, width) -> (B, patches, d_model), row by row from the top left.

        Raises:
            ValueError: the images do not have the size the layer was built for.
            TypeError: the pixels are not floating.
        """
        require_tensor("images", images)
        expected = (self.channels, self.image_size, self.image_size)
        if images.dim() != 4 or tuple(images.shape[1:]) != expected:
            raise ValueError(
                f"images must have shape (B, {', '.join(map(str, expected))}), "
                f"got {tuple(images.shape)}"
            )
        if not images.is_floating_point():
            raise TypeError(
                f"images must be floating, got {images.dtype}; scale the pixels, as in images / 255"
            )
        return self.proj(images).flatten(2).transpose(1, 2)
