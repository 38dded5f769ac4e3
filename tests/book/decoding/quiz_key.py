"""Right options of the quiz on decoding, computed."""

import math
from itertools import product

import torch

from book.decoding.checks import _rescored
from companion.generation import next_token_probabilities
from companion.nn import KVCache, MultiHeadAttention


def greedy_article() -> str:
    article = {"m": 0.4, "f": 0.6}
    noun = {"m": [1.0], "f": [0.5, 0.5]}
    chosen = max(article, key=article.get)
    return f"{article[chosen] * max(noun[chosen]):.1f}"


def beginnings() -> str:
    found = 0.2
    return str(max(n for n in range(1, 100) if n * (found + 1e-9) <= 1))


def long_and_short() -> str:
    scores = _rescored(torch.tensor([-2.0, -2.3]), torch.tensor([4, 7]), 0.6)
    return ["The short one", "The long one"][scores.argmax()]


def two_words() -> str:
    """With a beam of V: is the best of all sentences found, for two words and for three?"""
    V, sure = 3, {}
    random = torch.Generator().manual_seed(0)
    for words in (2, 3):
        sure[words] = True
        for _ in range(200):
            tables = [torch.rand((V,) * (n + 1), generator=random) ** 2**n for n in range(words)]
            tables = [table / table.sum(-1, keepdim=True) for table in tables]

            def probability(sentence, tables=tables):
                return math.prod(tables[n][sentence[: n + 1]].item() for n in range(len(sentence)))

            beam = [()]
            for _ in range(words):
                grown = [(*beginning, word) for beginning in beam for word in range(V)]
                beam = sorted(grown, key=probability, reverse=True)[:V]
            best = max(product(range(V), repeat=words), key=probability)
            sure[words] &= beam[0] == best
    return {
        (True, False): "No: it is sure for two words",
        (True, True): "Yes",
        (False, False): "No, and not",
    }[sure[2], sure[3]]


def kept_by_top_p() -> str:
    logits = torch.tensor([[0.5, 0.25, 0.15, 0.1]]).log()
    kept = int((next_token_probabilities(logits, top_p=0.8) > 0).sum())
    return {2: "Two:", 3: "Three:", 4: "All four"}[kept]


def cooled() -> str:
    logits = torch.tensor([[0.8, 0.2]]).log()
    return f"{next_token_probabilities(logits, temperature=0.5)[0, 0]:.2f}"


def shared_keys() -> str:
    sizes = []
    for heads in (32, 8):
        layer, cache = MultiHeadAttention(64, 32, num_kv_heads=heads), KVCache()
        layer(torch.randn(1, 5, 64), is_causal=True, cache=cache)
        sizes.append(cache.key.numel() + cache.value.numel())
    return f"{sizes[0] // sizes[1]} times"
