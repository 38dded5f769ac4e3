"""Checks for the exercises of book/who_copies.ipynb."""

from copy import deepcopy

import torch
from torch import nn

from book.checking.exercise import climb, exercise
from book.checking.rungs import edited, ladder
from companion.nn import MultiHeadAttention


@exercise
def looks_at(answer) -> str:
    """Check `looks_at(ids)` -> a list with a position, or -1, for each token.

    ids is a list of tokens. A perfect induction head at position t looks at what followed the last
    earlier copy of the token at t; where there is none, the answer is -1.
    """
    climb(LOOKS_AT, answer)
    return "texts with no copy, with one and with several, and a token that stands twice in a row"


def _looks_at(ids):
    found = []
    for t, token in enumerate(ids):
        copies = [s for s in range(t) if ids[s] == token]
        found.append(copies[-1] + 1 if copies else -1)
    return found


@ladder(_looks_at)
def LOOKS_AT(looks_at):
    """no token comes a second time: -1 for each"""
    yield looks_at([4, 7, 1])

    """the fourth token has an earlier copy at position 0, and what followed that is at 1"""
    yield looks_at([4, 7, 1, 4])

    """of two earlier copies the last one counts"""
    yield looks_at([5, 8, 5, 3, 5])

    """a token that stands twice in a row: what followed its copy is the token itself"""
    yield looks_at([6, 2, 2, 9])


LOOKS_AT.mistakes |= {
    "that is the earlier copy itself; the head looks at what *followed* it": edited(
        _looks_at, "copies[-1] + 1", "copies[-1]"
    ),
    "the first of several copies is taken; the last one counts": edited(
        _looks_at, "copies[-1]", "copies[0]"
    ),
    "the token itself is not an earlier copy": edited(_looks_at, "range(t)", "range(t + 1)"),
    "that is the token, not its position": edited(
        _looks_at, "copies[-1] + 1 if", "ids[copies[-1] + 1] if"
    ),
    "it is how far back the head looks; the answer is a position": edited(
        _looks_at, "copies[-1] + 1 if", "t - copies[-1] - 1 if"
    ),
    "what came *before* the earlier copy": edited(_looks_at, "copies[-1] + 1", "copies[-1] - 1"),
    "later copies count as well; a head looks back": edited(
        _looks_at, "range(t) if", "range(len(ids)) if s != t and"
    ),
}


@exercise
def induction_scores(answer) -> str:
    """Check `induction_scores(weights, period)` -> (H,).

    weights (B, H, T, T) are causal attention weights on texts that repeat after `period` tokens.
    For each head the mean weight on what followed the earlier copy of the token, over all texts and
    all tokens of which there is an earlier copy.
    """
    climb(INDUCTION_SCORES, answer)
    return "one head and several, several texts, two copies of a text and more, or less than two"


def causal_weights(B: int, H: int, T: int) -> torch.Tensor:
    """Random attention weights (B, H, T, T), of which none goes to the future."""
    later = torch.ones(T, T, dtype=torch.bool).triu(1)
    return (2 * torch.randn(B, H, T, T)).masked_fill(later, -torch.inf).softmax(-1)


def _scores(weights, period):
    T = weights.shape[-1]
    queries = torch.arange(period, T)
    keys = queries - period + 1
    picked = weights[:, :, queries, keys]
    return picked.mean((0, 2))


@ladder(_scores)
def INDUCTION_SCORES(induction_scores):
    """one head, one text, twice: the second copy's tokens are the queries, and what followed
    the first copy's are the keys"""
    weights = causal_weights(1, 1, 8)
    yield induction_scores(weights, 4)

    """a text that breaks off in its second copy: `period` says where that begins, however long
    it is"""
    weights = causal_weights(1, 1, 5)
    yield induction_scores(weights, 3)

    """more than two copies: the last one before the token counts, and all later tokens have
    one"""
    weights = causal_weights(1, 1, 9)
    yield induction_scores(weights, 2)

    """three heads: a number for each"""
    weights = causal_weights(1, 3, 7)
    yield induction_scores(weights, 4)

    """several texts: the mean over all of them"""
    weights = causal_weights(4, 2, 7)
    yield induction_scores(weights, 3)


INDUCTION_SCORES.mistakes |= {
    "that is the weight on the earlier copy itself; the answer is what *followed* it": edited(
        _scores, "queries - period + 1", "queries - period"
    ),
    "that is the weight on what came *before* the earlier copy": edited(
        _scores, "keys = queries - period + 1", "queries = queries[1:]; keys = queries - period - 1"
    ),
    "that is the previous-token score: the weight on the token just before": edited(
        _scores, "queries - period + 1", "queries - 1"
    ),
    "the first copy is counted, too; nothing can be copied there": edited(
        _scores, "torch.arange(period, T)", "torch.arange(period - 1, T)"
    ),
    "the first token of the second copy is left out; it has an earlier copy, too": edited(
        _scores, "torch.arange(period, T)", "torch.arange(period + 1, T)"
    ),
    "it sums over the tokens; take the mean": edited(
        _scores, "picked.mean((0, 2))", "picked.sum(2).mean(0)"
    ),
    "the sum is divided by all tokens; only those count that have an earlier copy": edited(
        _scores, "picked.mean((0, 2))", "picked.sum(2).mean(0) / T"
    ),
    "all is 0, as the weights on later tokens are: weights[..., query, key]": edited(
        _scores, "weights[:, :, queries, keys]", "weights[:, :, keys, queries]"
    ),
    "only the first text is used": edited(_scores, "picked.mean((0, 2))", "picked[0].mean(-1)"),
    "that is one token too far: the weight on the second one behind the earlier copy": edited(
        _scores, "period + 1", "period + 2"
    ),
    "that is the weight on what came *before* the earlier copy; where that is the first token, on "
    "the copy": edited(_scores, "queries - period + 1", "(queries - period - 1).clamp(min=0)"),
    "there are numbers for each text; take the mean over the texts, too": edited(
        _scores, "picked.mean((0, 2))", "picked.mean(2)"
    ),
    "each query meets all keys; weights[..., query, key] takes one pair after the other": edited(
        _scores, "weights[:, :, queries, keys]", "weights[:, :, queries][..., keys].mean(2)"
    ),
    "the largest weight is taken; take the mean": edited(
        _scores, "picked.mean((0, 2))", "picked.amax((0, 2))"
    ),
    "it is how often the largest weight is there; take the mean of the weights": edited(
        _scores,
        "weights[:, :, queries, keys]",
        "(weights[:, :, queries].argmax(-1) == keys).float()",
    ),
}


@exercise
def costs_of_silence(answer) -> str:
    """Check `costs_of_silence(layer, x, loss)` -> (H,).

    layer is a `MultiHeadAttention`, x (B, T, d_model); loss(output) is a number. For each head: the
    loss of the causal layer's output with this head silent, less that with all of them. Afterwards
    the layer is as it was.
    """
    climb(COSTS_OF_SILENCE, answer)
    return "layers of one to four heads, with biases and without; each is whole afterwards"


def a_layer(d_model: int, num_heads: int, **more) -> MultiHeadAttention:
    """A layer with random weights, and random biases if it has any."""
    layer = MultiHeadAttention(d_model, num_heads, **{"bias": False, **more})
    for parameter in layer.parameters():
        nn.init.normal_(parameter, std=0.7)
    return layer


def off(output: torch.Tensor) -> torch.Tensor:
    """A loss: how far the output is from 1."""
    return (output - 1).square().mean()


def _costs(layer, x, loss):
    whole = loss(layer(x, is_causal=True)[0])
    costs = []
    silent = None
    for head in range(layer.num_heads):
        silent = deepcopy(layer)
        part = slice(head * layer.d_v, (head + 1) * layer.d_v)
        silent.out_proj.weight.data[:, part] = 0
        costs.append(loss(silent(x, is_causal=True)[0]) - whole)
    return torch.stack(costs).detach()


def _without(part):
    """A hook that silences the head whose numbers are this part of what out_proj reads."""

    def silence(module, given):
        joined = given[0].clone()
        joined[..., part] = 0
        return (joined,)

    return silence


def _averaging(part):
    """A hook that leaves of a head's numbers their mean over all words."""

    def average(module, given):
        joined = given[0].clone()
        joined[..., part] = joined[..., part].mean((0, 1), keepdim=True)
        return (joined,)

    return average


@ladder(_costs)
def COSTS_OF_SILENCE(costs_of_silence):
    """with its only head silent the layer gives zeros: the cost is the loss of zeros, less the
    loss with the head"""
    layer, x = a_layer(2, 1), torch.randn(1, 1, 2)
    yield costs_of_silence(layer, x, off)

    """the bias of out_proj belongs to no head: it is there although the only head is silent"""
    layer, x = a_layer(2, 1, bias=True), torch.randn(1, 1, 2)
    yield costs_of_silence(layer, x, off)

    """two heads and one word, at which both look with all their weight: in what out_proj reads,
    the numbers of head 0 are the first layer.d_v, those of head 1 the next, and a silent head's
    are zero"""
    layer, x = a_layer(4, 2), torch.randn(1, 1, 4)
    yield costs_of_silence(layer, x, off)

    """several words: the layer is causal, in both losses"""
    layer, x = a_layer(4, 2), torch.randn(1, 5, 4)
    yield costs_of_silence(layer, x, off)

    """two texts, three heads, and biases"""
    layer, x = a_layer(6, 3, bias=True), torch.randn(2, 5, 6)
    yield costs_of_silence(layer, x, off)

    """values may be wider than keys: a head's numbers in what out_proj reads are layer.d_v"""
    layer, x = a_layer(4, 2, d_k=2, d_v=3), torch.randn(1, 3, 4)
    yield costs_of_silence(layer, x, off)

    """the costs are right, but afterwards the layer gives another output: remove every hook,
    and put back every weight that you change"""
    layer, x = a_layer(8, 4, bias=True), torch.randn(2, 3, 8)
    costs_of_silence(layer, x, off)
    yield layer(x, is_causal=True)[0]

    """the costs are right, but afterwards the layer is in evaluation mode, which it was not"""
    layer, x = a_layer(4, 2), torch.randn(1, 2, 4)
    costs_of_silence(layer, x, off)
    yield layer.training


COSTS_OF_SILENCE.mistakes |= {
    "the sign is the other way: a cost is the loss without the head less that with it": edited(
        _costs, "torch.stack(costs)", "-torch.stack(costs)"
    ),
    "that is the loss itself; subtract the loss with all heads": edited(_costs, "- whole", ""),
    "the bias of out_proj is gone, too; it belongs to no head": edited(
        _costs, "silent = deepcopy(layer)", "silent = deepcopy(layer); silent.out_proj.bias = None"
    ),
    "that zeroes a part of the layer's *output*, which all heads have mixed; zero its "
    "input": edited(_costs, "data[:, part]", "data[part]"),
    "every H-th number is silent; the numbers of a head stand side by side, layer.d_v "
    "of them": edited(
        _costs,
        "slice(head * layer.d_v, (head + 1) * layer.d_v)",
        "slice(head, None, layer.num_heads)",
    ),
    "all the other heads are silent, and this one speaks": edited(
        _costs,
        ".data[:, part] = 0",
        ".data *= (torch.arange(layer.num_heads * layer.d_v) // layer.d_v == head)",
    ),
    "the heads before stay silent, too: one head at a time, and remove its hook": edited(
        _costs, "silent = deepcopy(layer)", "silent = silent or deepcopy(layer)"
    ),
    "a head that was silent stays so, while the next is tried and afterwards: remove its hook "
    "at once": edited(
        _costs,
        "silent = deepcopy(layer)",
        "silent = layer",
        "silent.out_proj.weight.data[:, part] = 0",
        "layer.out_proj.register_forward_pre_hook(_without(part))",
    ),
    "a head without queries still attends, evenly; zero what it hands to out_proj": edited(
        _costs,
        "silent.out_proj.weight",
        "silent.q_proj.weight.data[part] = 0; silent.q_proj.bias = None",
        ".data[:, part] = 0",
        "",
    ),
    "the layer may not see the future: is_causal=True": edited(
        _costs,
        "layer(x, is_causal=True)[0])",
        "layer(x, is_causal=False)[0])",
        "True)[0]) ",
        "False)[0]) ",
    ),
    "the head's mean over all words is left; what a silent head hands to out_proj is zero": edited(
        _costs,
        "silent.out_proj.weight.data[:, part] = 0",
        "silent.out_proj.register_forward_pre_hook(_averaging(part))",
    ),
    "the head still has the bias of v_proj; what it hands to out_proj is zero": edited(
        _costs, "out_proj.weight.data[:, part]", "v_proj.weight.data[part]"
    ),
    "the other heads are scaled up, by H / (H - 1), as in a dropout; they stay as they are": edited(
        _costs,
        "part] = 0",
        "part] = 0; silent.out_proj.weight.data *= layer.num_heads / max(1, layer.num_heads - 1)",
    ),
}
