"""Checks for the exercises of book/inside_a_language_model.ipynb."""

from copy import deepcopy

import torch
from torch import nn

from book.checking.exercise import exercise, ladder
from book.checking.rungs import rungs
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
  - every query is paired with every key; each has one that is its own
    weights[:, :, queries, keys] => weights[:, :, queries][..., keys].mean(-1)
  - that is the weight of a token on itself
    queries - period + 1 => queries
  - only the last token is asked; every one with an earlier copy counts
    torch.arange(period, T) => torch.arange(T - 1, T)
  - it counts how often the strongest weight of a query is there; the mean weight is asked for
    weights[:, :, queries, keys] => (weights[:, :, queries].argmax(-1) == keys).float()
  - the smallest weight is taken; take the mean
    picked.mean((0, 2)) => picked.amin((0, 2))
  - the median weight is taken; take the mean
    picked.mean((0, 2)) => picked.transpose(0, 1).flatten(1).median(1).values
  - all weights on the first copy are added up; each query has one key, what followed its copy
    weights[:, :, queries, keys] => weights[:, :, queries, :period].sum(-1)
  - the largest weight is taken; take the mean
    picked.mean((0, 2)) => picked.amax((0, 2))
  - queries and keys have changed places: weights[..., query, key]
    weights[:, :, queries, keys] => weights[:, :, keys, queries]
a text that breaks off in its second copy: `period` says where that begins, however long it is
    weights = causal_weights(1, 1, 5)
    induction_scores(weights, 3)
  - the second half of the text is taken for the second copy; it begins at `period`
    torch.arange(period, T) => torch.arange(T - T // 2, T)
more than two copies: the last one before the token counts, and all later tokens have one
    weights = causal_weights(1, 1, 9)
    induction_scores(weights, 2)
  - only the second copy is asked; a third copy has an earlier one, too
    torch.arange(period, T) => torch.arange(period, min(T, 2 * period))
  - the weights on what followed all earlier copies are added up; the last one before the token
  counts
    weights[:, :, queries, keys] => (weights[:, :, period:] * EARLIER).sum(-1)
    EARLIER => (COPY & (torch.arange(T) > 0) & (torch.arange(T) <= keys[:, None]))
    COPY => ((queries[:, None] + 1 - torch.arange(T)) % period == 0)
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
    before="from book.inside_a_language_model.checks import causal_weights\n",
)


@exercise
def costs_of_silence(answer) -> str:
    """Check `costs_of_silence(layer, x, loss)` -> (H,).

    layer is a `MultiHeadAttention`, x (B, T, d_model); loss(output) is a number. For each head: the
    loss of the causal layer's output with this head silent, less that with all of them. Afterwards
    the layer is as it was.
    """
    ladder(COSTS_OF_SILENCE, _costs, costs_of_silence=answer)
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


COSTS_OF_SILENCE = rungs(
    _costs,
    """
with its only head silent the layer gives zeros: the cost is the loss of zeros, less the loss with
the head
    layer, x = a_layer(2, 1), torch.randn(1, 1, 2)
    costs_of_silence(layer, x, off)
  - the sign is the other way: a cost is the loss without the head less that with it
    torch.stack(costs) => -torch.stack(costs)
  - the head speaks half as loud, and is not silent
    .data[:, part] = 0 => .data[:, part] *= 0.5
  - the other heads are scaled up for the one that is silent; leave them as they are
    weight.data[:, part] = 0 => weight.data[:, part] = 0; silent.out_proj.weight.data *= SCALE
    SCALE => torch.tensor(layer.num_heads) / (layer.num_heads - 1)
  - what the head says is turned round, and not silent
    .data[:, part] = 0 => .data[:, part] *= -1
  - the sign of a cost is lost; a head may do harm
    torch.stack(costs) => torch.stack(costs).abs()
  - that is the loss itself; subtract the loss with all heads
    - whole =>
  - the loss is taken of how far the two outputs are apart; a cost is a difference of two losses
    loss(silent(x, is_causal=True)[0]) - whole => loss(layer(x)[0] - silent(x)[0])
  - that is the quotient of the two losses; a cost is their difference
    - whole => / whole
  - the difference is divided by the loss with all heads; leave that out
    - whole => / whole - 1
the bias of out_proj belongs to no head: it is there although the only head is silent
    layer, x = a_layer(2, 1, bias=True), torch.randn(1, 1, 2)
    costs_of_silence(layer, x, off)
  - the bias of out_proj is gone, too; it belongs to no head
    silent = deepcopy(layer) => silent = deepcopy(layer); silent.out_proj.bias = None
two heads and one word, at which both look with all their weight: in what out_proj reads, the
numbers of head 0 are the first layer.d_v, those of head 1 the next, and a silent head's are zero
    layer, x = a_layer(4, 2), torch.randn(1, 1, 4)
    costs_of_silence(layer, x, off)
  - that zeroes a part of the layer's *output*, which all heads have mixed; zero its input
    data[:, part] => data[part]
  - every H-th number is silent; the numbers of a head stand side by side, layer.d_v of them
    slice(head * layer.d_v, (head + 1) * layer.d_v) => slice(head, None, layer.num_heads)
  - a part of what comes out of out_proj is silent, and its bias with it; zero what goes in
    silent.out_proj.weight.data[:, part] = 0 => for p in silent.out_proj.parameters(): p[part] = 0
    silent = deepcopy(layer) => silent = deepcopy(layer).requires_grad_(False)
  - it is always the last head that is silent: a function made in a loop reads the loop's variable
  only when it is called; head=head as an argument keeps it
    head * layer.d_v, (head + 1) * layer.d_v => -layer.d_v, None
  - the heads come in reverse order
    range(layer.num_heads) => reversed(range(layer.num_heads))
  - all the other heads are silent, and this one speaks
    .data[:, part] = 0 => .data *= (torch.arange(layer.d_model) // layer.d_v == head)
  - the heads before stay silent, too: one head at a time, and remove its hook
    silent = deepcopy(layer) => silent = silent or deepcopy(layer)
  - only the first number of a head is silent; all its layer.d_v numbers are
    (head + 1) * layer.d_v) => head * layer.d_v + 1)
  - a head without queries still attends, evenly; zero what it hands to out_proj
    silent.out_proj.weight => silent.q_proj.weight.data[part] = 0; silent.q_proj.bias = None
    .data[:, part] = 0 =>
several words: the layer is causal, in both losses
    layer, x = a_layer(4, 2), torch.randn(1, 5, 4)
    costs_of_silence(layer, x, off)
  - the layer may not see the future: is_causal=True
    is_causal=True => is_causal=False
two texts, three heads, and biases
    layer, x = a_layer(6, 3, bias=True), torch.randn(2, 5, 6)
    costs_of_silence(layer, x, off)
the costs are right, but afterwards the layer gives another output: remove every hook, and put back
every weight that you change
    layer, x = a_layer(8, 4, bias=True), torch.randn(2, 3, 8)
    found = costs_of_silence(layer, x, off)
    layer(x, is_causal=True)[0]
the costs are right, but afterwards the layer is in evaluation mode, which it was not
    layer, x = a_layer(4, 2), torch.randn(1, 2, 4)
    found = costs_of_silence(layer, x, off)
    layer.training
""",
    before="from book.inside_a_language_model.checks import a_layer, off\n",
)


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
named from the first block on, or from the second: it is the first of the blocks from which on the
answer is named without a break, counted from 0: 0 and 1
    same = torch.nn.Identity()
    [settled(streams, same, same, torch.tensor([1])) for streams in (said(1, 1, 1), said(0, 1, 1))]
  - that is the last block at which it is *not* named; the next one is the first that counts
    return blocks - => return blocks - 1 -
  - an answer counts if it is among the first two; it has to be the first
    (logits.argmax(-1) == answers) => (logits.topk(2).indices == answers[:, None]).any(-1)
  - the last block is not looked at
    right.flip(0) => right[:-1].flip(0)
  - the last block is not looked at, and not counted
    blocks = len(right) => right = right[:-1]; blocks = len(right)
  - the first block is not looked at
    right.flip(0) => right[1:].flip(0)
  - the smallest logit is taken
    argmax => argmin
  - blocks are counted from 0; here they are counted from 1
    return blocks => return 1 + blocks
  - it counts how many blocks are right; say from which one on
    return blocks - => return
  - the blocks before the first wrong one are counted, from the front; begin at the last block
    right.flip(0) => right
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
  - it goes along the questions; a question's blocks are the first axis
    right.flip(0).cumprod(0) => right.flip(1).cumprod(1)
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
    before="from book.inside_a_language_model.checks import lens, said\n",
)
