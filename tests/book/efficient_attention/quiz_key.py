"""Right options of the quiz on efficient attention, computed."""

import math

import torch
from torch.utils.flop_counter import FlopCounterMode

from companion.generation import generate
from companion.kernels import tiled_attention
from companion.models import GPT, GPTConfig
from companion.nn import EncoderBlock, KVCache, MultiHeadAttention, scaled_dot_product_attention


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


def linear_rows_without_cache() -> str:
    model = GPT(GPTConfig(vocab_size=5, d_model=4, num_layers=1, num_heads=1, d_ff=8, max_len=101))
    rows = {}
    for use_cache in (True, False):
        rows[use_cache] = 0

        def count(module, inputs, output, use_cache=use_cache):
            rows[use_cache] += math.prod(output.shape[:-1])

        hook = model.head.register_forward_hook(count)
        generate(model, torch.zeros(1, 1, dtype=torch.long), 100, use_cache=use_cache)
        hook.remove()
    return f"{rows[False] / rows[True]:g}"


def cache_of_groups() -> str:
    sizes = []
    for heads in (8, 32):
        layer, cache = MultiHeadAttention(64, 32, num_kv_heads=heads), KVCache()
        layer(torch.randn(1, 3, 64), cache=cache)
        sizes.append(cache.key.nbytes + cache.value.nbytes)
    words = {1: "It stays", 4: "It becomes four", 16: "It becomes sixteen"}
    return words[sizes[1] // sizes[0]]


def what_a_batch_lifts() -> str:
    def intensity(run, *moved) -> float:
        with FlopCounterMode(display=False) as counter:
            run()
        return counter.get_total_flops() / sum(x.nbytes for x in moved)

    with torch.device("meta"):
        weights = torch.empty(512, 512)
        found = {"products with the weights": [], "attention over the caches": []}
        for batch in (4, 8):
            x, query, key = (torch.empty(batch, n, 512) for n in (1, 1, 100))
            found["products with the weights"].append(
                intensity(lambda x=x: x @ weights, x, weights)
            )
            found["attention over the caches"].append(
                intensity(lambda q=query, k=key: q @ k.mT, query, key)
            )
    rises = [name for name, (one, two) in found.items() if two > 1.5 * one]
    return rises[0] if len(rises) == 1 else "both" if rises else "neither"


def a_worse_draft() -> str:
    model = torch.tensor([0.6, 0.3, 0.1], dtype=torch.float64)
    good, bad = torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]], dtype=torch.float64)
    kept, comes_out = [], []
    for draft in (good, bad):
        both = torch.minimum(model, draft)
        instead = (model - draft).clamp(min=0)
        kept.append(both.sum())
        comes_out.append(both + (1 - both.sum()) * instead / instead.sum())
    same = all(torch.allclose(p, model) for p in comes_out)
    slower = "it comes more slowly" if kept[1] < kept[0] else "it comes faster"
    return f"{slower}, with the same distribution" if same else "its words are worse"
