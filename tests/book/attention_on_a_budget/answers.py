"""Answers to the exercises of book/attention_on_a_budget.ipynb."""

import torch

from book.attention_on_a_budget.checks import (
    bytes_held,
    overwrite_part,
    what_it_says,
    what_was_written,
)
from tests.book.answers import right, wrong

# What it says


@wrong(what_it_says, "a query of length 2 doubles the answer")
def by_the_direction(keys, values, query):
    return values.T @ keys @ query / query.norm()


@right(what_it_says)
def fact_by_fact(keys, values, query):
    S = torch.zeros(values.shape[1], keys.shape[1])
    for key, value in zip(keys, values, strict=True):
        S += torch.outer(value, key)
    return S @ query


@right(what_it_says)
def as_weights(keys, values, query):
    weights = [sum(a * b for a, b in zip(key, query, strict=True)) for key in keys.tolist()]
    columns = values.T.tolist()
    return [sum(w * x for w, x in zip(weights, column, strict=True)) for column in columns]


# Bytes held


@right(bytes_held)
def layer_by_layer(layers, tokens, d, heads, window):
    total = 0
    for kind in layers:
        if kind == "matrix":
            total += d * d // heads
        else:
            total += 2 * d * (tokens if kind == "full" or tokens < window else window)
    return total * 4


@right(bytes_held)
def by_counting(layers, tokens, d, heads, window):
    width = d // heads
    per_layer = [
        heads * width * width if kind == "matrix" else 2 * heads * width * min(tokens, most)
        for kind in layers
        for most in [{"window": window}.get(kind, tokens)]
    ]
    return torch.tensor(4 * sum(per_layer))


# Overwrite a part


@right(overwrite_part)
def with_a_unit_key(S, key, value, beta):
    size = key.norm()
    unit = key / size
    wanted = value / size
    return S + beta * (wanted - S @ unit)[:, None] * unit[None]


@right(overwrite_part)
def old_out_new_in(S, key, value, beta):
    share = beta / key.dot(key)
    return S - share * torch.outer(S @ key, key) + share * torch.outer(value, key)


# What was written


@right(what_was_written)
def one_after_the_other(keys, values, beta):
    S = torch.zeros(values.shape[1], keys.shape[1])
    written = []
    for key, value, b in zip(keys, values, beta, strict=True):
        written.append(b * (value - S @ key))
        S = S + torch.outer(written[-1], key)
    return torch.stack(written)


@right(what_was_written)
def by_a_triangular_solve(keys, values, beta):
    L = torch.tril(torch.diag(beta) @ keys @ keys.T, diagonal=-1)
    right_side = torch.diag(beta) @ values
    return torch.linalg.solve_triangular(L, right_side, upper=False, unitriangular=True)
