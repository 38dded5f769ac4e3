"""Machines that share nothing: a tensor reaches another one only as a message, which is counted."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

Messages = dict[tuple[int, int], Tensor]  # by the machines from which and to which they go
Exchange = Callable[["Network", Sequence[Tensor]], list[Tensor]]  # a vector of each -> one for each


class Network:
    """Delivers messages in rounds, and counts their bytes.

    In a round every machine can send and receive at once, so a round takes as long as its busiest
    door: the most bytes that one machine has to let in, or out.

    Attributes:
        sent: the bytes that each machine has sent.
        door: the bytes through the busiest door, summed over the rounds.
        rounds: their number.
    """

    def __init__(self, machines: int):
        self.machines, self.sent = machines, [0] * machines
        self.door = self.rounds = 0

    def round(self, messages: Messages) -> Messages:
        """Deliver {(from, to): tensor}, all at once; a copy of each arrives."""
        out, into = [0] * self.machines, [0] * self.machines
        for (source, target), tensor in messages.items():
            out[source] += tensor.nbytes
            into[target] += tensor.nbytes
        self.sent = [a + b for a, b in zip(self.sent, out, strict=True)]
        self.door += max(out + into)
        self.rounds += 1
        return {pair: x.detach().clone() for pair, x in messages.items()}

    def shift(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        """Every machine sends to the next one, in a round: what each gets."""
        N = self.machines
        got = self.round({(r, (r + 1) % N): tensors[r] for r in range(N)})
        return [got[(r - 1) % N, r] for r in range(N)]


def reduce_scatter(net: Network, vectors: Sequence[Tensor]) -> list[Tensor]:
    """Of a vector of each machine: machine r gets part r of their sum, in N - 1 rounds."""
    N = net.machines
    held = [[part.clone() for part in vector.tensor_split(N)] for vector in vectors]
    for step in range(1, N):
        arrived = net.shift([held[r][(r - step) % N] for r in range(N)])
        for r in range(N):
            held[r][(r - step - 1) % N] += arrived[r]
    return [held[r][r] for r in range(N)]


def all_gather(net: Network, parts: Sequence[Tensor]) -> list[Tensor]:
    """Of a part of each machine: every machine gets all of them, joined, in N - 1 rounds."""
    N = net.machines
    held = [{r: parts[r]} for r in range(N)]
    for step in range(N - 1):
        arrived = net.shift([held[r][(r - step) % N] for r in range(N)])
        for r in range(N):
            held[r][(r - step - 1) % N] = arrived[r]
    return [torch.cat([held[r][i] for i in range(N)]) for r in range(N)]


def all_reduce(net: Network, vectors: Sequence[Tensor]) -> list[Tensor]:
    """Of a vector of each machine: every machine gets their sum, around the ring."""
    return all_gather(net, reduce_scatter(net, vectors))


def server(net: Network, vectors: Sequence[Tensor]) -> list[Tensor]:
    """The same by way of machine 0: all send it their vector, and it sends them the sum."""
    others = range(1, net.machines)
    got = net.round({(r, 0): vectors[r] for r in others})
    total = vectors[0] + sum(got.values())
    return [total, *net.round({(0, r): total for r in others}).values()]
