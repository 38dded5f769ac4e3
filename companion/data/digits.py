"""Small handwritten digits, and images moved by some pixels."""

from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

from companion.data.sampling import SPLITS, seeded
from companion.validation import require_choice

NUM_VALIDATION, NUM_TEST = 200, 500


def digits(seed: int, split: str = "train") -> tuple[Tensor, Tensor]:
    """The 1797 handwritten digits of 8 x 8 grey pixels that come with scikit-learn.

    The seed decides which 500 are kept for the test, which 200 for validation, and the order. They
    were written by 13 people, all of whom have digits in every part: the test part measures how
    well a model reads more digits by the same writers.

    Args:
        seed: decides the parts.
        split: "train", "validation" or "test".

    Returns:
        Images, float32 (N, 1, 8, 8) from 0 (paper) to 1 (ink), and labels, int64 (N,).

    Raises:
        ValueError, TypeError: another split, or a seed that is not whole.
        ImportError: scikit-learn, which brings them, is not installed.

    Source: Alpaydin and Kaynak 1998 (https://doi.org/10.24432/C50P49), the test part.
    """
    require_choice("split", split, SPLITS)
    try:
        from sklearn.datasets import load_digits
    except ImportError as error:
        raise ImportError("digits come with scikit-learn: pip install scikit-learn") from error
    found = load_digits()
    images = torch.tensor(found.images / 16, dtype=torch.float32)[:, None]
    labels = torch.tensor(found.target, dtype=torch.int64)
    rng = torch.Generator().manual_seed(seeded("digits", seed).getrandbits(63))
    order = torch.randperm(len(labels), generator=rng)
    sizes = {"validation": NUM_VALIDATION, "test": NUM_TEST}
    parts = order.split([len(order) - sum(sizes.values()), *sizes.values()])
    chosen = dict(zip(("train", *sizes), parts, strict=True))[split]
    return images[chosen], labels[chosen]


def shifted(images: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """Images (N, C, height, width), each moved by its own number of pixels and filled with 0.

    Args:
        images: (N, C, height, width).
        rows: integers (N,), how far down (up if negative).
        columns: integers (N,), how far to the right.
    """
    height, width = images.shape[2:]
    place = partial(torch.arange, device=images.device)
    reach = int(max(rows.abs().max(), columns.abs().max(), 0)) if len(images) else 0
    framed = F.pad(images, [reach] * 4)
    down = place(height) + reach - rows[:, None]  # (N, height)
    right = place(width) + reach - columns[:, None]
    number = place(len(images))[:, None, None]
    return framed[number, :, down[:, :, None], right[:, None]].permute(0, 3, 1, 2)
