"""How wrong a model's logits are, in nats for each real token.

`label_smoothing_loss` is a mean. What `fit` is given returns a sum and the number of real tokens in
it, so that sums from several parts of a batch can be added before they are divided.
"""

from collections.abc import Callable
from numbers import Integral, Real

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

from companion.training.processes import rank_and_number
from companion.validation import (
    require_in_range,
    require_integers,
    require_positive,
    require_probability,
    require_tensor,
)

# No token has this number. F.cross_entropy's own -100 is the label of those who mean "no target":
# without a pad_id such a target is wrong, and has to be told like any other.
NO_TOKEN = torch.iinfo(torch.int64).min

Loss = Callable[..., tuple[torch.Tensor, torch.Tensor | float]]  # of the model and a batch


def label_smoothing_loss(
    logits: torch.Tensor, targets: torch.Tensor, *, smoothing: float, pad_id: int | None
) -> torch.Tensor:
    """The cross entropy to targets that keep a little doubt, averaged over the real tokens.

    A share `smoothing` of the target's probability is spread evenly over the whole vocabulary, the
    target and the padding token included, as in `F.cross_entropy(label_smoothing=...)`; with
    smoothing 0 this is the cross entropy. Half precision is computed in float32.

    Args:
        logits: (..., vocab_size).
        targets: integers (...); where they equal pad_id there is nothing to predict.
        smoothing: in [0, 1).
        pad_id: the token to leave out; None if every token is real.

    Returns:
        A scalar; 0 if there is no real token at all.

    Raises:
        ValueError: shapes do not fit, a target is out of range (checked on the CPU only), or the
            smoothing is not in [0, 1).
        TypeError: the targets are not integers, or the logits are not floating.

    Source: Szegedy et al. 2016, section 7 (https://arxiv.org/abs/1512.00567).
    """
    total, count = _summed_loss(logits, targets, smoothing, pad_id)
    return total / count.clamp(min=1)


def next_token_loss(pad_id: int | None) -> Loss:
    """For `fit`: a batch is token_ids (B, T), and each token is predicted from those before it.

    There is nothing to predict where the next token is pad_id; None if every token is real.
    """

    def loss(model, token_ids):
        _require_batch("next_token_loss", "token_ids (B, T)", token_ids)
        return _summed_loss(model(token_ids[:, :-1]), token_ids[:, 1:], 0.0, pad_id)

    return loss


def masked_token_loss(pad_id: int) -> Loss:
    """For `fit`: a batch is (token_ids, targets), both (B, T).

    Some of the token ids are hidden; targets hold the hidden tokens, and pad_id everywhere else.
    """

    def loss(model, batch):
        _require_batch("masked_token_loss", "(token_ids, targets)", batch, 2)
        token_ids, targets = batch
        return _summed_loss(model(token_ids), targets, 0.0, pad_id)

    return loss


def translation_loss(pad_id: int, *, smoothing: float = 0.1) -> Loss:
    """For `fit`: a batch is (source_ids (B, S), target_ids (B, T)).

    Every target starts with bos_id and ends with eos_id. The decoder reads all but its last token
    and is asked for all but the first; pad_id is left out, and `smoothing` is that of
    `label_smoothing_loss`.
    """

    def loss(model, batch):
        _require_batch("translation_loss", "(source_ids, target_ids)", batch, 2)
        # With and without smoothing: book/full_model/full_model.ipynb#cell-claim-smoothed
        source_ids, target_ids = batch
        logits = model(source_ids, target_ids[:, :-1])
        return _summed_loss(logits, target_ids[:, 1:], smoothing, pad_id)

    return loss


def class_loss(*, smoothing: float = 0.0) -> Loss:
    """For `fit`: a batch is (inputs (B, ...), labels (B,)), and the model gives each B its logits.

    `smoothing` is that of `label_smoothing_loss`. Every input counts as one token.
    """

    def loss(model, batch):
        _require_batch("class_loss", "(inputs, labels)", batch, 2)
        inputs, labels = batch
        return _summed_loss(model(inputs), labels, smoothing, None)

    return loss


@torch.no_grad()
def mean_loss(model: nn.Module, loss: Loss, examples, *, batch_size: int = 100) -> float:
    """The mean loss over the real tokens of some examples, for an `evaluate` of `fit`.

    Several processes share the examples out among them; each gets the mean over all.

    Args:
        model, loss: as for `fit`.
        examples: a tensor, or a tuple of tensors, with a row for each example.
        batch_size: how many rows the model takes at a time.
    """
    require_positive(batch_size=batch_size)
    rank, processes = rank_and_number()
    tensors = examples if isinstance(examples, tuple) else (examples,)
    if not all(isinstance(tensor, torch.Tensor) for tensor in tensors):
        kinds = ", ".join(type(tensor).__name__ for tensor in tensors)
        raise TypeError(f"examples must be a tensor or a tuple of tensors, got {kinds}")
    weights = next(model.parameters())
    sums = torch.zeros(
        2, device=weights.device, dtype=torch.promote_types(weights.dtype, torch.float32)
    )
    batches = list(zip(*(tensor.split(batch_size) for tensor in tensors), strict=True))
    for batch in batches[rank::processes]:
        rows = tuple(tensor.to(sums.device) for tensor in batch)
        sums += torch.stack(
            sum_and_count(loss(model, rows if isinstance(examples, tuple) else rows[0]))
        )
    if processes > 1:
        dist.all_reduce(sums)
    return (sums[0] / sums[1]).item()


def sum_and_count(lost) -> tuple[torch.Tensor, torch.Tensor]:
    """What `loss` returned, once seen to be a sum and a number of tokens, in float32 at least."""
    parts = lost if isinstance(lost, tuple) else (lost,)
    is_pair = len(parts) == 2 and isinstance(parts[0], torch.Tensor)
    if not is_pair or not isinstance(parts[1], torch.Tensor | Real):
        raise TypeError(
            "loss must return the sum of the losses of the real tokens, a tensor, and their "
            "number, as next_token_loss does; got "
            + " and ".join(type(part).__name__ for part in parts)
        )
    total, count = parts
    for name, part in (("sum", total), ("number", count)):
        if isinstance(part, torch.Tensor) and part.dim():
            raise ValueError(
                f"loss must return a sum and a number of shape (), got a {name} of shape "
                f"{tuple(part.shape)}; add up the losses of the tokens with .sum()"
            )
    exact = torch.promote_types(total.dtype, torch.float32)  # bfloat16 has no 257
    count = torch.as_tensor(count).to(exact).to(total.device, non_blocking=True)
    return total.to(exact), count


def _require_batch(name: str, expected: str, batch, length: int | None = None) -> None:
    """Raise unless a batch is a tensor, or a tuple or list of so many."""
    is_several = isinstance(batch, tuple | list)
    parts = batch if is_several else [batch]
    fits = is_several == (length is not None) and len(parts) == (length or 1)
    fits = fits and all(isinstance(part, torch.Tensor) for part in parts)
    if not fits or (not is_several and batch.dim() < 2):
        found = (f"{type(part).__name__} {tuple(getattr(part, 'shape', ()))}" for part in parts)
        got = f"({', '.join(found)})" if is_several else ", ".join(found)
        raise TypeError(f"{name} takes batches {expected}, got {got}")


def _summed_loss(logits, targets, smoothing, pad_id) -> tuple[torch.Tensor, torch.Tensor]:
    """The sum of the losses of the real tokens, in float32 at least, and how many there are."""
    require_tensor("logits", logits)
    require_probability(smoothing=smoothing)
    require_integers("targets", targets)
    if not logits.is_floating_point():
        raise TypeError(f"logits must be a floating tensor, got {logits.dtype}")
    if logits.shape[:-1] != targets.shape:
        raise ValueError(
            "logits (..., vocab_size) must agree with targets (...) in all but the last "
            f"dimension, got {tuple(logits.shape)} and {tuple(targets.shape)}"
        )
    if pad_id is not None and (isinstance(pad_id, bool) or not isinstance(pad_id, Integral)):
        raise TypeError(f"pad_id must be an int, or None if every token is real; got {pad_id!r}")
    # Counted, padding lowers the loss, though nothing leaks:
    # book/is_this_normal/is_this_normal.ipynb#cell-low-claims
    real = torch.ones_like(targets, dtype=torch.bool) if pad_id is None else targets != pad_id
    in_range = targets.masked_fill(~real, 0)
    require_in_range("targets", in_range, logits.shape[-1], "is vocab_size the tokenizer's?")
    total = F.cross_entropy(
        logits.reshape(-1, logits.shape[-1]).to(torch.promote_types(logits.dtype, torch.float32)),
        targets.reshape(-1).long(),
        reduction="sum",
        ignore_index=NO_TOKEN if pad_id is None else pad_id,
        label_smoothing=smoothing,
    )
    return total, real.sum()
