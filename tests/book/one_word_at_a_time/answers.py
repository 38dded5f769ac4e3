"""Answers to the exercises of book/one_word_at_a_time.ipynb."""

import math

import torch
import torch.nn.functional as F

from book.one_word_at_a_time.checks import slopes, so_far, states
from tests.book.answers import right, wrong

# Whispering through a tanh


@right(slopes)
def by_autograd(w, x):
    x = x.clone().requires_grad_()
    h = 0
    for word in x:
        h = torch.tanh(w * h + word)
    h.backward()
    return x.grad


@right(slopes)
def by_the_chain_rule(w, x):
    h, states = 0.0, []
    for word in x.tolist():
        h = math.tanh(w * h + word)
        states.append(h)
    passed, slopes = 1.0, []
    for h in reversed(states):
        slopes.insert(0, passed * (1 - h**2))
        passed *= w * (1 - h**2)
    return torch.tensor(slopes)


@wrong(slopes, "it changes its input x")
def in_place(w, x):
    result = by_autograd(w, x)
    for t in range(1, len(x)):
        x[t] = torch.tanh(w * x[t - 1] + x[t])
    return result


# Unroll it


@right(states)
def a_loop(cell, words):
    state, found = torch.zeros(cell.hidden_size), []
    for word in words:
        state = cell(word, state)
        found.append(state)
    return torch.stack(found)


@right(states)
def the_formula(cell, words):
    state, found = torch.zeros(1, cell.hidden_size), []
    for x in words:
        pulled = F.linear(x[None], cell.weight_ih, cell.bias_ih)
        pulled = pulled + F.linear(state, cell.weight_hh, cell.bias_hh)
        state = torch.relu(pulled) if cell.nonlinearity == "relu" else torch.tanh(pulled)
        found.append(state)
    return torch.cat(found)


@wrong(states, "only the last state is returned")
def the_last(cell, words):
    state = torch.zeros(cell.hidden_size)
    for word in words:
        state = cell(word, state)
    return state


# Everybody so far


@right(so_far)
def written_row_by_row(words):
    rows = torch.zeros_like(words)
    for t in range(len(words)):
        rows[t] = words[: t + 1].mean(0)
    return rows


@right(so_far)
def a_triangle(words):
    sees = torch.ones(len(words), len(words)).tril()
    return sees / sees.sum(dim=1, keepdim=True) @ words


@right(so_far)
def running_sums(words):
    return words.cumsum(0) / torch.arange(1, len(words) + 1)[:, None]


@wrong(so_far, "the first row is the average of the first word alone")
def among_later_words(words):
    sees = torch.ones(len(words), len(words)).triu()
    return (sees / sees.sum(dim=1, keepdim=True) @ words).flip(0)
