"""Masks are boolean, and True means "may attend"; they broadcast to the scores (..., T, S)."""

from numbers import Integral

import torch

from companion.validation import require_integers, require_not_negative, require_positive


def causal_mask(
    T: int, S: int | None = None, *, window: int | None = None, device=None
) -> torch.Tensor:
    """Which keys each query may attend to when nobody looks ahead.

    The last query is aligned with the last key, so with T < S the first S - T keys are the past
    that every query sees: that is the situation of a decoder with a cache.

    Args:
        T: number of queries.
        S: number of keys; T when left out.
        window: a sliding window: a query sees itself and the window - 1 keys before it.
        device: where to make the mask.

    Returns:
        Boolean tensor (T, S); entry (i, j) is True when i + S - T - window < j <= i + S - T.

    Raises:
        ValueError, TypeError: a size is negative, the window is not positive, or one is no int.

    Source: Vaswani et al. 2017, section 3.2.3 (https://arxiv.org/abs/1706.03762); sliding window:
    Beltagy et al. 2020, section 3.1 (https://arxiv.org/abs/2004.05150).
    """
    S = T if S is None else S
    require_not_negative(T=T, S=S)
    seen = torch.ones(T, S, dtype=torch.bool, device=device).tril(S - T)
    if window is None:
        return seen
    require_positive(window=window)
    return seen.triu(S - T - window + 1)


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
        raise TypeError(f"pad_id must be an int, got {pad_id!r}; without padding make no mask")
    if token_ids.dim() != 2:
        raise ValueError(f"token_ids must have shape (B, S), got {tuple(token_ids.shape)}")
    return (token_ids != pad_id)[:, None, None, :]


def causal(
    mask: torch.Tensor | None, T: int, S: int, *, window: int | None = None, device=None
) -> torch.Tensor | None:
    """The mask, and nobody looks ahead or out of the window; None if torch's is_causal says it all.

    That is so without a mask, for a whole sequence (T = S) and for a single query, the last one,
    which sees every key; not of a window in compiled code, where S may be left open.
    """
    fits = window is None or (not torch.compiler.is_compiling() and S <= window)
    if fits and (T == 1 or (T == S and mask is None)):
        return mask
    seen = causal_mask(T, S, window=window, device=device)
    return seen if mask is None else mask & seen
