"""Answers to the exercises of book/who_copies.ipynb."""

from copy import deepcopy

import torch

from book.who_copies.checks import (
    costs_of_silence,
    induction_scores,
    looks_at,
)
from tests.book.answers import right, wrong

# 1. Where does it look?


@right(looks_at)
def with_a_memory(ids):
    last, found = {}, []
    for t, token in enumerate(ids):
        found.append(last[token] + 1 if token in last else -1)
        last[token] = t
    return found


@right(looks_at)
def backwards(ids):
    def at(t):
        return next((s + 1 for s in reversed(range(t)) if ids[s] == ids[t]), -1)

    return [at(t) for t in range(len(ids))]


@wrong(looks_at, "the earlier copy itself")
def the_copy(ids):
    return [p if p < 0 else p - 1 for p in with_a_memory(ids)]


@wrong(looks_at, "the last one counts")
def by_index(ids):
    return [ids.index(x) + 1 if x in ids[:t] else -1 for t, x in enumerate(ids)]


# 2. Score an induction head


@right(induction_scores)
def by_indices(weights, period):
    t = torch.arange(period, weights.shape[-1])
    return weights[..., t, t + 1 - period].mean(-1).mean(0)


@right(induction_scores)
def by_the_diagonal(weights, period):
    """The diagonal begins at the query period - 1, whose copy is not there yet."""
    line = weights.diagonal(1 - period, dim1=-2, dim2=-1)
    return line[..., 1:].mean((0, 2))


@right(induction_scores)
def by_loops(weights, period):
    B, H, T, _ = weights.shape
    found = torch.zeros(H)
    for h in range(H):
        picked = [weights[b, h, t, t - period + 1] for b in range(B) for t in range(period, T)]
        found[h] = sum(picked) / len(picked)
    return found


@wrong(induction_scores, "the weight on the earlier copy itself")
def on_the_copy(weights, period):
    return weights.diagonal(-period, dim1=-2, dim2=-1).mean((0, 2))


# 3. Find it and silence it


@right(costs_of_silence)
def by_a_hook(layer, x, loss):
    costs = []
    whole = loss(layer(x, is_causal=True)[0])
    for head in range(layer.num_heads):

        def zero(module, inputs, head=head):
            parts = inputs[0].unflatten(-1, (layer.num_heads, layer.d_v)).clone()
            parts[..., head, :] = 0
            return (parts.flatten(-2),)

        hook = layer.out_proj.register_forward_pre_hook(zero)
        costs.append(loss(layer(x, is_causal=True)[0]) - whole)
        hook.remove()
    return torch.stack(costs)


@right(costs_of_silence)
def by_a_copy(layer, x, loss):
    def of(head):
        copy = deepcopy(layer)
        copy.out_proj.weight.data[:, head * layer.d_v : (head + 1) * layer.d_v] = 0
        return loss(copy(x, is_causal=True)[0])

    whole = loss(layer(x, is_causal=True)[0])
    return torch.stack([of(head) for head in range(layer.num_heads)]) - whole


@right(costs_of_silence)
def by_silent_values(layer, x, loss):
    """Values of zero are silent, too."""

    def of(head):
        def zero(module, inputs, output):
            output = output.clone()
            output[..., head * layer.d_v : (head + 1) * layer.d_v] = 0
            return output

        with layer.v_proj.register_forward_hook(zero):
            return loss(layer(x, is_causal=True)[0])

    whole = loss(layer(x, is_causal=True)[0])
    return torch.stack([of(head) - whole for head in range(layer.num_heads)])


def on_copies(layer, x, loss, *, change, is_causal=True, fresh=True):
    costs, copy = [], deepcopy(layer)
    whole = loss(layer(x, is_causal=is_causal)[0])
    for head in range(layer.num_heads):
        copy = deepcopy(layer) if fresh else copy
        change(copy, slice(head * layer.d_v, (head + 1) * layer.d_v))
        costs.append(loss(copy(x, is_causal=is_causal)[0]) - whole)
    return torch.stack(costs)


def no_columns(layer, part):
    layer.out_proj.weight.data[:, part] = 0


@wrong(costs_of_silence, "the heads before stay silent, too")
def hooks_that_stay(layer, x, loss):
    return on_copies(layer, x, loss, change=no_columns, fresh=False)


@wrong(costs_of_silence, "in evaluation mode")
def evaluated(layer, x, loss):
    return by_a_hook(layer.eval(), x, loss)
