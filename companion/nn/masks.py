"""Masks are boolean, and True means "may attend"; they broadcast to the scores (..., T, S)."""

from numbers import Integral

import torch

from companion.validation import require_integers, require_not_negative


def causal_mask(T: int, S: int | None = None, *, device=None) -> torch.Tensor:
    """Which keys each query may attend to when nobody looks ahead.

    The last query is aligned with the last key, so with T < S the first S - T keys are the past
    that every query sees: that is the situation of a decoder with a cache.

    Args:
        T: number of queries.
        S: number of keys; T when left out.
        device: where to make the mask.

    Returns:
        Boolean tensor (T, S); entry (i, j) is True when j <= i + S - T.

    Raises:
        ValueError: a size is negative.
        TypeError: a size is not an int.

    Source: Vaswani et al. 2017, section 3.2.3 (https://arxiv.org/abs/1706.03762).
    """
    S = T if S is None else S
    require_not_negative(T=T, S=S)
    return torch.ones(T, S, dtype=torch.bool, device=device).tril(S - T)


def padding_mask(token_ids: torch.Tensor, pad_id: int) -> torch.Tensor:
    """Which keys are real tokens rather than padding.

    Args:
        token_ids: integer tensor (B, S).
        pad_id: the id that fills up short sequences.

    Returns:
        Boolean tensor (B, 1, 1, S), True at real tokens: it broadcasts over heads and queries.

    Raises:
        ValueError: token_ids is not two-dimensional.
        TypeError: the ids or pad_id are not integers.
    """
    require_integers("token_ids", token_ids)
    if isinstance(pad_id, bool) or not isinstance(pad_id, Integral):
        raise TypeError(
            f"pad_id must be an int, got {pad_id!r}; without padding leave the mask out"
        )
    if token_ids.dim() != 2:
        raise ValueError(f"token_ids must have shape (B, S), got {tuple(token_ids.shape)}")
    return (token_ids != pad_id)[:, None, None, :]


def masked_once(mask: torch.Tensor | None, T: int, S: int, *, device) -> dict:
    """`mask` and `is_causal` for a stack of causal blocks, with the mask of both made here, once.

    Where torch's kernels need no mask (whole sequences without padding, a single query), and where
    the mask is one that the blocks will refuse, they are left as they are.
    """
    if T == 1 or (mask is None and T == S):
        return {"mask": mask, "is_causal": True}
    if mask is None:
        return {"mask": causal_mask(T, S, device=device), "is_causal": False}
    fits = isinstance(mask, torch.Tensor) and mask.dtype == torch.bool and mask.dim() >= 2
    if not fits or mask.shape[-2] not in (1, T) or mask.shape[-1] not in (1, S):
        return {"mask": mask, "is_causal": True}
    return {"mask": mask & causal_mask(T, S, device=device), "is_causal": False}
