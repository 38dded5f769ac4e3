"""Batches on the model's device, the next one while the device still computes."""

from collections.abc import Callable, MutableMapping
from copy import copy
from itertools import pairwise

from torch import Tensor


class Prefetcher:
    """The micro-batches of this process, on the device: its rows of each step's batch.

    Each of `num_processes` processes has `accumulate` of them, all of almost equal numbers of rows.
    On any device but the CPU, a loop that has come to their end makes the next step's batch while
    the device still computes; to a GPU it is copied from pinned memory.
    """

    def __init__(self, batches, device, steps, accumulate=1, rank=0, num_processes=1) -> None:
        self.batches, self.device, self.steps = batches, device, steps
        self.accumulate, self.rank, self.num_processes = accumulate, rank, num_processes
        self.ready = {}  # step -> its micro-batches

    def __call__(self, step: int) -> "MicroBatches":
        """The micro-batches of a step.

        Raises:
            ValueError: the batch has fewer rows than there are parts, or unequal numbers of them.
        """
        parts = MicroBatches(self.ready.pop(step, None) or self._split(self.batches(step)))
        parts.then = lambda: self._prefetch(step + 1)
        return parts

    def _prefetch(self, step: int) -> None:
        """Make the batch of a step now, if there is such a step, for the call with it."""
        if self.device.type != "cpu" and step <= self.steps:
            self.ready[step] = self._split(self.batches(step))

    def _split(self, batch) -> list:
        number = self.accumulate * self.num_processes
        if number == 1:
            return [_map(self._to_device, batch)]
        sizes = set()
        _map(lambda tensor: sizes.add(len(tensor) if tensor.dim() else 0), batch)
        if len(sizes) != 1:
            raise ValueError(
                "a batch that is split needs tensors with as many rows in each, got tensors with "
                f"{sorted(sizes)} rows"
            )
        (rows,) = sizes
        if rows < number:
            raise ValueError(
                f"a batch of {rows} rows cannot be split into {number} parts "
                f"({self.accumulate} in each of {self.num_processes} processes); make batches "
                "larger or accumulate smaller"
            )
        first = self.rank * self.accumulate
        ends = [part * rows // number for part in range(first, first + self.accumulate + 1)]
        return [
            _map(lambda tensor, rows=slice(*rows): self._to_device(tensor[rows]), batch)
            for rows in pairwise(ends)
        ]

    def _to_device(self, tensor: Tensor) -> Tensor:
        if tensor.is_meta:
            raise ValueError("a batch is on the meta device, where it has no values; make another")
        if self.device.type == "cuda" and tensor.device.type == "cpu":
            return tensor.pin_memory().to(self.device, non_blocking=True)
        return tensor.to(self.device)


class MicroBatches(list):
    """The parts of a batch; `then` is called when a loop over them has come to its end."""

    def __iter__(self):
        yield from super().__iter__()
        self.then()


def _map(function: Callable[[Tensor], object], batch):
    """The batch with the function of each tensor in its place."""
    if isinstance(batch, Tensor):
        return function(batch)
    if isinstance(batch, MutableMapping):
        mapped = copy(batch)  # of a kind that is made otherwise than dict, perhaps
        mapped.update({name: _map(function, entry) for name, entry in batch.items()})
        return mapped
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*(_map(function, entry) for entry in batch))
    if isinstance(batch, tuple | list):
        return type(batch)(_map(function, entry) for entry in batch)
    return batch
