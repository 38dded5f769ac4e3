"""Answers by somebody who had not read the checks."""

import torch

from tests.book.unseen import answers_to

right, wrong = answers_to("attention_on_a_budget")


@right
def what_it_says(keys, values, query):
    return sum((k @ query) * v for k, v in zip(keys, values))


wrong(
    "softmax",
    "sum((k @ query) * v for k, v in zip(keys, values))",
    "(keys @ query).softmax(0) @ values",
)
wrong("last fact only", "zip(keys, values)", "zip(keys[-1:], values[-1:])")
wrong("key scaled", "(k @ query)", "(k / k.norm() @ query)")
wrong("overwrites", lambda keys, values, query: _delta(keys, values, torch.ones(len(keys))) @ query)
wrong("relu", "(k @ query) *", "(k @ query).relu() *")


def _delta(keys, values, beta):
    S = torch.zeros(values.shape[1], keys.shape[1])
    for k, v, b in zip(keys, values, beta):
        S = S + b * torch.outer(v - S @ k, k) / (k @ k)
    return S


@right
def bytes_held(layers, tokens, d, heads, window):
    numbers = 0
    for layer in layers:
        if layer == "matrix":
            numbers += heads * (d // heads) ** 2
        elif layer == "window":
            numbers += 2 * d * min(window, tokens)
        else:
            numbers += 2 * d * tokens
    return 4 * numbers


wrong("numbers", "4 * numbers", "numbers")
wrong("matrix of d x d", "heads * (d // heads) ** 2", "d ** 2")
wrong(
    "heads times d",
    "2 * d * tokens",
    "2 * d * heads * tokens",
    "2 * d * min",
    "2 * d * heads * min",
)
wrong("bits", "4 * numbers", "32 * numbers")
wrong("queries, too", "2 * d * tokens", "3 * d * tokens", "2 * d * min", "3 * d * min")
wrong("window - 1", "min(window, tokens)", "min(window - 1, tokens)")


@right
def overwrite_part(S, key, value, beta):
    miss = value - (S * key).sum(1)
    return S + beta / key.square().sum() * miss[:, None] * key[None]


wrong("key not of length 1", " / key.square().sum()", "")
wrong("divides by the length", "key.square().sum()", "key.norm()")
wrong(
    "key scaled for the write only",
    "beta / key.square().sum() * miss[:, None] * key[None]",
    "beta * miss[:, None] * key[None] / key.norm()",
)
wrong("beta at the old", "beta / key", "(1 - beta) / key")
wrong("divides by d", "key.square().sum()", "len(key)")


@right
def what_was_written(keys, values, beta):
    rows = []
    for t in range(len(keys)):
        said = sum(
            (rows[s] * (keys[s] @ keys[t]) for s in range(t)),
            torch.zeros(values.shape[1], dtype=values.dtype),
        )
        rows.append(beta[t] * (values[t] - said))
    return torch.stack(rows)


wrong("key scaled", "    rows = []", "    keys = keys / keys.norm(dim=1, keepdim=True); rows = []")
wrong("reads after writing", "range(t))", "range(max(t - 1, 0)))")
wrong("adds", "values[t] - said", "values[t] + said")
wrong(
    "right side without beta",
    lambda keys, values, beta: torch.linalg.solve_triangular(
        torch.eye(len(keys)) + beta[:, None] * (keys @ keys.T).tril(-1), values, upper=False
    ),
)
wrong("asks with the key of before", "keys[s] @ keys[t]", "keys[s] @ keys[t - 1]")


@right
def what_it_says(keys, values, query):
    S = torch.zeros(values.shape[1], keys.shape[1])
    for k, v in zip(keys, values):
        S = S + torch.outer(v, k)
    return S @ query


wrong("divided by the sum of the weights", "S @ query", "S @ query / (keys @ query).sum()")


@right
def bytes_held(layers, tokens, d, heads, window):
    numbers = 0
    for layer in layers:
        if layer == "full":
            numbers += 2 * d * tokens
        elif layer == "window":
            numbers += 2 * d * min(window, tokens)
        else:
            numbers += heads * (d // heads) ** 2
    return 4 * numbers


wrong("the larger of window and tokens", "min(window", "max(window")


@right
def overwrite_part(S, key, value, beta):
    missing = value - S @ key
    return S + beta * torch.outer(missing, key) / key.dot(key)


wrong("divided by the length, not its square", "key.dot(key)", "key.norm()")

wrong("outer product the other way round", "torch.outer(missing, key)", "torch.outer(key, missing)")


@right
def what_was_written(keys, values, beta):
    T = len(keys)
    A = (keys @ keys.T).tril(-1) * beta[:, None]
    eye = torch.eye(T, dtype=keys.dtype)
    return torch.linalg.solve_triangular(eye + A, values * beta[:, None], upper=False)


wrong("what was said is added", "eye + A", "eye - A")


@right
def bytes_held(layers, tokens, d, heads, window):
    width = d // heads
    numbers = {
        "full": 2 * tokens * heads * width,
        "window": 2 * min(tokens, window) * heads * width,
        "matrix": heads * width * width,
    }
    return 4 * sum(numbers[layer] for layer in layers)


wrong("a window that is always full", "min(tokens, window)", "window")


@right
def overwrite_part(S, key, value, beta):
    missing = value - S @ key
    length = torch.linalg.vector_norm(key)
    return S + beta * torch.outer(missing, key) / length**2


wrong("in place", "return S + beta", "S += beta", "length**2", "length**2\n    return S")


@right
def what_it_says(keys, values, query):
    S = values.T @ keys
    return S @ query


wrong("matrix turned over", "values.T @ keys", "keys.T @ values")


@right
def overwrite_part(S, key, value, beta):
    missing = value - S @ key
    return S + beta * torch.outer(missing, key) / (key @ key)


wrong("asks the matrix from the wrong side", "S @ key", "key @ S")


@right
def what_it_says(keys, values, query):
    return torch.einsum("nk,nv,k->v", keys, values, query)


wrong(
    "a softmax over the products",
    'einsum("nk,nv,k->v", keys, values, query)',
    "softmax(keys @ query, dim=0) @ values",
)


@right
def overwrite_part(S, key, value, beta):
    missing = value - torch.mv(S, key)
    return torch.addr(S, missing, key, alpha=beta / float(key @ key))


wrong(
    "adds the new value and does not take away the old one",
    "    missing = value - torch.mv(S, key)\n    return torch.addr(S, missing, key, alpha=beta / float(key @ key))",
    "    return S + beta * torch.outer(value, key) / (key @ key)",
)


@right
def what_was_written(keys, values, beta):
    S = torch.zeros(values.shape[1], keys.shape[1], dtype=values.dtype)
    rows = []
    for k, v, b in zip(keys, values, beta):
        u = b * (v - S @ k)
        S = S + u[:, None] * k[None, :]
        rows.append(u)
    return torch.stack(rows)


wrong(
    "scales the keys to length 1 first",
    "def what_was_written(keys, values, beta):",
    "def what_was_written(keys, values, beta):\n    keys = F.normalize(keys, dim=-1)",
    "u[:, None] * k[None, :]",
    "torch.outer(u, k)",
)
