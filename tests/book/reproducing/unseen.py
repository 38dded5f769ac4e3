"""Answers by somebody who had not read the checks."""

import math

import torch
import torch.nn.functional as F

from tests.book.unseen import answers_to

right, wrong = answers_to("reproducing")


@right
def perplexity(model, text, length):
    losses, N = [], len(text)
    for start in range(0, N - 1, length):
        inputs = text[start : min(start + length, N - 1)]
        log_p = model(inputs[None])[0].log_softmax(-1)
        for t in range(len(inputs)):
            losses.append(-log_p[t, text[start + t + 1]])
    return torch.stack(losses).mean().exp()


wrong(
    "mean of the pieces' means",
    lambda model, text, length: (
        torch.stack(
            [
                F.cross_entropy(
                    model(text[s : min(s + length, len(text) - 1)][None])[0],
                    text[s + 1 : min(s + length, len(text) - 1) + 1],
                )
                for s in range(0, len(text) - 1, length)
            ]
        )
        .mean()
        .exp()
    ),
)
wrong("targets not shifted", "start + t + 1", "start + t")


@right
def gradient_scales(matrices, losses):
    total = [torch.zeros_like(m) for m in matrices]
    for loss in losses:
        for t, g in zip(total, torch.autograd.grad(loss(), matrices)):
            t += g / len(losses)
    return [t.pow(2).sum().sqrt() for t in total]


wrong("sum not mean", "g / len(losses)", "g")
wrong(
    "old .grad counts",
    lambda matrices, losses: (
        [l().backward() for l in losses],
        [m.grad.div(len(losses)).norm() for m in matrices],
    )[1],
)
wrong("first batch only", "for loss in losses:", "for loss in losses[:1]:", "len(losses)", "1")


@right
def traffic(n, d, block):
    count, start = 0, 0
    while start < n:
        rows = min(block, n - start)
        count += 2 * rows * d
        count += n * (d + d + 2)
        count += n * (d + 2)
        start += block
    return count


wrong("whole blocks only", "while start < n", "while start + block <= n")
wrong("queries read once", "n * (d + d + 2)", "n * (d + 2) + (n * d if start == 0 else 0)")
wrong("one running number", "d + d + 2", "d + d + 1", "n * (d + 2)", "n * (d + 1)")


@right
def position_tiles(positions):
    p = positions[1:]
    n = math.isqrt(len(p))
    out = torch.zeros(n, n, n, n)
    for r in range(n):
        for q in range(n):
            for i in range(n):
                for j in range(n):
                    out[r, q, i, j] = F.cosine_similarity(p[r * n + q], p[i * n + j], dim=0)
    return out


wrong("class token kept, last patch dropped", "positions[1:]", "positions[:-1]")
wrong("axes in wrong order", "out[r, q, i, j]", "out[r, i, q, j]")


@right
def cache_mask(length, first, recent):
    return torch.tensor(
        [[j <= i and (j < first or i - j < recent) for j in range(length)] for i in range(length)]
    )


wrong("recent one too many", "i - j < recent", "i - j <= recent")
wrong("both conditions must hold", "j < first or", "j < first and")
wrong("no causality", "j <= i and ", "")


@right
def fit_coverage(attempts, coverage):
    pts = [
        (math.log(k), math.log(-math.log(c)), (c * math.log(c)) ** 2)
        for k, c in zip(attempts, coverage)
        if 0 < c < 1
    ]
    W = sum(w for *_, w in pts)
    mx, my = sum(w * x for x, _, w in pts) / W, sum(w * y for _, y, w in pts) / W
    b = sum(w * (x - mx) * (y - my) for x, y, w in pts) / sum(w * (x - mx) ** 2 for x, _, w in pts)
    return -math.exp(my - b * mx), b


wrong("unweighted", "(c * math.log(c)) ** 2", "1.0")
wrong("returns the height", "-math.exp(my - b * mx)", "my - b * mx")
wrong("coverage 1 is not left out", "0 < c < 1", "0 < c")
