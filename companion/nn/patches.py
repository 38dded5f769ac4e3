"""How the patches of an image become vectors."""

import torch
from torch import nn

from companion.validation import require_positive, require_tensor


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
            ValueError, TypeError: the images are not of the size and kind that the layer takes.
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
        return self.proj(images).flatten(2).transpose(1, 2)  # (B, patches, d_model)
