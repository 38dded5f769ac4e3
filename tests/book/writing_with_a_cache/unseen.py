"""Answers by somebody who had not read the checks."""

import torch
import torch.nn.functional as F

from tests.book.unseen import answers_to

right, wrong = answers_to("writing_with_a_cache")


@right
def grouped_attention(query, key, value):
    each = query.shape[1] // key.shape[1]
    out = []
    for h in range(query.shape[1]):
        s = query[:, h] @ key[:, h // each].mT / key.shape[-1] ** 0.5
        out.append(s.softmax(-1) @ value[:, h // each])
    return torch.stack(out, 1)


wrong("heads repeated a b a b", "h // each", "h % key.shape[1]")
wrong("softmax over queries", "s.softmax(-1)", "s.softmax(-2)")
wrong("as many heads as groups", "range(query.shape[1])", "range(key.shape[1])")


@right("window_cache")
class WindowCache:
    def __init__(self, window):
        self.window, self.k, self.v = window, [], []

    def append(self, key, value):
        self.k.append(key)
        self.v.append(value)
        if len(self.k) > self.window:
            self.k.pop(0)
            self.v.pop(0)
        return torch.stack(self.k), torch.stack(self.v)


wrong("values not dropped", "self.v.pop(0)", "pass")
wrong("ignores the window", "if len(self.k) > self.window:", "if False:")


@right
def judge(p, q, words, uniform):
    for t, w in enumerate(words.tolist()):
        if uniform[t] * q[t, w] >= p[t, w]:
            left = torch.relu(p[t] - q[t])
            return t, left / left.sum()
    return len(words), p[len(words)]


wrong("model's own distribution after a refusal", "left / left.sum()", "p[t]")
wrong("quotient turned over", "uniform[t] * q[t, w] >= p[t, w]", "uniform[t] * p[t, w] >= q[t, w]")
wrong("equality keeps", ">= p[t, w]", "> p[t, w]")
wrong("counts from 1", "return t, left", "return t + 1, left")
wrong(
    "argmax word instead of its own",
    "in enumerate(words.tolist())",
    "in enumerate(q.argmax(1).tolist())",
)


@right
def grouped_attention(query, key, value):
    B, H, T, d_k = query.shape
    G = key.shape[1]
    outputs = []
    for h in range(H):
        g = h // (H // G)
        scores = query[:, h] @ key[:, g].transpose(-2, -1) / d_k**0.5
        outputs.append(scores.softmax(dim=-1) @ value[:, g])
    return torch.stack(outputs, dim=1)


wrong("no scale", " / d_k**0.5", "")


@right("window_cache")
class OtherWindowCache:
    def __init__(self, window):
        self.window = window
        self.keys, self.values = [], []

    def append(self, key, value):
        self.keys.append(key)
        self.values.append(value)
        if len(self.keys) > self.window:
            self.keys.pop(0)
            self.values.pop(0)
        return torch.stack(self.keys), torch.stack(self.values)


wrong("one too few", "> self.window", ">= self.window")


@right
def judge(p, q, words, uniform):
    for t in range(len(words)):
        word = words[t]
        if uniform[t] >= p[t, word] / q[t, word]:
            missing = (p[t] - q[t]).clamp(min=0)
            return t, missing / missing.sum()
    return len(words), p[len(words)]


wrong("draws from p at the refused word", "missing / missing.sum()", "p[t]")


def goes_on(p, q, words, uniform):
    G = len(words)
    place = torch.arange(G)
    kept = uniform < p[place, words] / q[place, words]
    if kept.all():
        return G, p[-1]
    t = int((~kept).int().argmax())
    missing = (p[t] - q[t]).clamp(min=0)
    return int(kept.sum()), missing / missing.sum()


wrong("words behind the refused one count", goes_on)


@right
def grouped_attention(query, key, value):
    shared = query.shape[1] // key.shape[1]
    heads = []
    for h in range(query.shape[1]):
        k, v = key[:, h // shared], value[:, h // shared]
        scores = query[:, h] @ k.transpose(1, 2) / query.shape[-1] ** 0.5
        heads.append(scores.softmax(dim=-1) @ v)
    return torch.stack(heads, dim=1)


wrong(
    "all read the first key head",
    "key[:, h // shared], value[:, h // shared]",
    "key[:, 0], value[:, 0]",
)


@right("window_cache")
class AnotherWindowCache:
    def __init__(self, window):
        self.window = window
        self.rows = []

    def append(self, key, value):
        self.rows.append((key, value))
        if len(self.rows) > self.window:
            self.rows.pop(0)
        keys, values = zip(*self.rows)
        return torch.stack(keys), torch.stack(values)


wrong(
    "shared by all caches",
    "        self.rows = []\n",
    "",
    "    def __init__",
    "    rows = []\n\n    def __init__",
)


@right
def judge(p, q, words, uniform):
    kept = 0
    for t, word in enumerate(words.tolist()):
        if uniform[t] * q[t, word] >= p[t, word]:
            missing = (p[t] - q[t]).clamp(min=0)
            return kept, missing / missing.sum()
        kept += 1
    return kept, p[kept]


wrong("not normalised", "missing / missing.sum()", "missing")
wrong("the refused word counts as kept", "return kept, missing", "return kept + 1, missing")


@right
def judge(p, q, words, uniform):
    for t in range(len(words)):
        w = words[t]
        if uniform[t] >= p[t, w] / q[t, w]:
            rest = (p[t] - q[t]).clamp(min=0)
            return t, rest / rest.sum()
    return len(words), p[-1]


wrong("negative differences are not cut off", ".clamp(min=0)", "")
wrong("the last row in both cases", "rest / rest.sum()", "p[-1]")
wrong("softmax in place of a quotient by the sum", "rest / rest.sum()", "rest.softmax(-1)")


@right
def grouped_attention(query, key, value):
    share = query.shape[1] // key.shape[1]
    heads = [
        F.scaled_dot_product_attention(query[:, h], key[:, h // share], value[:, h // share])
        for h in range(query.shape[1])
    ]
    return torch.stack(heads, dim=1)


wrong(
    "a causal mask that nobody asked for",
    "        F.scaled_dot_product_attention(query[:, h], key[:, h // share], value[:, h // share])",
    "        F.scaled_dot_product_attention(\n            query[:, h], key[:, h // share], value[:, h // share], is_causal=True\n        )",
)
