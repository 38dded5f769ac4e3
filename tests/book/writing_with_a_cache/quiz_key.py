"""Right options of the quiz on writing with a cache, computed."""

import math

import torch
from torch.utils.flop_counter import FlopCounterMode

from companion.generation import generate
from companion.models import GPT, GPTConfig
from companion.nn import KVCache, MultiHeadAttention


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


def a_chip_that_computes_faster() -> str:
    weights, bandwidth, peak = 7e9, 3.35e12, 989.5e12
    cache = 2 * 32 * 4096 * 2 * 1000  # bytes of a thousand tokens, 32 layers of width 4,096
    reading = (2 * weights + cache) / bandwidth
    before, after = (1 / max(reading, 2 * weights / top) for top in (peak, 2 * peak))
    gain = after / before
    words = ["fewer, ", "nearly as many", "more, ", "twice"]
    return words[sum(gain >= least for least in (0.99, 1.01, 1.99))]


def where_a_test_looks() -> str:
    wanted = torch.tensor([0.5, 0.5, 0.0], dtype=torch.float64)
    drafts = {
        "where the draft has": [0.0, 0.0, 1.0],
        "where about half": [1.0, 0.0, 0.0],
        "where draft and": [0.5, 0.5, 0.0],
    }
    harm = {}
    for words, draft in drafts.items():
        both = torch.minimum(wanted, torch.tensor(draft, dtype=torch.float64))
        comes_out = both + (1 - both.sum()) * wanted
        harm[words] = (comes_out - wanted).abs().sum().item() / 2
    most = max(harm, key=harm.get)
    return most if harm[most] > min(harm.values()) + 0.01 else "everywhere"
