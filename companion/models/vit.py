"""ViT: an image, cut into patches, is one more sequence for a stack of blocks.

Shapes: B batch, H heads, T = 1 + patches tokens.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, overload

import torch
from torch import Tensor, nn

from companion.models.config import (
    StackConfig,
    WithWeights,
    built_from,
    headed,
    initialise,
    typed_as,
)
from companion.nn import EncoderBlock, LearnedPositions, PatchEmbedding
from companion.nn.blocks import make_dropout, run_blocks
from companion.validation import require_positive

IMAGENET = {"image_size": 224, "patch_size": 16, "channels": 3, "num_classes": 1000}


@dataclass(frozen=True, kw_only=True)
class ViTConfig(StackConfig):
    """Configuration of a `ViT`: the fields of `StackConfig`, with ViT's defaults, and these.

    Args:
        image_size: height and width of an image in pixels.
        patch_size: height and width of a patch in pixels; divides image_size.
        channels: number of channels: 1 for grey, 3 for colour.
        num_classes: number of classes; None for no head: `forward` then ends in hidden states.
    """

    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {
        "vit-base-16": IMAGENET | {"d_model": 768, "num_layers": 12, "num_heads": 12, "d_ff": 3072},
        "vit-large-16": IMAGENET
        | {"d_model": 1024, "num_layers": 24, "num_heads": 16, "d_ff": 4096},
    }

    image_size: int
    patch_size: int
    channels: int
    num_classes: int | None
    norm_first: bool = True
    norm_eps: float = 1e-12
    activation: str = "gelu"

    def __post_init__(self) -> None:
        super().__post_init__()
        sizes = ["image_size", "patch_size", "channels"]
        sizes += [] if self.num_classes is None else ["num_classes"]
        require_positive(**{name: getattr(self, name) for name in sizes})
        if self.image_size % self.patch_size:
            raise ValueError(
                f"image_size = {self.image_size} does not divide into patches of "
                f"patch_size = {self.patch_size}; crop the images or choose another patch_size"
            )

    @property
    def num_patches(self) -> int:
        """Number of patches of an image; the sequence has one token more."""
        return (self.image_size // self.patch_size) ** 2


@built_from(ViTConfig)
class ViT(nn.Module):
    """Patches and one extra token, positions, blocks, and a head on the extra token.

    Args:
        config: a `ViTConfig`.

    Source: Dosovitskiy et al. 2021, section 3.1, equations 1 to 4
    (https://arxiv.org/abs/2010.11929).
    """

    def __init__(self, config: ViTConfig) -> None:
        super().__init__()
        self.config = config
        image = (config.image_size, config.patch_size, config.channels)
        self.patch_embedding = PatchEmbedding(*image, config.d_model)
        self.cls_token = nn.Parameter(torch.empty(1, 1, config.d_model).normal_(std=0.02))
        self.positions = LearnedPositions(1 + config.num_patches, config.d_model)
        self.dropout = make_dropout(config.dropout)
        depth = range(config.num_layers)
        self.blocks = nn.ModuleList(EncoderBlock(**config.block()) for _ in depth)
        self.final_norm = config.final_norm()
        self.head = nn.Identity()
        if config.num_classes is not None:
            self.head = nn.Linear(config.d_model, config.num_classes)
        initialise(self.blocks, nn.init.xavier_uniform_)  # as in the paper's code

    @overload
    def encode(self, images: Tensor, *, need_weights: Literal[False] = False) -> Tensor: ...
    @overload
    def encode(self, images: Tensor, *, need_weights: Literal[True]) -> WithWeights: ...
    def encode(self, images, *, need_weights=False):
        """Return hidden states (B, T, d_model): first the extra token, then the patches by rows.

        Args:
            images: floating (B, channels, image_size, image_size).
            need_weights: also return a list over blocks of weights (B, H, T, T).

        Raises:
            ValueError, TypeError: the images are not of the configured size, or not floating.
        """
        patches = self.patch_embedding(images)  # (B, patches, d_model)
        cls = self.cls_token.expand(patches.shape[0], -1, -1)  # (B, 1, d_model)
        x = self.dropout(self.positions(torch.cat([cls, patches], dim=1)))
        x, weights = run_blocks(self.blocks, x, need_weights=need_weights)
        hidden = self.final_norm(x)
        return (hidden, weights) if need_weights else hidden

    @typed_as(encode)
    def forward(self, images, **options):
        """Return logits (B, num_classes), read off the first token; (B, d_model) without a head.

        Args and errors are those of `encode`.
        """
        return headed(lambda hidden: self.head(hidden[:, 0]), self.encode(images, **options))

    if TYPE_CHECKING:
        __call__ = forward
