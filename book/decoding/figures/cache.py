"""Prefill and decode on a time line, with the growing cache."""

from book.page.live import LiveFigure, table
from companion.models import GPTConfig

TEXT = "the king keeps his crown in the old palace near the river"
BYTES = 2  # of a number in half precision


def cache_figure(config: GPTConfig, name: str, text: str = TEXT, prompt: int = 5) -> LiveFigure:
    """A prompt is read in one pass, then one token at a time; keys and values pile up.

    Args:
        config: sizes of the model that is shown, its own number of key heads among them.
        name: what the model is called.
        text: tokens between spaces.
        prompt: how many of them are the prompt.

    Raises:
        ValueError: the prompt is empty, or no token comes after it; the model has not fewer key
            heads than heads.
    """
    words, heads = text.split(), config.num_heads
    grouped = config.num_kv_heads or heads
    if not 1 <= prompt < len(words):
        raise ValueError(f"prompt = {prompt} must lie between 1 and {len(words) - 1}")
    if not 1 < grouped < heads:
        raise ValueError(f"expected grouped key heads, got {grouped} of {heads}")
    data = {
        "name": name,
        "words": words,
        "prompt": prompt,
        "num_layers": config.num_layers,
        "num_heads": heads,
        "num_kv_heads": grouped,
        "d_k": config.key_width,
        "bytes_per_number": BYTES,
    }
    ways = {"full": heads, "grouped": grouped, "single": 1}
    per_token = 2 * config.num_layers * config.key_width * BYTES
    rows = [(way, count, per_token * count * len(words)) for way, count in ways.items()]
    caption = f"The cache of {len(words)} tokens in the sizes of {name}"
    return LiveFigure(
        __file__,
        data,
        {"step": 3, "heads": "grouped"},
        table(caption, ["", "key heads", "bytes"], rows),
    )
