"""Right options of the quiz on attention in tiles, computed."""

import torch
from torch.utils.flop_counter import FlopCounterMode

from companion.kernels import tiled_attention
from companion.nn import EncoderBlock, scaled_dot_product_attention


def when_the_maximum_rises() -> str:
    # Three old keys of score log 2 with the mean value 4, then one of log 8 with the value 4.
    scores = torch.tensor([2.0, 2, 2, 8]).log()
    weights = (scores - scores.max()).exp()
    old, value = 12 / 3, 4.0
    blend = weights[:3].sum() * old + weights[3] * value
    return f"sum {weights.sum():.2f}, blend {blend:.0f}"


def is_it_exact() -> str:
    query, key, value = torch.randn(3, 40, 8, dtype=torch.float64)
    exact, _ = scaled_dot_product_attention(query, key, value)
    errors = [
        (tiled_attention(query, key, value, block_size=size) - exact).abs().max().item()
        for size in (1, 7, 40)
    ]
    return "the same number" if max(errors) < 1e-13 else "an approximation"


def kept_for_backward() -> str:
    kept, x = [], torch.randn(50, 4, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t) or t, lambda t: t):
        output = tiled_attention(x * 1, x * 2, x * 3, block_size=8)
    others = [t.shape for t in kept if t.shape not in (x.shape, output.shape, ())]
    return "One number per query" if others == [(50, 1)] else str(others)


def share_of_pairs() -> str:
    with torch.device("meta"):
        block, x = EncoderBlock(768, 12, 4 * 768), torch.zeros(1, 1024, 768)
    with FlopCounterMode(display=False) as counter:
        block(x, need_weights=True)
    counts = counter.get_flop_counts()["Global"]
    return f"About {100 * counts[torch.ops.aten.bmm] / sum(counts.values()):.0f} %"


def when_tiles_gain() -> str:
    n, d = 8192, 64
    table = 4 * n * n + 4 * n * d
    more = []
    for rows in (16, 64, 128):
        moved = 2 * n * d  # queries and output
        for _ in range(0, n, rows):
            moved += 2 * n * d  # keys and values, again
        if moved > table:
            more.append(rows)
    words = {(): "none", (16,): "16 queries", (16, 64, 128): "16, 64", (128,): "128"}
    return words[tuple(more)]
