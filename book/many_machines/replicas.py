"""One GPT trained by several machines: the data in parallel, and the three stages of ZeRO."""

import copy
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.utils import parameters_to_vector as flat
from torch.nn.utils import vector_to_parameters
from torch.utils.checkpoint import checkpoint

from book.many_machines.network import (
    Exchange,
    Network,
    all_gather,
    all_reduce,
    reduce_scatter,
)
from companion.models import GPT, GPTConfig
from companion.training import next_token_loss

SIZES = GPTConfig(
    vocab_size=50, d_model=32, num_layers=3, num_heads=4, d_ff=128, max_len=32, dropout=0.0,
    tie_weights=False,
)  # fmt: skip
PADDING = 0
LOSS = next_token_loss(PADDING)  # the sum over the real tokens, and their number


def ragged(seed: int, rows: int = 16, length: int = 24) -> Tensor:
    """Rows (rows, length) of random tokens, from 4 of them to `length`: the shortest come first."""
    random = torch.Generator().manual_seed(seed)
    ids = torch.randint(1, SIZES.vocab_size, (rows, length), generator=random)
    lengths = torch.linspace(4, length, rows).long()
    return ids.masked_fill(torch.arange(length) >= lengths[:, None], PADDING)


def gradient(model: GPT, ids: Tensor) -> tuple[Tensor, Tensor]:
    """The gradient of the sum of the losses, as one vector, and the number of tokens (1,)."""
    total, count = LOSS(model, ids)
    parts = torch.autograd.grad(total, list(model.parameters()))
    return torch.cat([part.flatten() for part in parts]), count.to(total)[None]


class Adam:
    """Adam for a vector. Nothing in it looks from one entry at another."""

    def __init__(self, learning_rate: float = 1e-2):
        self.rate, self.mean, self.square, self.steps = learning_rate, 0.0, 0.0, 0

    def step(self, weights: Tensor, gradient: Tensor) -> Tensor:
        """The new weights."""
        self.steps += 1
        self.mean = 0.9 * self.mean + 0.1 * gradient
        self.square = 0.999 * self.square + 0.001 * gradient**2
        mean, square = self.mean / (1 - 0.9**self.steps), self.square / (1 - 0.999**self.steps)
        return weights - self.rate * mean / (square.sqrt() + 1e-8)


def divided(total: Tensor) -> Tensor:
    """A gradient of the mean, of one of the sum with the number of tokens as its last entry."""
    return total[:-1] / total[-1]


def data_parallel(
    net: Network,
    model: GPT,
    batches: Sequence[Tensor],
    exchange: Exchange,
    mean: Callable[[Tensor], Tensor] = divided,
) -> list[Tensor]:
    """The weights of every machine after a step of Adam for each batch; it gets its share of rows.

    `mean` makes of the exchanged sum, whose last entry is the number of tokens, what Adam gets.
    """
    models = [copy.deepcopy(model) for _ in range(net.machines)]
    adams = [Adam() for _ in models]
    for ids in batches:
        shares = zip(models, ids.chunk(net.machines), strict=True)
        found = [torch.cat(gradient(own, rows)) for own, rows in shares]
        totals = exchange(net, found)
        for own, adam, total in zip(models, adams, totals, strict=True):
            weights = flat(own.parameters()).detach()
            weights = adam.step(weights, mean(total))
            vector_to_parameters(weights, own.parameters())
    return [flat(own.parameters()).detach() for own in models]


def padded(vector: Tensor, machines: int) -> Tensor:
    """As long as a multiple of the number of machines, with zeros behind."""
    return torch.cat([vector, vector.new_zeros(-len(vector) % machines)])


def zero(net: Network, model: GPT, batches: Sequence[Tensor]) -> list[Tensor]:
    """Stages 1 and 2: machine r has Adam for part r of the weights, and updates this part alone.

    In stage 2 it also forgets every other part of the gradient; that changes no message.
    """
    N, models = net.machines, [copy.deepcopy(model) for _ in range(net.machines)]
    size, parts = len(flat(model.parameters())), padded(flat(model.parameters()).detach(), N)
    parts, adams = parts.chunk(N), [Adam() for _ in models]
    for ids in batches:
        shares = zip(models, ids.chunk(N), strict=True)
        totals, counts = zip(*(gradient(own, rows) for own, rows in shares), strict=True)
        counts = all_reduce(net, counts)
        sums = reduce_scatter(net, [padded(total, N) for total in totals])
        parts = [adams[r].step(parts[r], sums[r] / counts[r]) for r in range(N)]
        for own, weights in zip(models, all_gather(net, parts), strict=True):
            vector_to_parameters(weights[:size], own.parameters())
    return [flat(own.parameters()).detach() for own in models]


class Gather(torch.autograd.Function):
    """Forward, every machine gets the parts of all. Backward, each the sum for its own part."""

    @staticmethod
    def forward(ctx, net: Network, *parts: Tensor) -> tuple[Tensor, ...]:
        ctx.net = net
        return tuple(all_gather(net, parts))

    @staticmethod
    def backward(ctx, *gradients: Tensor) -> tuple[None, *tuple[Tensor, ...]]:
        return None, *reduce_scatter(ctx.net, gradients)


def units_of(model: GPT) -> list[nn.Module]:
    """The parts of a model whose weights are gathered together, from the first to the last."""
    first = nn.Sequential(model.token_embedding, model.positions)
    return [first, *model.blocks, nn.Sequential(model.final_norm, model.head)]


def computed(unit: nn.Module, vector: Tensor, x: Tensor) -> Tensor:
    """What a unit makes of x with the weights in a vector."""
    named, at = {}, 0
    for name, old in unit.named_parameters():
        named[name] = vector[at : at + old.numel()].view_as(old)
        at += old.numel()
    options = {} if isinstance(unit, nn.Sequential) else {"is_causal": True}
    return functional_call(unit, named, (x,), options)


def zero3(net: Network, model: GPT, batches: Sequence[Tensor], keep: bool = False) -> Tensor:
    """Stage 3: machine r has part r of every unit. A unit is gathered, used and forgotten.

    With `keep` it is not forgotten between its forward and its backward pass. Returns the weights
    of all machines, joined.
    """
    N, units = net.machines, units_of(model)
    parts = [padded(flat(unit.parameters()).detach(), N).chunk(N) for unit in units]
    adams = [[Adam() for _ in range(N)] for _ in units]

    def run(unit, *both):  # on every machine, with its own rows
        weights = Gather.apply(net, *both[:N])
        return tuple(computed(unit, w, x) for w, x in zip(weights, both[N:], strict=True))

    for ids in batches:
        rows = ids.chunk(N)
        parts = [[part.detach().requires_grad_() for part in own] for own in parts]
        x = [own[:, :-1] for own in rows]
        for unit, own in zip(units, parts, strict=True):
            if keep:
                x = run(unit, *own, *x)
            else:  # forgets what it has computed, and computes it again backward
                x = checkpoint(run, unit, *own, *x, use_reentrant=False)
        losses, counts = zip(
            *(LOSS(lambda _, out=out: out, own) for out, own in zip(x, rows, strict=True)),
            strict=True,
        )
        counts = all_reduce(net, [count.to(losses[0])[None] for count in counts])
        sum(losses).backward()  # each machine its own; here they all fit into one call
        parts = [
            [adam[r].step(own[r].detach(), own[r].grad / counts[r]) for r in range(N)]
            for adam, own in zip(adams, parts, strict=True)
        ]
    sizes = [len(flat(unit.parameters())) for unit in units]
    return torch.cat([torch.cat(own)[:size] for own, size in zip(parts, sizes, strict=True)])
