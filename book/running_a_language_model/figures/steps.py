"""Prefill and decode: the steps in which a model writes a text, and what each of them costs."""

from collections.abc import Sequence

from book.page.live import LiveFigure, table
from companion.models import GPTConfig

BYTES = 4  # of a number: the figure counts float32


def steps_figure(config: GPTConfig, prompt: Sequence[str], written: Sequence[str]) -> LiveFigure:
    """A row for each step of writing a text: positions computed, positions cached, what it costs.

    Operations are those of the matrices and of attention over all positions (as a fused kernel
    without a skip computes them); bytes are those of weights and cache, in float32.

    Args:
        config: of the model that wrote the text; a SwiGLU model without biases, as Llama.
        prompt: its tokens, as they read; two or more.
        written: the tokens that the model wrote, three to ten of them.

    Raises:
        ValueError: the model is of another kind, or the text does not fit on a page.
    """
    if config.bias or config.activation != "swiglu" or not config.tie_weights:
        raise ValueError("the figure counts a tied SwiGLU model without biases, such as SmolLM2")
    if len(prompt) < 2 or not 3 <= len(written) <= 10 or len(prompt) + len(written) > 16:
        raise ValueError(
            "2 or more tokens of a prompt and 3 to 10 written ones fit, at most 16 together; got "
            f"{len(prompt)} and {len(written)}"
        )
    width = config.num_heads * config.key_width
    kept = (config.num_kv_heads or config.num_heads) * config.key_width
    layer = config.d_model * (2 * width + 2 * kept + 3 * config.d_ff)
    weights = config.num_layers * layer + config.vocab_size * config.d_model
    data = {
        "prompt": list(prompt),
        "written": list(written),
        "layers": config.num_layers,
        "width": width,
        "kept": kept,
        "weights": weights,
    }
    rows = []
    for length in range(len(prompt), len(prompt) + len(written)):
        name = "prefill" if length == len(prompt) else f"decode {length - len(prompt)}"
        cached = 2 * config.num_layers * kept * BYTES * length
        rows.append((name, length if name == "prefill" else 1, length, f"{cached:,}"))
    columns = ["step", "tokens computed with a cache", "without", "bytes in the cache"]
    value = {"step": 3, "cached": True, "rows": 1}
    return LiveFigure(__file__, data, value, table("Prefill and decode", columns, rows))
