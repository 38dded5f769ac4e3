"""Right options of the quiz on the inside of a language model, computed."""

import math

import torch
from torch import nn

from companion.models import GPT, GPTConfig
from companion.nn import MultiHeadAttention, scaled_dot_product_attention


def offset() -> str:
    text = list(range(12)) * 3
    t = 20
    copy = max(s for s in range(t) if text[s] == text[t])
    return f"{t - (copy + 1)},"


def even() -> str:
    guess = math.log(49_152)
    return "It is worse than an even" if guess < 14 else "It has lost"


def silent_head() -> str:
    """Which of three ways adds exactly what the other head adds alone?"""
    torch.manual_seed(0)
    layer = MultiHeadAttention(6, 2, bias=False)
    x = torch.randn(1, 5, 6)
    q, k, v = (proj(x)[..., 3:] for proj in (layer.q_proj, layer.k_proj, layer.v_proj))
    other, _ = scaled_dot_product_attention(q, k, v)
    alone = other @ layer.out_proj.weight[:, 3:].T

    def changed(name: str, part: tuple) -> torch.Tensor:
        weight = getattr(layer, name).weight
        kept, weight.data = weight.data, weight.data.clone()
        weight.data[part] = 0
        output = layer(x)[0]
        weight.data = kept
        return output

    ways = {
        "Set its part of the query matrix": changed("q_proj", (slice(3),)),
        "Set its part of what the layer": changed("out_proj", (slice(3),)),
        "Set its part of what the output": changed("out_proj", (slice(None), slice(3))),
    }
    (found,) = (name for name, output in ways.items() if torch.allclose(output, alone, atol=1e-6))
    return found


def chosen() -> str:
    torch.manual_seed(0)
    first, again = torch.randn(2, 1000, 270)  # heads that are all alike, measured twice
    best = first.argmax(1, keepdim=True)
    change = (again.gather(1, best) - first.gather(1, best)).mean()
    return "A lower score" if change < 0 else "A higher score"


def sink() -> str:
    weights = torch.stack([nn.functional.softmax(10 * torch.randn(6), 0) for _ in range(50)])
    zero = (weights.sum(1) < 0.5).any()
    return "Give every token" if zero else "Put its weight on a token"


def left_to_right() -> str:
    """In which rows do the maps of two texts differ that part at the adjective?"""
    torch.manual_seed(0)
    sizes = {"vocab_size": 20, "d_model": 16, "num_layers": 2, "num_heads": 2, "d_ff": 32}
    model = GPT(GPTConfig(**sizes, max_len=16)).eval()
    noun, it, adjective, length = 1, 8, 11, 13
    texts = torch.arange(length).repeat(2, 1)
    texts[1, adjective] = 19
    with torch.no_grad():
        _, maps = model(texts, need_weights=True)
    change = torch.stack([(m[0] - m[1]).abs().amax((0, 2)) for m in maps]).amax(0)  # (length,)
    differs = [t for t in range(length) if change[t] > 1e-6]
    if differs == list(range(length)):
        return "In all rows"
    if differs == list(range(adjective, length)):
        return "Only in rows from the adjective on"
    return "In the row of 'it'" if it in differs and noun not in differs else "In those"
