"""What a GPU holds while it writes, and reads again for every token."""

from collections.abc import Mapping

from book.page.live import LiveFigure, table
from companion.models import GPTConfig

BYTES = 2  # of a weight, and of a cached number in 16 bits


def room_figure(config: GPTConfig, name: str, weights: int, gpu: Mapping[str, float]) -> LiveFigure:
    """Weights and caches in the memory of a GPU, with the time of one step for all readers.

    A step makes one token for every reader. It lasts as long as reading all that is held, or as
    its operations, whichever is longer. The reader of the book moves the number of texts, their
    length, the key heads and the bits of a cached number; weights stay in 16 bits.

    Args:
        config: of the model that writes.
        name: what the model is called.
        weights: how many numbers it has.
        gpu: its "memory" in gigabytes, "bandwidth" in terabytes and "peak" in tera-operations per
            second, with 16 bits.

    Raises:
        ValueError: the weights alone do not fit.
    """
    if BYTES * weights > gpu["memory"] * 1e9:
        raise ValueError(
            f"{weights:,} weights of {BYTES} bytes do not fit into {gpu['memory']} gigabytes"
        )
    heads = config.num_heads
    data = {
        "name": name,
        "weights": weights,
        "num_layers": config.num_layers,
        "num_heads": heads,
        "d_k": config.key_width,
        "gpu": dict(gpu),
    }
    value = {"log_texts": 0, "log_tokens": 12, "key_heads": heads, "bits": 8 * BYTES}
    cache = 2 * config.num_layers * heads * config.key_width * BYTES * 2 ** value["log_tokens"]
    rows = [("GB held", (BYTES * weights + cache) / 1e9)]
    caption = f"{name} and the cache of one text of 4,096 tokens, 16 bits"
    return LiveFigure(__file__, data, value, table(caption, ["", "held and read"], rows))
