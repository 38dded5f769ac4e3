"""Answers by somebody who had not read the checks."""

import math

import torch

from tests.book.unseen import answers_to

right, wrong = answers_to("one_word_at_a_time")


@right
def slopes(w, x):
    hs, h = [], 0.0
    for step in x.tolist():
        h = math.tanh(w * h + step)
        hs.append(h)
    result, back = [0.0] * len(hs), 1.0
    for t in reversed(range(len(hs))):
        back *= 1 - hs[t] ** 2
        result[t] = back
        back *= w
    return torch.tensor(result)


wrong("forgets the tanh", "math.tanh(w * h + step)", "w * h + step", "1 - hs[t] ** 2", "1")
wrong("sigmoid instead of tanh", lambda w, x: _slopes(w, x, torch.sigmoid))


def _slopes(w, x, f):
    x = x.clone().requires_grad_()
    h = torch.zeros(())
    for step in x:
        h = f(w * h + step)
    return torch.autograd.grad(h, x)[0]


@right
def states(cell, words):
    out = words.new_zeros(0, cell.hidden_size)
    state = torch.zeros(cell.hidden_size)
    for i in range(len(words)):
        state = cell(words[i], state)
        out = torch.cat([out, state[None]])
    return out


wrong("the zero state is in the list", "out = words.new_zeros(0,", "out = words.new_zeros(1,")
wrong("returns the last state only", "return out", "return out[-1]")


@right
def so_far(words):
    n = len(words)
    t = torch.arange(n)
    weights = (t[None] <= t[:, None]).to(words.dtype) / (t[:, None] + 1)
    return torch.einsum("ts,sd->td", weights, words)


wrong("sum instead of average", " / (t[:, None] + 1)", "")
wrong("divides by n", "(t[:, None] + 1)", "n")


@right
def slopes(w, x):
    x = x.clone().requires_grad_()
    h = torch.zeros(())
    for step in x:
        h = torch.tanh(w * h + step)
    return torch.autograd.grad(h, x)[0]


wrong("no tanh", "torch.tanh(w * h + step)", "w * h + step")


@right
def states(cell, words):
    h = torch.zeros(cell.hidden_size)
    made = []
    for word in words:
        h = cell(word, h)
        made.append(h)
    return torch.stack(made)


wrong(
    "the state is not carried on",
    "        h = cell(word, h)\n        made.append(h)\n",
    "        made.append(cell(word, h))\n",
)


@right
def so_far(words):
    n = len(words)
    weights = torch.ones(n, n).tril()
    weights = weights / weights.sum(dim=1, keepdim=True)
    return weights @ words


wrong("columns sum to 1", "weights.sum(dim=1, keepdim=True)", "weights.sum(dim=0, keepdim=True)")


def running(words):
    rows = [words[0]]
    for t in range(1, len(words)):
        rows.append((rows[-1] * t + words[t]) / (t + 1))
    return torch.stack(rows)


wrong("each average from the one before", running)


@right
def states(cell, words):
    state = torch.zeros(cell.hidden_size)
    rows = []
    for t in range(len(words)):
        state = cell(words[t], state)
        rows.append(state)
    return torch.stack(rows)


wrong(
    "the states before each word",
    "        state = cell(words[t], state)\n        rows.append(state)\n",
    "        rows.append(state)\n        state = cell(words[t], state)\n",
)


@right
def so_far(words):
    n = len(words)
    seen = torch.tril(torch.ones(n, n, dtype=words.dtype))
    return (seen / seen.sum(dim=1, keepdim=True)) @ words


wrong(
    "without its own word",
    "torch.tril(torch.ones(n, n, dtype=words.dtype))",
    "torch.tril(torch.ones(n, n, dtype=words.dtype), -1)",
    "seen.sum(dim=1, keepdim=True)",
    "seen.sum(dim=1, keepdim=True).clamp(min=1)",
)


@right
def states(cell, words):
    state = torch.zeros(cell.hidden_size)
    found = []
    for word in words:
        state = cell(word, state)
        found.append(state)
    return torch.stack(found)


wrong("words without a gradient", "found = []", "found = []; words = words.detach()")
wrong("the last state, repeated", "torch.stack(found)", "torch.stack([state] * len(found))")
wrong("squashed once more", "cell(word, state)", "torch.tanh(cell(word, state))")


@right
def so_far(words):
    n = len(words)
    table = torch.ones(n, n).tril()
    return table / table.sum(dim=1, keepdim=True) @ words


wrong("the divisor keeps no axis", ", keepdim=True", "")


@right
def states(cell, words):
    h = torch.zeros(1, cell.hidden_size)
    rows = []
    for t in range(words.shape[0]):
        h = cell(words[t : t + 1], h)
        rows.append(h)
    return torch.cat(rows, dim=0)


wrong("the state is detached after every word", ", h", ", h.detach()")


@right
def so_far(words):
    return torch.stack([words[:stop].mean(dim=0) for stop in range(1, len(words) + 1)])


wrong(
    "all rows are divided by n",
    "    return torch.stack([words[:stop].mean(dim=0) for stop in range(1, len(words) + 1)])",
    "    n = len(words)\n    return torch.tril(torch.ones(n, n)) / n @ words",
)
