"""Checks for the exercises of book/inside_a_language_model.ipynb."""

from collections.abc import Callable
from copy import deepcopy
from functools import partial

import numpy as np
import torch
from torch import nn

from companion.checks.exercise import Mistake, compare, exercise, show
from companion.nn import MultiHeadAttention


@exercise
def induction_scores(answer) -> str:
    """Check `induction_scores(weights, period)` -> (H,).

    weights (B, H, T, T) are causal attention weights on texts that repeat after `period` tokens.
    For each head the mean weight on what followed the earlier copy of the token, over all texts and
    all tokens of which there is an earlier copy.
    """
    sharp = torch.zeros(1, 2, 6, 6)
    sharp[0, 0, range(6), (0, 0, 0, 1, 2, 3)] = 1.0  # head 0 copies with a period of 3
    sharp[0, 1, range(6), (0, 0, 1, 2, 3, 4)] = 1.0  # head 1 looks one back
    cases = [{"weights": sharp, "period": 3}]
    for B, H, T, period in ((1, 1, 5, 3), (2, 3, 7, 4), (3, 2, 9, 2)):
        scores = 2 * torch.randn(B, H, T, T)
        later = torch.ones(T, T, dtype=torch.bool).triu(1)
        cases.append(
            {"weights": scores.masked_fill(later, -torch.inf).softmax(-1), "period": period}
        )
    compare(answer, cases, _scores, SCORES_MISTAKES)
    return "a head that copies, one that looks back, and random ones; several texts and periods"


def _scores(
    weights,
    period,
    *,
    back=lambda period: period - 1,
    start=lambda period: period,
    mean=lambda picked: picked.mean((0, 2)),
):
    """The scores, or what they would be with one step done in another way."""
    t = torch.arange(start(period), weights.shape[-1])
    t = t[t >= back(period)]
    return (mean(weights[:, :, t, t - back(period)]),)


SCORES_MISTAKES = {
    "that is the weight on the earlier copy itself; the answer is what *followed* it": partial(
        _scores, back=lambda period: period
    ),
    "that is the weight on what came *before* the earlier copy": partial(
        _scores, back=lambda period: period + 1, start=lambda period: period + 1
    ),
    "that is the previous-token score: the weight on the token just before": partial(
        _scores, back=lambda period: 1
    ),
    "the first copy is counted, too; nothing can be copied there": partial(
        _scores, start=lambda period: period - 1
    ),
    "the first token of the second copy is left out; it has an earlier copy, too": partial(
        _scores, start=lambda period: period + 1
    ),
    "it sums over the tokens; take the mean": partial(
        _scores, mean=lambda picked: picked.sum(2).mean(0)
    ),
    "it sums over the texts; take the mean": partial(
        _scores, mean=lambda picked: picked.mean(2).sum(0)
    ),
    "only the first text is used": partial(_scores, mean=lambda picked: picked[0].mean(-1)),
    "queries and keys have changed places: weights[..., query, key]": (
        lambda weights, period: _scores(weights.transpose(-1, -2), period)
    ),
}


@exercise
def costs_of_silence(answer) -> str:
    """Check `costs_of_silence(layer, x, loss)` -> (H,).

    layer is a `MultiHeadAttention`, x (B, T, d_model); loss(output) is a number. For each head: the
    loss of the causal layer's output with this head silent, less that with all of them. Afterwards
    the layer is as it was.
    """
    layers = [_layer(4, 2, False), _layer(6, 3, False), _layer(6, 2, True), _layer(8, 4, True)]
    cases = [
        {"number": i, "x": torch.randn(2, 4 + i, layer.d_model)} for i, layer in enumerate(layers)
    ]
    losses = [torch.randn(layer.d_model) for layer in layers]

    def bound(function: Callable, layers: list[nn.Module]) -> Callable:
        def called(number, x):
            wanted = losses[number]
            return function(layers[number], x, lambda output: (output - wanted).square().mean())

        return called

    own = deepcopy(layers)
    with torch.no_grad():
        pairs = list(zip(own, (case["x"] for case in cases), strict=True))
        before = [layer(x, is_causal=True)[0] for layer, x in pairs]
        mistakes = {
            text: bound(lambda *given, wrong=wrong: (wrong(*given),), deepcopy(layers))
            for text, wrong in COSTS_MISTAKES.items()
        }
        compare(
            bound(answer, own),
            cases,
            bound(lambda *given: (_costs(*given),), layers),
            mistakes,
        )
        for (layer, x), output in zip(pairs, before, strict=True):
            if not torch.equal(layer(x, is_causal=True)[0], output):
                raise Mistake(
                    "the costs are right, but afterwards the layer gives another output: remove "
                    "every hook, and put back every weight that you change",
                    show({"x": x, "output before": output}),
                )
    return "layers of two to four heads, with biases and without; each is whole afterwards"


def _layer(d_model: int, num_heads: int, bias: bool) -> MultiHeadAttention:
    layer = MultiHeadAttention(d_model, num_heads, bias=bias)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.normal_(std=0.7)
    return layer.eval()


def _part(layer, head) -> slice:
    return slice(head * layer.d_v, (head + 1) * layer.d_v)


def _zero_columns(layer, head):
    layer.out_proj.weight.data[:, _part(layer, head)] = 0


def _zero_rows(layer, head):
    layer.out_proj.weight.data[_part(layer, head)] = 0


def _zero_queries(layer, head):
    layer.q_proj.weight.data[_part(layer, head)] = 0
    if layer.q_proj.bias is not None:
        layer.q_proj.bias.data[_part(layer, head)] = 0


def _all_others(layer, head):
    for other in range(layer.num_heads):
        if other != head:
            _zero_columns(layer, other)


def _with_bias(layer, head):
    _zero_columns(layer, head)
    if layer.out_proj.bias is not None:
        layer.out_proj.bias.data.zero_()


def _costs(layer, x, loss, *, silence=_zero_columns, is_causal=True, less=True):
    """The costs, or what they would be with one step done in another way."""
    whole = loss(layer(x, is_causal=is_causal)[0]) if less else 0
    costs = []
    for head in range(layer.num_heads):
        silent = deepcopy(layer)
        silence(silent, head)
        costs.append(loss(silent(x, is_causal=is_causal)[0]) - whole)
    return torch.stack(costs)


def _cumulative(layer, x, loss):
    silent, whole, costs = deepcopy(layer), loss(layer(x, is_causal=True)[0]), []
    for head in range(layer.num_heads):
        _zero_columns(silent, head)
        costs.append(loss(silent(x, is_causal=True)[0]) - whole)
    return torch.stack(costs)


COSTS_MISTAKES = {
    "the heads before stay silent, too: one head at a time, and remove its hook": _cumulative,
    "the sign is the other way: a cost is the loss without the head less that with it": (
        lambda *given: -_costs(*given)
    ),
    "that is the loss itself; subtract the loss with all heads": partial(_costs, less=False),
    "the layer may not see the future: is_causal=True": partial(_costs, is_causal=False),
    "all the other heads are silent, and this one speaks": partial(_costs, silence=_all_others),
    "a head without queries still attends, evenly; zero what it hands to out_proj": partial(
        _costs, silence=_zero_queries
    ),
    "that zeroes a part of the layer's *output*, which all heads have mixed; zero its input": (
        partial(_costs, silence=_zero_rows)
    ),
    "the bias of out_proj is gone, too; it belongs to no head": partial(_costs, silence=_with_bias),
}


@exercise
def settled(answer) -> str:
    """Check `settled(streams, norm, head, answers)` -> integers (N,).

    streams (blocks, N, d_model) are the vectors of N questions after every block, answers (N,) the
    right tokens; norm and head are the model's last two modules. For each question the first block
    from which on the lens names the answer and goes on naming it; the number of blocks if the last
    one does not.
    """
    cases, modules = [], []
    for blocks, N, d, V in ((3, 1, 4, 3), (4, 3, 5, 4), (6, 12, 6, 3)):
        norm, head = nn.LayerNorm(d), nn.Linear(d, V, bias=False)
        with torch.no_grad():
            norm.weight.normal_()
            norm.bias.normal_()
            head.weight.normal_()
        modules.append((norm, head))
        streams = torch.randn(blocks, N, d) + torch.randn(N, d)
        with torch.no_grad():
            answers = head(norm(streams[-1])).argmax(-1)
        answers[1::4] = (answers[1::4] + 1) % V  # some are wrong at the end
        cases.append({"number": len(cases), "streams": streams, "answers": answers})

    def bound(function: Callable) -> Callable:
        return lambda number, streams, answers: function(streams, *modules[number], answers)

    with torch.no_grad():
        compare(
            bound(answer),
            cases,
            bound(_settled),
            {text: bound(wrong) for text, wrong in SETTLED_MISTAKES.items()},
            numbers=np.integer,
        )
    return "answers that come early, late, go away again, or never come"


def _read(streams, norm, head, answers):
    return head(norm(streams)).argmax(-1) == answers  # (blocks, N)


def _settled(streams, norm, head, answers, *, read=_read):
    """The block, or what it would be with the lens made in another way."""
    right = read(streams, norm, head, answers).int()
    return (len(right) - right.flip(0).cumprod(0).sum(0),)


def _first_right(streams, norm, head, answers):
    right = _read(streams, norm, head, answers)
    return (torch.where(right.any(0), right.int().argmax(0), len(right)),)


def _last_wrong(streams, norm, head, answers):
    return (_settled(streams, norm, head, answers)[0] - 1,)


def _never_is_last(streams, norm, head, answers):
    return (_settled(streams, norm, head, answers)[0].clamp(max=len(streams) - 1),)


def _agrees_with_the_end(streams, norm, head, answers):
    said = head(norm(streams[-1])).argmax(-1)
    return _settled(streams, norm, head, said)


SETTLED_MISTAKES = {
    "that is the first block at which the answer is named; it may go away again": _first_right,
    "that is the last block at which it is *not* named; the next one is the first that counts": (
        _last_wrong
    ),
    "a question that is wrong at the end never settles: its number is that of all blocks": (
        _never_is_last
    ),
    "that is when the model's own last word settles; the question is about the right answer": (
        _agrees_with_the_end
    ),
    "the norm is left out; the output matrix has never read a vector without it": partial(
        _settled, read=lambda s, norm, head, answers: head(s).argmax(-1) == answers
    ),
    "the smallest logit is taken": partial(
        _settled, read=lambda s, norm, head, answers: head(norm(s)).argmin(-1) == answers
    ),
    "it counts how many blocks are right; say from which one on": lambda *given: (
        _read(*given).sum(0),
    ),
}
