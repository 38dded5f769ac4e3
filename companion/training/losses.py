"""How wrong a model's logits are, in nats for each real token.

`label_smoothing_loss` is a mean. What `fit` is given returns a sum and the number of real tokens in
it, so that sums from several parts of a batch can be added before they are divided.
"""

from collections.abc import Callable
from numbers import Integral

import torch
import torch.nn.functional as F
from torch import nn

from companion.validation import (
    require_in_range,
    require_integers,
    require_probability,
    require_tensor,
)

# No token has this number. F.cross_entropy's own -100 is the label of those who mean "no target":
# without a pad_id such a target is wrong, and has to be told like any other.
NO_TOKEN = torch.iinfo(torch.int64).min

Loss = Callable[[nn.Module, object], tuple[torch.Tensor, torch.Tensor]]


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
        return _summed_loss(model(token_ids[:, :-1]), token_ids[:, 1:], 0.0, pad_id)

    return loss


def masked_token_loss(pad_id: int) -> Loss:
    """For `fit`: a batch is (token_ids, targets), both (B, T).

    Some of the token ids are hidden; targets hold the hidden tokens, and pad_id everywhere else.
    """

    def loss(model, batch):
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
        source_ids, target_ids = batch
        logits = model(source_ids, target_ids[:, :-1])
        return _summed_loss(logits, target_ids[:, 1:], smoothing, pad_id)

    return loss


def class_loss(*, smoothing: float = 0.0) -> Loss:
    """For `fit`: a batch is (inputs (B, ...), labels (B,)), and the model gives each B its logits.

    `smoothing` is that of `label_smoothing_loss`. Every input counts as one token.
    """

    def loss(model, batch):
        inputs, labels = batch
        return _summed_loss(model(inputs), labels, smoothing, None)

    return loss


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
