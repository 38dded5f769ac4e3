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


@right
def position_tiles(positions):
    patches = positions[1:]
    n = round(len(patches) ** 0.5)
    unit = patches / patches.norm(dim=1, keepdim=True)
    tiles = torch.zeros(n, n, n, n, dtype=positions.dtype)
    for r in range(n):
        for c in range(n):
            tiles[r, c] = (unit @ unit[r * n + c]).reshape(n, n)
    return tiles


wrong("lengths over the patches", "dim=1, keepdim", "dim=0, keepdim")


@right
def fit_coverage(attempts, coverage):
    xs, ys, ws = [], [], []
    for k, c in zip(attempts, coverage):
        if 0 < c < 1:
            xs.append(math.log(k))
            ys.append(math.log(-math.log(c)))
            ws.append((c * math.log(c)) ** 2)
    total = sum(ws)
    x_mean = sum(w * x for w, x in zip(ws, xs)) / total
    y_mean = sum(w * y for w, y in zip(ws, ys)) / total
    top = sum(w * (x - x_mean) * (y - y_mean) for w, x, y in zip(ws, xs, ys))
    bottom = sum(w * (x - x_mean) ** 2 for w, x in zip(ws, xs))
    b = top / bottom
    a = -math.exp(y_mean - b * x_mean)
    return a, b


wrong(
    "the means without the weights",
    "sum(w * x for w, x in zip(ws, xs)) / total",
    "sum(xs) / len(xs)",
    "sum(w * y for w, y in zip(ws, ys)) / total",
    "sum(ys) / len(ys)",
)


@right
def cache_mask(length, first, recent):
    mask = torch.zeros(length, length, dtype=torch.bool)
    for i in range(length):
        for j in range(i + 1):
            mask[i, j] = j < first or i - j < recent
    return mask


wrong("the future is seen", "range(i + 1)", "range(length)")


wrong("the recent ones count the first ones, too", "i - j < recent", "i - j < recent - first")


@right
def perplexity(model, text, length):
    losses = []
    for start in range(0, len(text) - 1, length):
        targets = text[start + 1 : start + length + 1]
        inputs = text[start : start + len(targets)]
        logits = model(inputs[None])[0]
        losses.append(F.cross_entropy(logits, targets, reduction="none"))
    return torch.cat(losses).mean().exp().item()


wrong("the shorter last piece is left out", "len(text) - 1, length", "len(text) - length, length")


@right
def gradient_scales(matrices, losses):
    sums = [torch.zeros_like(matrix) for matrix in matrices]
    for loss in losses:
        gradients = torch.autograd.grad(loss(), matrices)
        for i, gradient in enumerate(gradients):
            sums[i] = sums[i] + gradient
    return [(s / len(losses)).norm().item() for s in sums]


wrong(
    "the mean of the norms",
    "sums[i] + gradient",
    "sums[i] + gradient.norm()",
    "(s / len(losses)).norm()",
    "(s / len(losses)).flatten()[0]",
)


@right
def traffic(n, d, block):
    blocks = math.ceil(n / block)
    keys_and_values = 2 * n * d
    read = 2 * n * d + 2 * n
    write = n * d + 2 * n
    return keys_and_values + blocks * (read + write)


wrong("the last block that is not full is not counted", "math.ceil(n / block)", "n // block")


wrong("the output so far is not read", "read = 2 * n * d + 2 * n", "read = n * d + 2 * n")


@right
def fit_coverage(attempts, coverage):
    points = [
        (math.log(k), math.log(-math.log(c)), (c * math.log(c)) ** 2)
        for k, c in zip(attempts, coverage, strict=True)
        if 0 < c < 1
    ]
    total = sum(w for _, _, w in points)
    mean_x = sum(w * x for x, _, w in points) / total
    mean_y = sum(w * y for _, y, w in points) / total
    up = sum(w * (x - mean_x) * (y - mean_y) for x, y, w in points)
    b = up / sum(w * (x - mean_x) ** 2 for x, _, w in points)
    return -math.exp(mean_y - b * mean_x), b


wrong(
    "the height itself, not its exponential",
    "return -math.exp(mean_y - b * mean_x)",
    "return mean_y - b * mean_x",
)


@right
def cache_mask(length, first, recent):
    place = torch.arange(length)
    back = place[:, None] - place
    return (back >= 0) & ((back < recent) | (place < first))


wrong(
    "the first tokens are seen by those before them",
    "(back >= 0) & ((back < recent) | (place < first))",
    "((back >= 0) & (back < recent)) | (place < first)",
)


@right
def perplexity(model, text, length):
    total, count = 0.0, 0
    for start in range(0, len(text) - 1, length):
        inputs = text[start : start + length]
        targets = text[start + 1 : start + length + 1]
        inputs = inputs[: len(targets)]
        logits = model(inputs.unsqueeze(0)).squeeze(0)
        total += F.cross_entropy(logits, targets, reduction="sum").item()
        count += len(targets)
    return math.exp(total / count)


wrong(
    "the mean of the pieces' means",
    'reduction="sum").item()\n        count += len(targets)',
    'reduction="mean").item()\n        count += 1',
)


@right
def gradient_scales(matrices, losses):
    sums = [torch.zeros_like(matrix) for matrix in matrices]
    for loss in losses:
        for s, g in zip(sums, torch.autograd.grad(loss(), matrices), strict=True):
            s += g
    return [(s / len(losses)).norm().item() for s in sums]


wrong(
    "the mean of the norms",
    "            s += g\n",
    "            s += g.norm() / s.numel() ** 0.5\n",
)


@right
def traffic(n, d, block):
    blocks = math.ceil(n / block)
    once = 2 * n * d
    query = n * d
    read = n * d + 2 * n
    written = n * d + 2 * n
    return once + blocks * (query + read + written)


wrong("keys only pass once", "once = 2 * n * d", "once = n * d")


@right
def cache_mask(length, first, recent):
    i, j = torch.arange(length)[:, None], torch.arange(length)
    return (j <= i) & ((j < first) | (i - j < recent))


wrong("everything that was read", " & ((j < first) | (i - j < recent))", "")
wrong("window without first tokens", "(j < first) | ", "")


@right
def position_tiles(positions):
    patches = torch.nn.functional.normalize(positions[1:], dim=-1)
    n = round(len(patches) ** 0.5)
    return (patches @ patches.T).view(n, n, n, n)


wrong("the four axes in another order", "view(n, n, n, n)", "view(n, n, n, n).transpose(1, 2)")


@right
def traffic(n, d, block):
    blocks = math.ceil(n / block)
    once = 2 * n * d
    each = 3 * n * d + 4 * n
    return once + blocks * each


wrong("reads only", "3 * n * d + 4 * n", "2 * n * d + 2 * n")
wrong(
    "a further block for the rest even if there is none", "math.ceil(n / block)", "n // block + 1"
)


@right
def position_tiles(positions):
    grid = torch.nn.functional.normalize(positions[1:], dim=1)
    n = round(len(grid) ** 0.5)
    grid = grid.reshape(n, n, -1)
    return torch.einsum("rcd,ijd->rcij", grid, grid)


wrong("columns are brought to length 1 instead of vectors", "=1", "=0")


@right
def fit_coverage(attempts, coverage):
    points = []
    for k, c in zip(attempts, coverage):
        if 0 < c < 1:
            pull = c * math.log(c)
            points.append((pull * pull, math.log(k), math.log(-math.log(c))))
    whole = sum((w for w, _, _ in points))
    mx = sum((w * x for w, x, _ in points)) / whole
    my = sum((w * y for w, _, y in points)) / whole
    above = sum((w * (x - mx) * (y - my) for w, x, y in points))
    below = sum((w * (x - mx) ** 2 for w, x, y in points))
    b = above / below
    return (-math.exp(my - b * mx), b)


wrong("the height of the line is returned as a", "-math.exp(my - b * mx)", "my - b * mx")


@right
def gradient_scales(matrices, losses):
    expected = [torch.zeros_like(matrix) for matrix in matrices]
    for loss in losses:
        for sum_so_far, g in zip(expected, torch.autograd.grad(loss(), matrices)):
            sum_so_far += g / len(losses)
    return [g.square().sum().sqrt().item() for g in expected]


wrong("sum over the mini-batches, not divided by their number", "g / len(losses)", "g")


@right
def traffic(n, d, block):
    blocks = -(-n // block)
    each = n * (3 * d + 4)
    return 2 * n * d + blocks * each


wrong("the output so far is not read", "3", "2")
