"""Batches for training: the batch of a step depends on the seed and the step alone.

What `batches` and `windows` return is called with the number of a step, from 1, as
`companion.training.fit` does. Any step may be asked for first, so that a run can go on from it.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

import torch
from torch import Tensor

from companion.data.sampling import seeded
from companion.validation import require_positive


def padded(sequences: Iterable[Sequence[int]], pad_id: int) -> Tensor:
    """B sequences of ids as one tensor, int64 (B, T): as long as the longest, pad_id at the end."""
    rows = [torch.as_tensor(row, dtype=torch.long) for row in sequences]
    ids = torch.full((len(rows), max(map(len, rows), default=0)), pad_id)
    for row, target in zip(rows, ids, strict=True):
        target[: len(row)] = row
    return ids


def batches(
    *tensors: Tensor, batch_size: int, seed: int, pad_id: int | None = None
) -> Callable[[int], Tensor | tuple[Tensor, ...]]:
    """A function from a step to its batch: rows in random order, each once before any comes again.

    Args:
        tensors: one or several, with the same number of rows: the examples.
        batch_size: rows of a batch. If it does not divide the number of rows, a few random ones are
            left out of each epoch.
        seed: decides the order.
        pad_id: if given, columns at the end that hold nothing else in the whole batch are cut off.

    Returns:
        A function of the step that gives the rows of one tensor, or a tuple of those of several.

    Raises:
        ValueError: no tensors, different numbers of rows, or fewer rows than a batch.
        TypeError: the seed, a size or a step is not a whole number.
    """
    sizes = {len(tensor) for tensor in tensors}
    if len(sizes) != 1:
        raise ValueError(
            f"got tensors with {sorted(sizes)} rows; expected at least one tensor, and as many "
            "rows in each"
        )
    (size,) = sizes
    require_positive(batch_size=batch_size)
    if batch_size > size:
        raise ValueError(f"batch_size is {batch_size}; choose 1 to {size}, the number of rows")
    per_epoch = size // batch_size
    _generator(seed, 0)  # a wrong seed is named here, not in the first step

    @lru_cache(maxsize=1)  # the data are shuffled once in an epoch, not at every step
    def order(epoch: int) -> Tensor:
        return torch.randperm(size, generator=_generator(seed, epoch))

    def batch(step: int) -> Tensor | tuple[Tensor, ...]:
        require_positive(step=step)
        epoch, place = divmod(step - 1, per_epoch)
        rows = order(epoch)[place * batch_size :][:batch_size]
        chosen = tuple(_cut(tensor[rows], pad_id) for tensor in tensors)
        return chosen if len(chosen) > 1 else chosen[0]

    return batch


def windows(
    token_ids: Sequence[int], *, batch_size: int, length: int, seed: int
) -> Callable[[int], Tensor]:
    """A function from a step to (batch_size, length): stretches of one long text, at random.

    Args:
        token_ids: the ids of the text.
        batch_size: stretches in a batch.
        length: tokens of each. To predict T tokens, each from those before it, takes T + 1.
        seed: decides where the stretches begin.

    Raises:
        ValueError: the text is shorter than one stretch, or a batch has none.
        TypeError: the seed, a size or a step is not a whole number.
    """
    require_positive(batch_size=batch_size, length=length)
    text = torch.as_tensor(token_ids, dtype=torch.long)
    starts = len(text) - length + 1
    if starts < 1:
        raise ValueError(f"length is {length}; choose 1 to {len(text)}, the length of the text")
    _generator(seed, 0)

    def batch(step: int) -> Tensor:
        require_positive(step=step)
        chosen = torch.randint(starts, (batch_size, 1), generator=_generator(seed, step))
        return text[chosen + torch.arange(length)]

    return batch


def _generator(seed: int, part: int) -> torch.Generator:
    return torch.Generator().manual_seed(seeded(f"batches {part}", seed).getrandbits(63))


def _cut(rows: Tensor, pad_id: int | None) -> Tensor:
    """Rows (B, T) without the last columns in which all are pad_id."""
    if pad_id is None or rows.dim() < 2:  # labels have no columns
        return rows
    real = (rows != pad_id).any(0).nonzero()
    return rows[:, : int(real.max()) + 1 if len(real) else 0]
