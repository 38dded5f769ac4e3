"""Right options of the quiz on who copies, computed."""

import torch

from companion.nn import MultiHeadAttention, scaled_dot_product_attention


def offset() -> str:
    text = list(range(12)) * 3
    t = 20
    copy = max(s for s in range(t) if text[s] == text[t])
    return f"{t - (copy + 1)},"


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
