"""Answers by somebody who had not read the checks."""

import torch

from tests.book.unseen import answers_to

right, wrong = answers_to("attention_in_tiles")


@right
def merge(largest_1, total_1, blend_1, largest_2, total_2, blend_2):
    m = torch.where(largest_1 > largest_2, largest_1, largest_2)
    f, g = (largest_1 - m).exp(), (largest_2 - m).exp()
    return m, f * total_1 + g * total_2, f * blend_1 + g * blend_2


wrong("no rescaling", "(largest_1 - m).exp(), (largest_2 - m).exp()", "1, 1")
wrong(
    "normalises the blend",
    "f * blend_1 + g * blend_2",
    "(f * blend_1 + g * blend_2) / (f * total_1 + g * total_2)",
)
wrong(
    "second half rescaled always",
    "m = torch.where(largest_1 > largest_2, largest_1, largest_2)",
    "m = largest_1",
)
wrong("factors exchanged", "return m, f", "f, g = g, f\n    return m, f")


@right
def window_mask(T, S, window):
    return torch.tensor([[S - T + t - window < s <= S - T + t for s in range(S)] for t in range(T)])


wrong("one too many", "S - T + t - window < s", "S - T + t - window <= s")
wrong("no window", "S - T + t - window < s <= S - T + t", "s <= S - T + t")
wrong("square mask", "for t in range(T)]", "for t in range(T - S, T)]")


@right
def backward_row(query, key, value, output, log_sum_exp, grad_output, block):
    scale = len(query) ** -0.5
    mean = (output * grad_output).sum()
    dq, dk, dv = torch.zeros_like(query), [], []
    for i in range(0, len(key), block):
        k, v = key[i : i + block], value[i : i + block]
        w = torch.exp(k @ query * scale - log_sum_exp)
        dv.append(w[:, None] * grad_output)
        ds = w * (v @ grad_output - mean)
        dk.append(ds[:, None] * query * scale)
        dq = dq + ds @ k * scale
    return dq, torch.cat(dk), torch.cat(dv)


wrong(
    "mean of the block only",
    "v @ grad_output - mean",
    "v @ grad_output - (w * (v @ grad_output)).sum()",
)
wrong("last block's query gradient", "dq = dq + ds", "dq = ds")
wrong(
    "last block dropped",
    "range(0, len(key), block)",
    "range(0, len(key) - len(key) % block, block)",
)
wrong("mean with value summed", "(output * grad_output).sum()", "output.sum() * grad_output.sum()")


@right
def merge(largest_1, total_1, blend_1, largest_2, total_2, blend_2):
    largest = torch.maximum(largest_1, largest_2)
    c1 = (largest_1 - largest).exp()
    c2 = (largest_2 - largest).exp()
    total = c1 * total_1 + c2 * total_2
    blend = c1 * blend_1 + c2 * blend_2
    return largest, total, blend


wrong(
    "exponentials of the maxima themselves",
    "(largest_1 - largest).exp()",
    "largest_1.exp() / largest.exp()",
    "(largest_2 - largest).exp()",
    "largest_2.exp() / largest.exp()",
)


@right
def window_mask(T, S, window):
    q = torch.arange(S - T, S)[:, None]
    k = torch.arange(S)[None, :]
    behind = q - k
    return (behind >= 0) & (behind < window)


wrong("later keys too", "(behind >= 0) & (behind < window)", "behind.abs() < window")


@right
def backward_row(query, key, value, output, log_sum_exp, grad_output, block):
    scale = key.shape[1] ** -0.5
    average = grad_output @ output
    grad_query = torch.zeros_like(query)
    grad_key, grad_value = [], []
    for start in range(0, len(key), block):
        k, v = key[start : start + block], value[start : start + block]
        p = (k @ query * scale - log_sum_exp).exp()
        grad_value.append(p[:, None] * grad_output)
        ds = p * (v @ grad_output - average)
        grad_query += scale * (ds @ k)
        grad_key.append(scale * ds[:, None] * query)
    return grad_query, torch.cat(grad_key), torch.cat(grad_value)


wrong("no scale in the gradient of the keys", "scale * ds[:, None] * query", "ds[:, None] * query")

wrong(
    "divided by the logarithm",
    "(k @ query * scale - log_sum_exp).exp()",
    "(k @ query * scale).exp() / log_sum_exp",
)


@right
def window_mask(T, S, window):
    key = torch.arange(S)
    query = torch.arange(S - T, S).unsqueeze(1)
    back = query - key
    return (0 <= back) & (back < window)


wrong("one key too many", "back < window", "back <= window")
wrong("or where both must hold", ") & (back", ") | (back")


@right
def backward_row(query, key, value, output, log_sum_exp, grad_output, block):
    scale = query.shape[0] ** -0.5
    average = (grad_output * output).sum()
    grad_query = torch.zeros_like(query)
    grad_key, grad_value = torch.zeros_like(key), torch.zeros_like(value)
    for start in range(0, len(key), block):
        here = slice(start, start + block)
        weights = torch.exp(key[here] @ query * scale - log_sum_exp)
        grad_value[here] = torch.outer(weights, grad_output)
        grad_scores = weights * (value[here] @ grad_output - average)
        grad_key[here] = scale * torch.outer(grad_scores, query)
        grad_query += scale * (grad_scores @ key[here])
    return grad_query, grad_key, grad_value


wrong("the query's gradient of the last block", "grad_query +=", "grad_query =")
