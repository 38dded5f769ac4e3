"""Checks for the exercises of book/who_copies.ipynb."""

from copy import deepcopy

import torch
from torch import nn

from book.checking.exercise import climb, exercise
from book.checking.rungs import edited, ladder
from companion.nn import MultiHeadAttention


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
    "queries and keys have changed places: weights[..., query, key]": edited(
        _scores, "weights[:, :, queries, keys]", "weights[:, :, keys, queries]"
    ),
    "it sums over the texts; take the mean": edited(
        _scores, "picked.mean((0, 2))", "picked.mean(2).sum(0)"
    ),
    "only the first text is used": edited(_scores, "picked.mean((0, 2))", "picked[0].mean(-1)"),
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


def a_layer(d_model: int, num_heads: int, *, bias: bool = False) -> MultiHeadAttention:
    """A layer with random weights, and random biases if it has any."""
    layer = MultiHeadAttention(d_model, num_heads, bias=bias)
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
        _costs, ".data[:, part] = 0", ".data *= (torch.arange(layer.d_model) // layer.d_v == head)"
    ),
    "the heads before stay silent, too: one head at a time, and remove its hook": edited(
        _costs, "silent = deepcopy(layer)", "silent = silent or deepcopy(layer)"
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
        climb(SETTLED, answer)
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


@ladder(_settled)
def SETTLED(settled):
    """named from the first block on, or from the second: it is the first of the blocks from
    which on the answer is named without a break, counted from 0: 0 and 1"""
    same = torch.nn.Identity()
    yield [
        settled(streams, same, same, torch.tensor([1]))
        for streams in (said(1, 1, 1), said(0, 1, 1))
    ]

    """named from the third of four blocks on: the number is 2"""
    same = torch.nn.Identity()
    yield settled(said(0, 2, 1, 1), same, same, torch.tensor([1]))

    """named, then lost, then named again: only what stays counts"""
    same = torch.nn.Identity()
    yield settled(said(1, 0, 1, 1), same, same, torch.tensor([1]))

    """wrong at the end: the number is that of all blocks, even if the answer was named
    before"""
    same = torch.nn.Identity()
    yield [
        settled(streams, same, same, torch.tensor([1]))
        for streams in (said(1, 1, 0), said(2, 0, 0))
    ]

    """the lens reads through the norm: the output matrix has never seen a vector without it"""
    norm, head = lens(6, 4)
    streams = torch.randn(5, 8, 6) + 2 * torch.randn(8, 6)
    yield settled(streams, norm, head, head(norm(streams[-1])).argmax(-1))

    """many questions, of which some are wrong at the end: each has a number of its own"""
    norm, head = lens(6, 3)
    streams, answers = torch.randn(6, 20, 6) + torch.randn(20, 6), torch.randint(3, (20,))
    yield settled(streams, norm, head, answers)


SETTLED.mistakes |= {
    "that is the last block at which it is *not* named; the next one is the first "
    "that counts": edited(_settled, "return blocks -", "return blocks - 1 -"),
    "the smallest logit is taken": edited(_settled, "argmax", "argmin"),
    "it counts how many blocks are right; say from which one on": edited(
        _settled, "return blocks -", "return"
    ),
    "that is the first block at which the answer is named; it may go away again": edited(
        _settled, "return", "return torch.where(right.any(0), right.argmax(0), blocks);"
    ),
    "a question that is wrong at the end never settles: its number is that of all blocks": edited(
        _settled, "right.flip(0).cumprod(0).sum(0)", "right.flip(0).cumprod(0).sum(0).clamp(min=1)"
    ),
    "that is when the model's own last word settles; the question is about the right "
    "answer": edited(_settled, "== answers", "== logits[-1].argmax(-1)"),
    "the norm is left out; the output matrix has never read a vector without it": edited(
        _settled, "head(norm(streams))", "head(streams)"
    ),
}
