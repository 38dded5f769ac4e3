"""Answers by somebody who had not read the checks."""

import torch
from torch import nn

from tests.book.unseen import answers_to

right, wrong = answers_to("transformer_block")


@right
def rms_norm(x, eps):
    return torch.einsum("...d,...->...d", x, (x.pow(2).mean(-1) + eps).pow(-0.5))


wrong("sum instead of mean", ".mean(-1)", ".sum(-1)")
wrong("over all numbers", lambda x, eps: x / (x.pow(2).mean() + eps).sqrt())
wrong("forgets the root", ".pow(-0.5)", ".pow(-1)")


@right
def add_and_norm(x, sub_layer, norm, norm_first):
    read = norm(x) if norm_first else x
    total = x + sub_layer(read)
    return total if norm_first else norm(total)


wrong(
    "exchanged orders",
    "return total if",
    "norm_first = norm_first\n    return total if not",
    "norm(x) if norm_first",
    "norm(x) if not norm_first",
)
wrong(
    "pre-norm is normed again", "return total if norm_first else norm(total)", "return norm(total)"
)
wrong(
    "no return in post-norm",
    "return total if norm_first else norm(total)",
    "if norm_first: return total",
)


@right("tap")
class Tap(nn.Module):
    def __init__(self, sub_layer):
        super().__init__()
        self.sub = sub_layer
        self.gain = nn.Parameter(torch.zeros(()))

    def forward(self, x):
        return torch.add(x, self.gain * self.sub(x))


wrong(
    "x is scaled, too",
    "torch.add(x, self.gain * self.sub(x))",
    "(1 - self.gain) * x + self.gain * self.sub(x)",
)
wrong("sub_layer forgotten", "self.gain * self.sub(x)", "self.gain * x")


@right
def spreads(weights, depth):
    product, out = torch.eye(len(weights), dtype=weights.dtype), []
    for _ in range(depth):
        product = weights @ product
        out.append((product[:, None] - product[None]).abs().amax())
    return torch.stack(out)


wrong(
    "begins with depth 0",
    "product = weights @ product\n        out.append((product[:, None] - product[None]).abs().amax())",
    "out.append((product[:, None] - product[None]).abs().amax())\n        product = weights @ product",
)
wrong("last depth only", "return torch.stack(out)", "return out[-1]")
wrong("smallest difference over columns", ".abs().amax()", ".abs().amax((0, 1)).amin()")


@right
def diagnose(block):
    torch.manual_seed(5)
    x = torch.randn(2, 5, 8)
    eye = torch.eye(5).bool()
    full = torch.ones(5, 5).bool()
    same = lambda a, b: torch.allclose(a, b, atol=1e-3, rtol=1e-3)
    if not same(block(x), block(x)):
        return "dropout left on"
    y = x.clone()
    y[:, 0] += 3 * torch.randn(8)
    moves = lambda mask, row: not same(block(x, mask)[:, row], block(y, mask)[:, row])
    if moves(eye, 4):
        two = torch.eye(5).bool()
        two[4, 3] = True
        if same(block(x, eye), block(x, full)):
            return "mask ignored"
        no0 = full.clone()
        no0[4, 0] = False
        only0 = torch.eye(5).bool()
        only0[4] = False
        only0[4, 0] = True
        inv = full.clone()
        inv[:, 0] = False
        inv[0, 0] = True
        z = x.clone()
        z[:, 0] += 3 * torch.randn(8)
        m = full.clone()
        m[4] = True
        m[4, 4] = False
        a = block(x, m)[:, 4]
        b = block(z, m)[:, 4]
        return "mask inverted" if same(a, b) else "norm over the words"
    big = block(1000 * x) / 1000
    if (big - x).norm() < 0.3 * x.norm():
        return "none"
    r = block(1000 * x)
    if same(r.mean(-1), torch.zeros(2, 5)) and abs(r.std(-1, correction=0).mean() - 1) < 0.05:
        return "post-norm"
    return "no residual"


wrong("never finds none", 'return "none"', 'return "no residual"')
wrong(
    "compares without tolerance",
    "if not same(block(x), block(x))",
    "if not torch.equal(block(x), block(x))",
)


@right
def rms_norm(x, eps):
    mean_square = x.pow(2).mean(dim=-1, keepdim=True)
    return x / (mean_square + eps).sqrt()


wrong("the axis is not kept", ", keepdim=True", "")


@right
def add_and_norm(x, sub_layer, norm, norm_first):
    if not norm_first:
        return norm(x + sub_layer(x))
    tidy = norm(x)
    return x + sub_layer(tidy)


wrong("the tidy copy is added", "x + sub_layer(tidy)", "tidy + sub_layer(tidy)")


@right("tap")
class OtherTap(nn.Module):
    def __init__(self, sub_layer):
        super().__init__()
        self.sub_layer = sub_layer
        self.tap = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        found = self.sub_layer(x)
        return x + self.tap * found


wrong("no parameter", "nn.Parameter(torch.zeros(1))", "torch.zeros(1)")


wrong("x is not added", "return x + self.tap", "return self.tap")


@right
def spreads(weights, depth):
    result = []
    product = torch.eye(len(weights), dtype=weights.dtype)
    for _ in range(depth):
        product = product @ weights
        largest = product.max(dim=0).values - product.min(dim=0).values
        result.append(largest.max())
    return torch.stack(result)


wrong("across columns", "largest.max()", "product.max() - product.min()")


@right
def diagnose(block):
    generator = torch.Generator().manual_seed(3)
    T = 6
    x = torch.randn(2, T, 8, generator=generator)
    y = x.clone()
    y[:, 0] = torch.randn(2, 8, generator=generator)
    own = torch.eye(T, dtype=torch.bool)
    every = torch.ones(T, T, dtype=torch.bool)

    def same(a, b):
        return torch.allclose(a, b, atol=1e-3)

    if not same(block(x), block(x)):
        return "dropout left on"
    large = 1000 * x
    out = block(large)
    if (out - large).norm() > 0.3 * large.norm():
        normed = (
            same(out.mean(-1), torch.zeros(2, T))
            and (out.var(-1, unbiased=False) - 1).abs().max() < 0.05
        )
        return "post-norm" if normed else "no residual"
    if not same(block(x, own)[:, 1:], block(y, own)[:, 1:]):
        if same(block(x, own), block(x, every)):
            return "mask ignored"
        if same(block(x, ~own)[:, 1:], block(y, ~own)[:, 1:]):
            return "mask inverted"
        return "norm over the words"
    return "none"


wrong(
    "post-norm is taken for no residual",
    '"post-norm" if normed else "no residual"',
    '"no residual"',
)


@right
def rms_norm(x, eps):
    d = x.shape[-1]
    mean_square = (x**2).sum(dim=-1, keepdim=True) / d
    return x / torch.sqrt(mean_square + eps)


wrong("over the words", "(x**2).sum(dim=-1, keepdim=True) / d", "(x**2).mean(dim=-2, keepdim=True)")


@right
def add_and_norm(x, sub_layer, norm, norm_first):
    if not norm_first:
        return norm(x + sub_layer(x))
    return x + sub_layer(norm(x))


wrong(
    "pre-norm norms again at the end",
    "return x + sub_layer(norm(x))",
    "return norm(x + sub_layer(norm(x)))",
)


@right("tap")
class AnotherTap(nn.Module):
    def __init__(self, sub_layer):
        super().__init__()
        self.sub_layer = sub_layer
        self.tap = nn.Parameter(torch.tensor(0.0))

    def forward(self, x):
        return x + self.tap * self.sub_layer(x)


wrong(
    "the sub-layer is hidden in a list",
    "self.sub_layer = sub_layer",
    "self.parts = [sub_layer]",
    "self.sub_layer(x)",
    "self.parts[0](x)",
)


@right
def spreads(weights, depth):
    product, found = weights, []
    for layer in range(depth):
        found.append((product.max(dim=0).values - product.min(dim=0).values).max().item())
        product = product @ weights
    return found


wrong("the mean over the columns", "values).max().item()", "values).mean().item()")


def moved_over_words(block):
    torch.manual_seed(1)
    x = torch.randn(1, 4, 8)
    other = x.clone()
    other[:, -1] += 2 * torch.randn(8)
    both = []
    for mask in (torch.eye(4, dtype=torch.bool), ~torch.eye(4, dtype=torch.bool)):
        a, b = block(x, mask), block(other, mask)
        both.append((a - b).abs()[:, 0].max() > 1e-3)
    return bool(all(both)) and not inverted_under_last(block)


def inverted_under_last(block):
    # under this mask word 0 may read the last only: an inverted block reads all but the last
    torch.manual_seed(2)
    x = torch.randn(1, 4, 8)
    other = x.clone()
    other[:, -1] += 2 * torch.randn(8)
    mask = torch.zeros(4, 4, dtype=torch.bool)
    mask[:, -1] = True
    return not bool((block(x, mask) - block(other, mask)).abs()[:, 0].max() > 1e-3)


@right
def diagnose(block):
    def close(a, b):
        return torch.allclose(a, b, atol=1e-3, rtol=1e-3)

    torch.manual_seed(0)
    T = 5
    x = torch.randn(2, T, 8)
    full = torch.ones(T, T, dtype=torch.bool)
    alone = torch.eye(T, dtype=torch.bool)
    causal = full.tril()
    with torch.no_grad():
        if not close(block(x), block(x)):
            return "dropout left on"
        big = 1000 * torch.randn(2, T, 8)
        out = block(big)
        if out.abs().max() < 50:
            # the norm comes last, or the residual is missing
            wide = (out.mean(-1).abs() < 1e-3).all() and (
                out.std(-1, correction=0) - 1
            ).abs().max() < 1e-2
            return "post-norm" if wide else "no residual"
        if close(block(x, causal), block(x, full)):
            return "mask ignored"
        other = x.clone()
        other[:, -1] = torch.randn(2, 8) * 3

        def moved(mask):
            return (block(x, mask) - block(other, mask)).abs()[:, 0].max() > 1e-3

        if moved(alone):
            return (
                "norm over the words"
                if moved(full) and moved_over_words(block)
                else "mask inverted"
            )
        return "none"


wrong(
    "dropout is not looked for",
    '        if not close(block(x), block(x)):\n            return "dropout left on"\n',
    "",
)


@right
def rms_norm(x, eps):
    return x / (x.square().mean(dim=-1, keepdim=True) + eps).sqrt()


wrong(
    "squares the mean in place of averaging the squares",
    "x.square().mean(dim=-1, keepdim=True)",
    "x.mean(dim=-1, keepdim=True).square()",
)


@right
def rms_norm(x, eps):
    return x * torch.rsqrt(torch.mean(x * x, dim=-1, keepdim=True) + eps)


wrong("sum of squares instead of their mean", "mean", "sum")


@right
def spreads(weights, depth):
    product, found = (weights, [])
    for _ in range(depth):
        found.append((product.amax(dim=0) - product.amin(dim=0)).max())
        product = product @ weights
    return torch.stack(found)


wrong(
    "begins with no layer at all", "= (weights", "= (torch.eye(len(weights), dtype=weights.dtype)"
)


@right
@torch.no_grad()
def diagnose(block):
    g = torch.Generator().manual_seed(5)
    T = 6
    x = torch.randn(2, T, 8, generator=g)

    def same(a, b):
        return torch.allclose(a, b, rtol=0.0001, atol=0.0001)

    y = block(x)
    if not all(same(block(x), y) for _ in range(6)):
        return "dropout left on"
    moved = x.clone()
    moved[:, 0] = 3 * torch.randn(2, 8, generator=g)
    alone = torch.eye(T, dtype=torch.bool)

    def leaks(mask):
        return not same(block(x, mask)[:, 1:], block(moved, mask)[:, 1:])

    if leaks(alone):
        if same(block(x, alone), y):
            return "mask ignored"
        if not leaks(~alone):
            return "mask inverted"
        return "norm over the words"
    if y.mean(-1).abs().max() < 0.01 and (y.var(-1, unbiased=False) - 1).abs().max() < 0.02:
        return "post-norm"
    large = block(1000 * x)
    if (large - 1000 * x).norm() > 0.5 * (1000 * x).norm():
        return "no residual"
    return "none"


wrong(
    "whatever does not grow with x is called no residual, post-norm too",
    '    if y.mean(-1).abs().max() < 0.01 and (y.var(-1, unbiased=False) - 1).abs().max() < 0.02:\n        return "post-norm"',
    "",
)
