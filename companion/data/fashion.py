"""Fashion-MNIST: 70,000 grey pictures of clothes, fetched once and checked.

Source: Xiao et al. 2017 (https://arxiv.org/abs/1708.07747). Files and MD5 sums as published in the
table "Get the Data" of https://github.com/zalandoresearch/fashion-mnist.
"""

import gzip
import hashlib
import os
import urllib.request
from http.client import HTTPException
from pathlib import Path
from uuid import uuid4

import torch
from torch import Tensor

from companion.data.sampling import check_choice

FASHION_CLASSES = (
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
)
FILES = {
    "train-images-idx3-ubyte.gz": "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
    "train-labels-idx1-ubyte.gz": "25c81989df183df01b3e8a0aad5dffbe",
    "t10k-images-idx3-ubyte.gz": "bef4ecab320f06d8554ea6380940ec79",
    "t10k-labels-idx1-ubyte.gz": "bb300cfdad3c16e7a12a480ee83cd310",
}
SOURCES = (
    "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion",
    "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com",
)
TIMEOUT = 60  # seconds


def fashion_mnist(
    split: str = "train", folder: str | os.PathLike | None = None
) -> tuple[Tensor, Tensor]:
    """Images and labels of one part; what is missing in the folder is downloaded first.

    Args:
        split: "train" (60,000) or "test" (10,000).
        folder: where the four files are, or will be; `~/.cache/companion/fashion_mnist` if left
            out.

    Returns:
        Images, uint8 (N, 1, 28, 28) from 0 (background) to 255, and labels, int64 (N,), whose names
        are `FASHION_CLASSES`.

    Raises:
        ValueError: another split, or a file is not the published one.
        ConnectionError: a file is missing and could not be downloaded.
    """
    check_choice("split", split, ("train", "test"))
    if folder is None:
        folder = Path.home() / ".cache" / "companion" / "fashion_mnist"
    prefix = {"train": "train", "test": "t10k"}[split]
    pixels = _fetched(f"{prefix}-images-idx3-ubyte.gz", Path(folder))
    labels = _fetched(f"{prefix}-labels-idx1-ubyte.gz", Path(folder))
    return _array(pixels)[:, None], _array(labels).long()


def _fetched(name: str, folder: Path) -> bytes:
    """The contents of one file, from the folder or else from the network, checked."""
    path = folder / name
    if path.exists():
        return _checked(name, path.read_bytes(), f"delete {path} and try again")
    failures = []
    for source in SOURCES:
        try:
            with urllib.request.urlopen(f"{source}/{name}", timeout=TIMEOUT) as response:
                found = _checked(
                    name, response.read(), "something between here and there alters it"
                )
        except (OSError, HTTPException, ValueError) as error:  # IncompleteRead is no OSError
            failures.append(f"{source}: {error}")
            continue
        folder.mkdir(parents=True, exist_ok=True)
        part = folder / f"{uuid4()}.part"  # its own, since several processes may fetch at once
        part.write_bytes(found)
        part.replace(path)
        return found
    raise ConnectionError(
        f"{name} of Fashion-MNIST is not in {folder} and could not be downloaded "
        f"({'; '.join(failures)}). Without a network, put the four files of "
        f"https://github.com/zalandoresearch/fashion-mnist (data/fashion) into that folder"
    )


def _checked(name: str, found: bytes, remedy: str) -> bytes:
    md5 = hashlib.md5(found, usedforsecurity=False).hexdigest()
    if md5 != FILES[name]:
        raise ValueError(
            f"{name} has the MD5 sum {md5}, the published one has {FILES[name]}; {remedy}"
        )
    return found


def _array(compressed: bytes) -> Tensor:
    """The bytes of an IDX file: two zeros, the type, the number of sizes, the sizes, the data."""
    raw = gzip.decompress(compressed)
    dimensions = raw[3]
    start = 4 + 4 * dimensions
    sizes = [int.from_bytes(raw[4 * i : 4 * i + 4], "big") for i in range(1, dimensions + 1)]
    return torch.frombuffer(bytearray(raw[start:]), dtype=torch.uint8).view(sizes)
