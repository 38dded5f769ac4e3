"""A text shared out among machines: queries stay, keys and values go around."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from book.many_machines.network import Network


def attend(q: Tensor, k: Tensor, v: Tensor, seen: Tensor) -> tuple[Tensor, Tensor]:
    """Attention (H, T, d) over some of the keys, and the logarithm of its softmax's sum (H, T, 1).

    A query that sees none of them gets zeros, and minus infinity.
    """
    scores = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~seen, -math.inf)
    return scores.softmax(-1).nan_to_num() @ v, scores.logsumexp(-1, keepdim=True)


def merge(
    out1: Tensor,
    lse1: Tensor,
    out2: Tensor,
    lse2: Tensor,
) -> tuple[Tensor, Tensor]:
    """Attention over the keys of both, of attention over some and over some others."""
    lse = torch.logaddexp(lse1, lse2)
    return (lse1 - lse).exp() * out1 + (lse2 - lse).exp() * out2, lse


def ring_attention(
    net: Network,
    q: Sequence[Tensor],
    k: Sequence[Tensor],
    v: Sequence[Tensor],
    places: Sequence[Tensor],
) -> tuple[list[Tensor], list[list[int]]]:
    """Causal attention of a text of which machine r has the tokens at places[r].

    Returns:
        Each machine's outputs (H, T / N, d); and for each round, on each machine, the number of
        pairs of a query and a key that it sees.
    """
    N, keys, values = net.machines, list(k), list(v)
    results, pairs = [None] * N, []
    for step in range(N):
        pairs.append([0] * N)
        for r in range(N):
            seen = places[(r - step) % N] <= places[r][:, None]  # those that are here now
            pairs[-1][r] = int(seen.sum())
            if pairs[-1][r]:
                found = attend(q[r], keys[r], values[r], seen)
                results[r] = merge(*results[r], *found) if results[r] else found
        if step < N - 1:
            both = net.shift([torch.stack(own) for own in zip(keys, values, strict=True)])
            keys, values = zip(*both, strict=True)
    return [out for out, _ in results], pairs


def in_order(machines: int, length: int) -> list[Tensor]:
    """The places of a text, a piece of it for each machine."""
    return list(torch.arange(length).chunk(machines))


def striped(machines: int, length: int) -> list[Tensor]:
    """The places of a text dealt out like cards: token i to machine i mod N."""
    return [torch.arange(r, length, machines) for r in range(machines)]
