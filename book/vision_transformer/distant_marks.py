"""Images with two marks of which one asks whether they are the same."""

import torch
from torch import Tensor

from companion.data.sampling import SPLITS, seeded
from companion.validation import require_choice, require_not_negative, require_positive

GLYPH_SIZE = 4  # pixels
NOISE = 0.15


def same_different(
    num_images: int,
    seed: int,
    *,
    split: str = "train",
    image_size: int = 16,
    grid: int = 1,
) -> tuple[Tensor, Tensor]:
    """Images with two marks of 4 x 4 black and white pixels somewhere: are they the same mark?

    The marks are drawn at random for every image, and lie at least one pixel apart on grey noise.
    In half of the images the second is a copy of the first. Of the 2^16 marks, each belongs to one
    split, so that those in the test have never been seen in training.

    Args:
        num_images: how many, N below.
        seed: decides the images.
        split: "train", "validation" or "test".
        image_size: height and width in pixels.
        grid: the corner of a mark lies on a multiple of this: 1 for any pixel, the patch size of a
            ViT to put every mark into one patch.

    Returns:
        Images, float32 (N, 1, image_size, image_size), and labels, int64 (N,): 1 for the same.

    Raises:
        ValueError: another split, a number that is too small, or two marks do not fit.
        TypeError: the seed is not a whole number.

    Source: after problem 1 of Fleuret et al. 2011 (https://doi.org/10.1073/pnas.1109168108).
    """
    require_choice("split", split, SPLITS)
    require_not_negative(num_images=num_images)
    require_positive(image_size=image_size, grid=grid)
    places = torch.arange(0, max(0, image_size - GLYPH_SIZE + 1), grid)
    if len(places) == 0 or places[-1] <= GLYPH_SIZE:
        raise ValueError(
            f"two marks of {GLYPH_SIZE} pixels do not fit into an image of {image_size} on a grid "
            f"of {grid}; choose a larger image_size"
        )
    rng = _generator(f"same_different {split}", seed)
    labels = torch.randint(2, (num_images,), generator=rng)
    marks = torch.stack([_marks(num_images, split, rng) for _ in range(2)], 1)  # (N, 2, 4, 4)
    marks[:, 1] = torch.where(labels[:, None, None] == 1, marks[:, 0], marks[:, 1])
    corners = _corners(num_images, places, rng)  # (N, 2, 2): of each mark the row and the column
    images = torch.randn(num_images, 1, image_size, image_size, generator=rng) * NOISE
    inside = torch.arange(GLYPH_SIZE)
    rows = corners[:, :, 0, None, None] + inside[:, None]  # (N, 2, 4, 1)
    columns = corners[:, :, 1, None, None] + inside  # (N, 2, 1, 4)
    images[torch.arange(num_images)[:, None, None, None], 0, rows, columns] = marks
    return images, labels


def _marks(num_marks: int, split: str, rng: torch.Generator) -> Tensor:
    """Marks of one split, (num_marks, 4, 4), of -1 and 1. Which split it is, 16 bits decide."""
    codes = torch.randperm(2**16, generator=_generator("marks", 0))
    eighth = len(codes) // 8
    parts = dict(zip(SPLITS, codes.split([6 * eighth, eighth, eighth]), strict=True))
    chosen = parts[split][torch.randint(len(parts[split]), (num_marks,), generator=rng)]
    bits = chosen[:, None] >> torch.arange(16) & 1
    return (2.0 * bits - 1).view(-1, GLYPH_SIZE, GLYPH_SIZE)


def _corners(num_images: int, places: Tensor, rng: torch.Generator) -> Tensor:
    """Two corners for each image, (N, 2, 2), far enough apart that one pixel lies between."""
    corners = torch.zeros(num_images, 2, 2, dtype=torch.int64)
    missing = torch.arange(num_images)
    while len(missing):
        drawn = torch.randint(len(places), (len(missing), 2, 2), generator=rng)
        corners[missing] = places[drawn]
        distance = (corners[missing, 0] - corners[missing, 1]).abs().amax(1)
        missing = missing[distance <= GLYPH_SIZE]
    return corners


def _generator(purpose: str, seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seeded(purpose, seed).getrandbits(63))
