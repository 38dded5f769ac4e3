"""Answers by somebody who had not read the checks; those to `purity` stood before its check did."""

import torch

from tests.book.unseen import answers_to

right, wrong = answers_to("what_the_stream_carries")


@right
def pushed(x, ones, twos, times):
    step = sum(twos) / len(twos) - sum(ones) / len(ones)
    return torch.stack([row + times * step for row in x])


wrong(
    "other direction",
    "sum(twos) / len(twos) - sum(ones) / len(ones)",
    "sum(ones) / len(ones) - sum(twos) / len(twos)",
)
wrong("sums", "sum(twos) / len(twos) - sum(ones) / len(ones)", "sum(twos) - sum(ones)")
wrong("scaled to length 1", "    return", "    step = step / step.norm()\n    return")
wrong("first row only", "for row in x]", "for row in x[:1]]")


@right
def sparse_code(x, E, b, D, k):
    code = torch.zeros(len(x), len(E))
    for n, row in enumerate(x):
        values = [(float(E[l] @ row + b[l]), l) for l in range(len(E))]
        for v, l in sorted(values, reverse=True)[:k]:
            code[n, l] = max(v, 0.0)
    return code, code @ D


wrong("negative ones kept", "max(v, 0.0)", "v")
wrong("dictionary not used: encoder transposed", "code @ D", "code @ E")
wrong("code only", "return code, code @ D", "return code")
wrong("bias subtracted", "+ b[l]", "- b[l]")
wrong(
    "k largest of what was cut by relu ... then reconstruction from uncut",
    "return code, code @ D",
    "return code, (x @ E.T + b).relu() @ D",
)


@right
def pushed(x, ones, twos, times):
    one = ones.sum(dim=0) / len(ones)
    two = twos.sum(dim=0) / len(twos)
    direction = two - one
    return x + times * direction


wrong(
    "a direction of length 1",
    "direction = two - one",
    "direction = (two - one) / (two - one).norm()",
)


@right
def sparse_code(x, E, b, D, k):
    values = x @ E.T + b
    code = torch.zeros_like(values)
    for i in range(len(values)):
        largest, where = values[i].topk(k)
        code[i, where] = largest.clamp(min=0)
    return code, code @ D


wrong("negative ones are kept", "largest.clamp(min=0)", "largest")


@right
def pushed(x, ones, twos, times):
    direction = twos.sum(dim=0) / len(twos) - ones.sum(dim=0) / len(ones)
    return torch.add(x, direction, alpha=times)


wrong(
    "sums, not means",
    "twos.sum(dim=0) / len(twos) - ones.sum(dim=0) / len(ones)",
    "twos.sum(dim=0) - ones.sum(dim=0)",
)


@right
def sparse_code(x, E, b, D, k):
    latents = torch.relu(x @ E.T + b)
    kept = latents.topk(k, dim=-1)
    code = torch.zeros_like(latents).scatter(-1, kept.indices, kept.values)
    return code, code @ D


wrong(
    "not sparse: all positive latents",
    "    code = torch.zeros_like(latents).scatter(-1, kept.indices, kept.values)",
    "    code = latents",
)


@right
def purity(codes, words, k):
    N, L = codes.shape
    out = []
    for l in range(L):
        column = codes[:, l].tolist()
        if sum(v > 0 for v in column) < k:
            out.append(0.0)
            continue
        best = sorted(range(N), key=lambda n: -column[n])[:k]
        seen = [int(words[n]) for n in best]
        out.append(max(seen.count(w) for w in seen) / k)
    return torch.tensor(out)


wrong("rare latents are judged, too", "if sum(v > 0 for v in column) < k:", "if False:")
wrong("exactly k is too few", "< k:", "<= k:")
wrong("a count, not a share", " / k)", ")")
wrong("the weakest", "-column[n]", "column[n]")
wrong("how many different words", "max(seen.count(w) for w in seen)", "len(set(seen))")
wrong("the strongest token's word", "max(seen.count(w) for w in seen)", "seen.count(seen[0])")
wrong(
    "is the latent pure at all",
    "max(seen.count(w) for w in seen) / k",
    "float(len(set(seen)) == 1)",
)
wrong(
    "the word most frequent in the text",
    "seen.count(w) for w in seen",
    "seen.count(int(w)) for w in words.mode().values[None]",
)


@right
def purity(codes, words, k):
    places = codes.argsort(dim=0, descending=True)[:k]
    result = []
    for column, fires in zip(words[places].T, (codes > 0).sum(0), strict=True):
        counts = torch.bincount(column)
        result.append(counts.max() / k if fires >= k else torch.tensor(0.0))
    return torch.stack(result)


wrong("of all tokens at which it fires", "counts.max() / k", "counts.max() / fires")


@right
def sparse_code(x, E, b, D, k):
    values, where = (x @ E.T + b).topk(k, dim=-1)
    code = torch.zeros(len(x), len(E)).scatter(1, where, values.relu())
    return code, code @ D


wrong("largest sizes in place of largest values", "(x @ E.T + b)", "(x @ E.T + b).abs()")
wrong("the reconstruction from all values", "code @ D", "(x @ E.T + b).relu() @ D")


@right
def pushed(x, ones, twos, times):
    centre_one = torch.mean(ones, dim=0)
    centre_two = torch.mean(twos, dim=0)
    return torch.add(x, centre_two - centre_one, alpha=times)


wrong(
    "changes x in place",
    "    centre_one = torch.mean(ones, dim=0)\n    centre_two = torch.mean(twos, dim=0)\n    return torch.add(x, centre_two - centre_one, alpha=times)",
    "    x += times * (twos.mean(0) - ones.mean(0))\n    return x",
)


@right
def sparse_code(x, E, b, D, k):
    values = torch.addmm(b, x, E.T)
    best, where = torch.topk(values, k, dim=1)
    code = torch.zeros_like(values).scatter(1, where, best.relu())
    return (code, torch.einsum("nl,ld->nd", code, D))


wrong("bias is left out", "torch.addmm(b, x, E.T)", "x @ E.T")
