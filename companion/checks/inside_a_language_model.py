"""Checks for the exercises of book/inside_a_language_model.ipynb."""

from collections.abc import Callable
from copy import deepcopy
from functools import partial

import torch
from torch import nn

from companion.checks.exercise import Mistake, compare, exercise, ladder, show
from companion.checks.rungs import rungs
from companion.nn import MultiHeadAttention


@exercise
def induction_scores(answer) -> str:
    """Check `induction_scores(weights, period)` -> (H,).

    weights (B, H, T, T) are causal attention weights on texts that repeat after `period` tokens.
    For each head the mean weight on what followed the earlier copy of the token, over all texts and
    all tokens of which there is an earlier copy.
    """
    ladder(INDUCTION_SCORES, _scores, induction_scores=answer)
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


INDUCTION_SCORES = rungs(
    _scores,
    """
one head, one text, twice: the second copy's tokens are the queries, and what followed the first
copy's are the keys
    weights = causal_weights(1, 1, 8)
    induction_scores(weights, 4)
  - that is the weight on the earlier copy itself; the answer is what *followed* it
    queries - period + 1 => queries - period
  - that is the weight on what came *before* the earlier copy
    keys = queries - period + 1 => queries = queries[1:]; keys = queries - period - 1
  - that is the previous-token score: the weight on the token just before
    queries - period + 1 => queries - 1
  - that is the weight on the token two places behind the earlier copy; one is asked for
    queries - period + 1 => queries - period + 2
  - the first copy is counted, too; nothing can be copied there
    torch.arange(period, T) => torch.arange(period - 1, T)
  - that is the weight on what came before the earlier copy, for the first one the last token of all
    queries - period + 1 => queries - period - 1
  - the first token of the second copy is left out; it has an earlier copy, too
    torch.arange(period, T) => torch.arange(period + 1, T)
  - the last token is left out; it has an earlier copy, too
    torch.arange(period, T) => torch.arange(period, T - 1)
  - it sums over the tokens; take the mean
    picked.mean((0, 2)) => picked.sum(2).mean(0)
  - the mean is taken over all tokens; those without an earlier copy do not count
    picked.mean((0, 2)) => picked.sum(2).mean(0) / T
  - the largest weight is taken; take the mean
    picked.mean((0, 2)) => picked.amax((0, 2))
  - queries and keys have changed places: weights[..., query, key]
    weights[:, :, queries, keys] => weights[:, :, keys, queries]
a text that breaks off in its second copy
    weights = causal_weights(1, 1, 5)
    induction_scores(weights, 3)
  - the second half of the text is taken for the second copy; it begins at `period`
    torch.arange(period, T) => torch.arange(T - T // 2, T)
more than two copies: the last one before the token counts, and all later tokens have one
    weights = causal_weights(1, 1, 9)
    induction_scores(weights, 2)
  - only the second copy is asked; a third copy has an earlier one, too
    torch.arange(period, T) => torch.arange(period, min(T, 2 * period))
  - the first copy of all is looked up; where there are several, the last one counts
    queries - period + 1 => queries % period + 1
three heads: a number for each
    weights = causal_weights(1, 3, 7)
    induction_scores(weights, 4)
  - the heads are averaged, too; each has a number of its own
    picked.mean((0, 2)) => picked.mean()
several texts: the mean over all of them
    weights = causal_weights(4, 2, 7)
    induction_scores(weights, 3)
  - it sums over the texts; take the mean
    picked.mean((0, 2)) => picked.mean(2).sum(0)
  - only the first text is used
    picked.mean((0, 2)) => picked[0].mean(-1)
  - each text has a number of its own; the mean over the texts is asked for
    picked.mean((0, 2)) => picked.mean(2)
""",
    before="from companion.checks.inside_a_language_model import causal_weights\n",
)


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
            otherwise="a cost is the loss with this head's part of out_proj's input at zero, less "
            "the loss with all heads; one for each head",
        )
        for (layer, x), output in zip(pairs, before, strict=True):
            if not torch.equal(layer(x, is_causal=True)[0], output):
                raise Mistake(
                    "the costs are right, but afterwards the layer gives another output: remove "
                    "every hook, and put back every weight that you change",
                    show({"x": x, "output before": output}),
                )
    if not all(layer.training for layer in own):
        raise Mistake(
            "the costs are right, but afterwards the layer is in evaluation mode, which it was not",
            "layer.training before = True, afterwards = False",
        )
    return "layers of two to four heads, with biases and without; each is whole afterwards"


def _layer(d_model: int, num_heads: int, bias: bool) -> MultiHeadAttention:
    layer = MultiHeadAttention(d_model, num_heads, bias=bias)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.normal_(std=0.7)
    return layer


def _part(layer, head) -> slice:
    return slice(head * layer.d_v, (head + 1) * layer.d_v)


def _zero_columns(layer, head):
    layer.out_proj.weight.data[:, _part(layer, head)] = 0


def _zero_every_other(layer, head):
    layer.out_proj.weight.data[:, head :: layer.num_heads] = 0


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
    "every H-th number is silent; the numbers of a head stand side by side, layer.d_v of them": (
        partial(_costs, silence=_zero_every_other)
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
    with torch.no_grad():
        ladder(SETTLED, _settled, settled=answer)
    return "answers that come early, late, go away again, or never come, and a norm that matters"


def lens(d_model: int, vocab_size: int) -> tuple[nn.LayerNorm, nn.Linear]:
    """A norm with random weights, and an output matrix."""
    norm, head = nn.LayerNorm(d_model), nn.Linear(d_model, vocab_size, bias=False)
    for parameter in (*norm.parameters(), *head.parameters()):
        nn.init.normal_(parameter)
    return norm, head


def said(*words: int) -> torch.Tensor:
    """Streams (blocks, 1, 3) of one question: after each block, this word has the largest entry."""
    return torch.eye(3)[list(words)][:, None] * torch.tensor([2.0, 3.0, 4.0])


def _settled(streams, norm, head, answers):
    logits = head(norm(streams))
    right = (logits.argmax(-1) == answers).int()
    blocks = len(right)
    return blocks - right.flip(0).cumprod(0).sum(0)


SETTLED = rungs(
    _settled,
    """
named from the first block on, or from the second: the numbers are 0 and 1
    same = torch.nn.Identity()
    [settled(streams, same, same, torch.tensor([1])) for streams in (said(1, 1, 1), said(0, 1, 1))]
  - that is the last block at which it is *not* named; the next one is the first that counts
    return blocks - => return blocks - 1 -
  - the smallest logit is taken
    argmax => argmin
  - blocks are counted from 0; here they are counted from 1
    return blocks => return 1 + blocks
  - it counts how many blocks are right; say from which one on
    return blocks - => return
named from the third of four blocks on: the number is 2
    same = torch.nn.Identity()
    settled(said(0, 2, 1, 1), same, same, torch.tensor([1]))
named, then lost, then named again: only what stays counts
    same = torch.nn.Identity()
    settled(said(1, 0, 1, 1), same, same, torch.tensor([1]))
  - that is the first block at which the answer is named; it may go away again
    return => return torch.where(right.any(0), right.argmax(0), blocks);
  - it counts how many blocks are wrong; a wrong one in between starts the count anew
    right.flip(0).cumprod(0).sum(0) => right.sum(0)
wrong at the end: the number is that of all blocks, even if the answer was named before
    same = torch.nn.Identity()
    [settled(streams, same, same, torch.tensor([1])) for streams in (said(1, 1, 0), said(2, 0, 0))]
  - a question that is wrong at the end never settles: its number is that of all blocks
    right.flip(0).cumprod(0).sum(0) => right.flip(0).cumprod(0).sum(0).clamp(min=1)
  - that is when the model's own last word settles; the question is about the right answer
    == answers => == logits[-1].argmax(-1)
the lens reads through the norm: the output matrix has never seen a vector without it
    norm, head = lens(6, 4)
    streams = torch.randn(5, 8, 6) + 2 * torch.randn(8, 6)
    settled(streams, norm, head, head(norm(streams[-1])).argmax(-1))
  - the norm is left out; the output matrix has never read a vector without it
    head(norm(streams)) => head(streams)
many questions, of which some are wrong at the end: each has a number of its own
    norm, head = lens(6, 3)
    streams, answers = torch.randn(6, 20, 6) + torch.randn(20, 6), torch.randint(3, (20,))
    settled(streams, norm, head, answers)
""",
    before="from companion.checks.inside_a_language_model import lens, said\n",
)
