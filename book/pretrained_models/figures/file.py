"""A file of published weights, byte by byte."""

import base64
import math
import os
from pathlib import Path

import torch

from book.page.live import LiveFigure, table
from companion.pretrained.family import Settings
from companion.pretrained.folder import CONFIG, WEIGHTS, Tensors, read_json
from companion.pretrained.loading import FAMILIES, load

SHOWN = 4  # numbers of a tensor
LARGEST = 20_000  # bytes


def file_figure(folder: str | os.PathLike, tensor: str | None = None) -> LiveFigure:
    """A safetensors file that the reader takes apart: its header, a tensor's bytes, their numbers.

    Beside a tensor stands what it becomes in the companion's model. The file can be cut off.

    Args:
        folder: holds config.json and a small model.safetensors of 32-bit numbers.
        tensor: the name in the file that is shown first; the first one when left out.

    Raises:
        ValueError: the folder cannot be loaded, or its file is too large or of other numbers.
    """
    folder = Path(folder)
    content = (folder / WEIGHTS).read_bytes()
    tensors = Tensors(folder)
    if len(content) > LARGEST or set(tensors.dtypes.values()) != {"F32"}:
        raise ValueError(
            f"the figure shows files of up to {LARGEST} bytes in F32, got {len(content)} bytes in "
            f"{', '.join(sorted(set(tensors.dtypes.values())))}"
        )
    model = load(folder)
    family = FAMILIES[Settings(read_json(folder / CONFIG)).need("model_type")]
    stored = {family.plain(name): name for name in tensors.shapes}
    places = {name: [] for name in tensors.shapes}
    for name, parameter in model.named_parameters():
        theirs, layout = family.place(name)
        theirs = stored[theirs]
        shape = tensors.shapes[theirs]
        # The number of every entry in the file, laid out as ours.
        order = layout.ours(torch.arange(math.prod(shape)).reshape(shape)).flatten()[:SHOWN]
        place = {"name": name, "shape": list(parameter.shape), "words": layout.words}
        places[theirs].append(place | {"entries": order.tolist()})

    tensor = next(iter(places)) if tensor is None else tensor
    data = {"file": base64.b64encode(content).decode(), "places": places}
    value = {"tensor": tensor, "present": len(content)}
    state = model.state_dict()
    rows = [
        (place["name"], *state[place["name"]].flatten()[:SHOWN].tolist())
        for place in places[tensor]
    ]
    columns = ["in companion", *(f"number {i + 1}" for i in range(SHOWN))]
    return LiveFigure(__file__, data, value, table(f"What becomes of {tensor}", columns, rows))
