"""Answers to the exercises of book/inside_a_language_model.ipynb."""

from copy import deepcopy

import torch

from book.inside_a_language_model.checks import (
    costs_of_silence,
    induction_scores,
    settled,
)
from tests.book.answers import right, wrong

# 1. Score an induction head


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


@wrong(induction_scores, "previous-token score")
def on_the_token_before(weights, period):
    t = torch.arange(period, weights.shape[-1])
    return weights[..., t, t - 1].mean((0, 2))


@wrong(induction_scores, "what came *before* the earlier copy")
def one_too_far(weights, period):
    t = torch.arange(period + 1, weights.shape[-1])
    return weights[..., t, t - period - 1].mean((0, 2))


@wrong(induction_scores, "the first copy is counted, too")
def the_whole_diagonal(weights, period):
    return weights.diagonal(1 - period, dim1=-2, dim2=-1).mean((0, 2))


@wrong(induction_scores, "the first token of the second copy is left out")
def a_token_late(weights, period):
    t = torch.arange(period + 1, weights.shape[-1])
    return weights[..., t, t - period + 1].mean((0, 2))


@wrong(induction_scores, "it sums over the tokens")
def summed_tokens(weights, period):
    t = torch.arange(period, weights.shape[-1])
    return weights[..., t, t - period + 1].sum(-1).mean(0)


@wrong(induction_scores, "it sums over the texts")
def summed_texts(weights, period):
    t = torch.arange(period, weights.shape[-1])
    return weights[..., t, t - period + 1].mean(-1).sum(0)


@wrong(induction_scores, "only the first text")
def the_first_text(weights, period):
    t = torch.arange(period, weights.shape[-1])
    return weights[0][:, t, t - period + 1].mean(-1)


@wrong(induction_scores, "queries and keys have changed places")
def the_other_way_round(weights, period):
    t = torch.arange(period, weights.shape[-1])
    return weights[:, :, t - period + 1, t].mean((0, 2))


# 2. Find it and silence it


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


@wrong(costs_of_silence, "every H-th number")
def every_other_number(layer, x, loss):
    def cost(head):
        silent = deepcopy(layer)
        silent.out_proj.weight.data[:, head :: layer.num_heads] = 0
        return loss(silent(x, is_causal=True)[0]) - loss(layer(x, is_causal=True)[0])

    return torch.stack([cost(head) for head in range(layer.num_heads)])


@wrong(costs_of_silence, "the heads before stay silent, too")
def hooks_that_stay(layer, x, loss):
    return on_copies(layer, x, loss, change=no_columns, fresh=False)


@wrong(costs_of_silence, "in evaluation mode")
def evaluated(layer, x, loss):
    return by_a_hook(layer.eval(), x, loss)


@wrong(costs_of_silence, "the sign is the other way")
def what_it_gains(layer, x, loss):
    return -on_copies(layer, x, loss, change=no_columns)


@wrong(costs_of_silence, "that is the loss itself")
def not_subtracted(layer, x, loss):
    return on_copies(layer, x, loss, change=no_columns) + loss(layer(x, is_causal=True)[0])


@wrong(costs_of_silence, "may not see the future")
def sees_everything(layer, x, loss):
    return on_copies(layer, x, loss, change=no_columns, is_causal=False)


@wrong(costs_of_silence, "all the other heads are silent")
def the_only_one(layer, x, loss):
    def change(copy, part):
        kept = copy.out_proj.weight.data[:, part].clone()
        copy.out_proj.weight.data.zero_()
        copy.out_proj.weight.data[:, part] = kept

    return on_copies(layer, x, loss, change=change)


@wrong(costs_of_silence, "a head without queries still attends")
def no_queries(layer, x, loss):
    def change(copy, part):
        copy.q_proj.weight.data[part] = 0
        if copy.q_proj.bias is not None:
            copy.q_proj.bias.data[part] = 0

    return on_copies(layer, x, loss, change=change)


@wrong(costs_of_silence, "a part of the layer's *output*")
def no_rows(layer, x, loss):
    return on_copies(
        layer, x, loss, change=lambda copy, part: copy.out_proj.weight.data[part].zero_()
    )


@wrong(costs_of_silence, "the bias of out_proj is gone, too")
def no_bias(layer, x, loss):
    def change(copy, part):
        no_columns(copy, part)
        if copy.out_proj.bias is not None:
            copy.out_proj.bias.data.zero_()

    return on_copies(layer, x, loss, change=change)


@wrong(costs_of_silence, "afterwards the layer gives another output")
def the_last_hook_stays(layer, x, loss):
    costs = by_a_hook(layer, x, loss)
    layer.out_proj.register_forward_pre_hook(lambda module, inputs: (0 * inputs[0],))
    return costs


# 3. A lens for every block


@right(settled)
def from_the_end(streams, norm, head, answers):
    right_ones = head(norm(streams)).argmax(-1) == answers
    return len(streams) - right_ones.flip(0).long().cumprod(0).sum(0)


@right(settled)
def block_by_block(streams, norm, head, answers):
    found = torch.full_like(answers, len(streams))
    for block in reversed(range(len(streams))):
        named = head(norm(streams[block])).softmax(-1).argmax(-1) == answers
        found[named & (found == block + 1)] = block
    return found


@right(settled)
def after_the_last_wrong_one(streams, norm, head, answers):
    wrong_ones = head(norm(streams)).argmax(-1) != answers
    number = torch.arange(1, len(streams) + 1)[:, None]
    return (wrong_ones * number).amax(0)


@wrong(settled, "the first block at which the answer is named")
def the_first_time(streams, norm, head, answers):
    named = head(norm(streams)).argmax(-1) == answers
    never = torch.ones(1, len(answers), dtype=torch.bool)
    return torch.cat([named, never]).int().argmax(0)


@wrong(settled, "the last block at which it is *not* named")
def the_last_wrong_one(streams, norm, head, answers):
    return after_the_last_wrong_one(streams, norm, head, answers) - 1


@wrong(settled, "never settles")
def at_most_the_last(streams, norm, head, answers):
    return after_the_last_wrong_one(streams, norm, head, answers).clamp(max=len(streams) - 1)


@wrong(settled, "the model's own last word")
def its_own_answer(streams, norm, head, answers):
    return from_the_end(streams, norm, head, head(norm(streams[-1])).argmax(-1))


@wrong(settled, "the norm is left out")
def without_the_norm(streams, norm, head, answers):
    return from_the_end(streams, lambda x: x, head, answers)


@wrong(settled, "the smallest logit")
def the_least(streams, norm, head, answers):
    return from_the_end(streams, norm, lambda x: -head(x), answers)


@wrong(settled, "it counts how many blocks")
def how_many(streams, norm, head, answers):
    return (head(norm(streams)).argmax(-1) == answers).sum(0)
