"""Counted operations, of which an entry of the race has a fixed number."""

import re
from collections.abc import Callable, Iterator

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry, sdpa_backward_flop_count, sdpa_flop_count

aten = torch.ops.aten
FORMULAS = {
    **flop_registry,  # and what torch computes attention with on a CPU, which it lacks
    aten._scaled_dot_product_flash_attention_for_cpu: (
        lambda q, k, v, *_, **__: sdpa_flop_count(q.shape, k.shape, v.shape)
    ),
    aten._scaled_dot_product_flash_attention_for_cpu_backward: (
        lambda grad, q, k, v, *_, **__: sdpa_backward_flop_count(
            grad.shape, q.shape, k.shape, v.shape
        )
    ),
}
# Without a formula, and more work than numbers go in or come out; or made of smaller operations.
HEAVY = re.compile(
    "mm|matmul|linear|conv|rnn|lstm|gru|attention|transformer|sparse|mkldnn|quantized|"
    "cdist|pdist|fft|linalg|cholesky|svd|solve|qr$"
)
LIGHT = {aten.linalg_vector_norm}
LOOK_UP = {aten.embedding, aten.gather, aten.index, aten.index_select}  # read what they return


class Refused(ValueError):
    """An entry that gets no score, and why."""


class Budget(TorchDispatchMode):
    """The operations of one training: `for spent in budget:` runs a step in each turn.

    A turn gets the share that was spent before it, 0.0 at first, and there is no other turn when
    one as large as the largest so far would not fit any more. Inside `with budget:` everything that
    torch computes is counted. A matrix product has as many operations as torch's `FlopCounterMode`
    says, two for each product of two numbers; all else has one for each number that it reads or
    writes, whichever are more, and a view has none.

    Args:
        operations: how many there are.
        watch: called as watch(share) whenever another hundredth has been spent.
    """

    def __init__(self, operations: int, watch: Callable[[float], None] = lambda share: None):
        super().__init__()
        self.operations, self.watch = operations, watch
        self.spent, self.steps, self.exceeded = 0, 0, False

    def __iter__(self) -> Iterator[float]:
        largest = 0
        while (before := self.spent) + largest <= self.operations:
            yield before / self.operations
            if self.spent == before:
                raise Refused("a turn of the loop over the budget computed nothing; train in it")
            largest = max(largest, self.spent - before)
            self.steps += 1

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs, packet = kwargs or {}, func.overloadpacket
        formula = FORMULAS.get(packet)
        if formula is None and packet not in LIGHT and HEAVY.search(packet.__name__):
            with self:
                out = func.decompose(*args, **kwargs)
            if out is NotImplemented:
                raise Refused(
                    f"nobody counts the operations of {packet}; write it with matrix products (@, "
                    "einsum, nn.Linear), convolutions or scaled_dot_product_attention"
                )
            return out
        out = func(*args, **kwargs)
        if formula is not None:
            self._spend(formula(*args, **kwargs, out_val=out))
        elif not func.is_view:
            read = 0 if packet in LOOK_UP else numbers(args)
            self._spend(max(read, numbers(out)))
        return out

    def _spend(self, operations: int) -> None:
        before = self.spent * 100 // self.operations
        self.spent += operations
        if self.spent > self.operations:
            self.exceeded = True
            raise Refused(
                f"more than the budget of {self.operations:.3g} operations, after {self.steps} "
                "turns of its loop; let `for spent in budget:` run the steps, all of about one size"
            )
        if self.spent * 100 // self.operations > before:
            self.watch(self.spent / self.operations)


def numbers(values) -> int:
    """How many numbers the tensors among the values have."""
    if isinstance(values, Tensor):
        return values.numel()
    if isinstance(values, list | tuple):
        return sum(map(numbers, values))
    return 0
