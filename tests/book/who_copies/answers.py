"""Answers to the exercises of book/who_copies.ipynb."""

from copy import deepcopy

import torch

from book.who_copies.checks import (
    costs_of_silence,
    induction_scores,
    looks_at,
)
from tests.book.answers import right, wrong

# Where does it look?


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


# Score an induction head


@right(induction_scores)
def by_indices(weights, period):
    t = torch.arange(period, weights.shape[-1])
    return weights[..., t, t + 1 - period].mean(-1).mean(0)


@right(induction_scores)
def by_the_diagonal(weights, period):
    """The diagonal begins at the query period - 1, whose copy is not there yet."""
    line = weights.diagonal(1 - period, dim1=-2, dim2=-1)
    return line[..., 1:].mean((0, 2))


# Find it and silence it


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


@wrong(costs_of_silence, "in evaluation mode")
def evaluated(layer, x, loss):
    return by_a_hook(layer.eval(), x, loss)


@wrong(induction_scores, "all is 0, as the weights on later tokens are")
def the_diagonal_on_the_other_side(weights, period):
    return weights.diagonal(period - 1, -2, -1).mean((0, 2))
