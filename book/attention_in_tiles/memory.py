"""How many bytes of tensors a computation holds at once, counted rather than sampled."""

import weakref
from collections.abc import Callable

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class LiveBytes(TorchDispatchMode):
    """Counts the bytes of the tensors that operations inside make, while these live.

    What a kernel keeps for itself while it runs is not a tensor, and is not seen.

    Attributes:
        held: bytes now.
        peak: most bytes so far.
    """

    def __init__(self) -> None:
        super().__init__()
        self.held = self.peak = 0
        self._known: set[int] = set()

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        given = {id(storage) for storage in _storages((args, kwargs))}
        result = operation(*args, **(kwargs or {}))
        for storage in _storages(result):
            if id(storage) not in given | self._known:  # no view, nothing done in place
                self._known.add(id(storage))
                self._change(storage.nbytes())
                weakref.finalize(storage, self._forget, id(storage), storage.nbytes())
        self.peak = max(self.peak, self.held)
        return result

    def _forget(self, number: int, size: int) -> None:
        self._known.discard(number)
        self._change(-size)

    def _change(self, size: int) -> None:
        self.held += size


def _storages(values) -> list:
    tensors = [x for x in tree_leaves(values) if isinstance(x, torch.Tensor)]
    return [tensor.untyped_storage() for tensor in tensors]


def peak_bytes(run: Callable[[], object]) -> int:
    """The most bytes of tensors that `run()` holds at once, beyond what was there before."""
    with LiveBytes() as live:
        run()
    return live.peak
