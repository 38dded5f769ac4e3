"""Right options of the quiz on heads, computed."""

import torch
from torch import nn

from companion.nn import MultiHeadAttention


def blend() -> str:
    row, first, second = torch.tensor([0.5, 0.5]), torch.randn(5), torch.randn(5)
    before, after = row @ torch.stack([first, second]), row @ torch.stack([second, first])
    return "It stays exactly the same" if torch.equal(before, after) else "It changes"


def size(layer: nn.Module) -> int:
    return sum(parameter.numel() for parameter in layer.parameters())


def parameters() -> str:
    ratio = size(MultiHeadAttention(512, 16)) / size(MultiHeadAttention(512, 8))
    return {1.0: "It stays the same", 2.0: "It doubles", 0.5: "It becomes half"}[ratio]


def what_grows() -> str:
    n, x = 7, torch.randn(1, 7, 32)
    two, four = MultiHeadAttention(32, 2), MultiHeadAttention(32, 4)
    costs = {
        "The multiplications in the four": [size(layer) for layer in (two, four)],
        "The multiplications for scores": [4 * n * n * h.num_heads * h.d_k for h in (two, four)],
        "The numbers that go through": [
            layer(x, need_weights=True)[1].numel() for layer in (two, four)
        ],
    }
    grown = [name for name, (before, after) in costs.items() if after > before]
    return grown[0] if grown else "Nothing at all"


def removing_a_head() -> str:
    x = torch.randn(2, 5, 24, dtype=torch.float64)
    layer = MultiHeadAttention(24, 4, bias=False).double()
    heads = [nn.Linear(24, 24, bias=False).double() for _ in range(4)]
    for number, head in enumerate(heads):  # each head's term alone
        head.weight.data.zero_()
        columns = slice(6 * number, 6 * number + 6)
        head.weight.data[:, columns] = layer.out_proj.weight.data[:, columns]
    whole, matrix = layer.out_proj, layer.q_proj.weight.data.clone()
    terms = []
    for layer.out_proj in heads:
        terms.append(layer(x)[0])
    others = terms[0] + terms[1] + terms[3]

    layer.out_proj = whole
    layer.q_proj.weight.data[12:18] = 0
    removed = {"Setting its queries to zero": layer(x)[0]}
    layer.q_proj.weight.data = matrix
    layer.out_proj.weight.data[:, 12:18] = 0  # nn.Linear stores the transposed matrix
    removed["Setting its rows of Wᴼ to zero"] = layer(x)[0]
    removed["Multiplying the layer's output by 3/4"] = sum(terms) * 3 / 4
    (right,) = [name for name, output in removed.items() if torch.allclose(output, others)]
    return right


def averaged_weights() -> str:
    layer, x = nn.MultiheadAttention(64, 4, batch_first=True), torch.randn(2, 5, 64)
    _, returned = layer(x, x, x)
    _, per_head = layer(x, x, x, average_attn_weights=False)
    candidates = {
        "It returns the heads' mean": per_head.mean(1),
        "It returns the heads' sum": per_head.sum(1),
        "It returns the first head's": per_head[:, 0],
    }
    (right,) = [name for name, weights in candidates.items() if torch.allclose(returned, weights)]
    return right
