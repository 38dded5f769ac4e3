"""What limits a computation on a GPU: its arithmetic, or its memory."""

from collections.abc import Mapping, Sequence

from book.page.live import LiveFigure, table

PARTS = ("P", "W", "S", "T", "T*", "C")


def roofline_figure(devices: Mapping[str, Mapping], parts: Sequence[str] = PARTS) -> LiveFigure:
    """Parts of a model under the roof of a GPU, by how many operations they make of every byte.

    The reader moves the length of the text, the batch, the width of a head, the number of query
    heads that share a key head, the numbers' format and the device. Tiles are a stretch of the
    roof: every block of queries fetches all keys again, or a cache on the chip keeps them.

    Args:
        devices: name -> {"bandwidth": terabytes per second, "peak": {"bfloat16": ..., "float32":
            ... tera-operations per second}}, and where a kernel's speed with 16 bits is published,
            "published": {"name": ..., "speed": tera-operations per second, "n": tokens}.
        parts: which are shown: the matrices reading a prompt (P) and writing a token (W), attention
            from the whole table (S), from tiles whose keys are fetched for each block of queries
            (T) or once (T*), and from the cache (C).

    Raises:
        ValueError: a part is none of these.

    Source: Williams, Waterman and Patterson 2009 (https://doi.org/10.1145/1498765.1498785).
    """
    if not parts or set(parts) - set(PARTS):
        raise ValueError(f"parts must be some of {PARTS}, got {tuple(parts)}")
    first = next(iter(devices))
    value = {
        "device": first,
        "dtype": "bfloat16",
        "log_n": 13,
        "log_batch": 0,
        "log_d": 7,
        "log_group": 0,
    }
    rows = [
        (name, device["peak"]["bfloat16"] / device["bandwidth"]) for name, device in devices.items()
    ]
    return LiveFigure(
        __file__,
        {
            "devices": {name: dict(device) for name, device in devices.items()},
            "parts": [name for name in PARTS if name in parts],
        },
        value,
        table("Operations per byte at the ridge, bfloat16", ["device", "ridge"], rows),
    )
