"""Attention that keeps a matrix instead of a cache: adding to it, or overwriting what it holds.

Shapes: T length, d_k width of a query and a key, d_v width of a value; any leading dimensions. The
matrix is S (..., d_v, d_k), zero at first. At each position it is written with a value and a key,
then read with a query: o_t = S_t q_t. All T positions are computed at once, for training; a model
that writes token by token keeps S alone, whose size does not grow with T.
"""

import math

import torch

from companion.kernels.tiled import full_precision
from companion.validation import check_query_key_value, require_tensor


def kept(key: torch.Tensor, log_decay: torch.Tensor | None) -> torch.Tensor:
    """The share (..., T, T) of what was written at s that is left at t; 0 where s is after t."""
    T = key.shape[-2]
    past = torch.ones(T, T, dtype=torch.bool, device=key.device).tril()
    if log_decay is None:
        return past.to(key.dtype)
    total = log_decay.to(key.dtype).cumsum(dim=-1)
    return (total[..., :, None] - total[..., None, :]).masked_fill(~past, -math.inf).exp()


def linear_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    *,
    log_decay: torch.Tensor | None = None,
) -> torch.Tensor:
    """Read S_t = a_t S_(t-1) + v_t k_t^T with the query: attention without a softmax.

    Without a decay a_t is 1, and output t is sum_(s <= t) (q_t . k_s) v_s. The scores are neither
    scaled nor normalised. Half precision is computed in float32; the result comes back in the dtype
    of the query.

    Args:
        query: (..., T, d_k).
        key: (..., T, d_k).
        value: (..., T, d_v).
        log_decay: (..., T), log a_t, at most 0 in a matrix that forgets; None for no decay.

    Returns:
        output (..., T, d_v).

    Raises:
        ValueError, TypeError: shapes do not fit together, or dtypes differ or are not floating.

    Source: Katharopoulos et al. 2020 (https://arxiv.org/abs/2006.16236), without feature map and
    denominator.
    """
    _check(query, key, value, log_decay=log_decay)
    with full_precision(query.device.type):
        q, k, v = (_at_least_float32(x) for x in (query, key, value))
        output = (q @ k.transpose(-2, -1) * kept(k, log_decay)) @ v
    return output.to(query.dtype)


def delta_rule(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    beta: torch.Tensor,
    *,
    log_decay: torch.Tensor | None = None,
) -> torch.Tensor:
    """Read S_t = a_t S_(t-1) + u_t k_t^T with u_t = beta_t (v_t - a_t S_(t-1) k_t): overwrite.

    With a key of length 1 and beta_t = 1, reading at k_t gives v_t. With a decay: gated delta rule.
    The u of all positions solve one triangular system, (I + L) U = diag(beta) V, where L is the
    strictly lower part of diag(beta) K K^T, faded.

    Args:
        query, value, log_decay, what is returned and raised: see `linear_attention`.
        key: (..., T, d_k), of length 1 where the rule is to be stable.
        beta: (..., T), how much of the old value is replaced: 0 nothing, 1 all of it.

    Source: Schlag et al. 2021 (https://arxiv.org/abs/2102.11174); in parallel, Yang et al. 2024
    (https://arxiv.org/abs/2406.06484); with a decay, Yang et al. 2024
    (https://arxiv.org/abs/2412.06464).
    """
    _check(query, key, value, beta=beta, log_decay=log_decay)
    with full_precision(query.device.type):
        q, k, v, strength = (_at_least_float32(x) for x in (query, key, value, beta[..., None]))
        left = kept(k, log_decay)
        mixed = ((strength * k) @ k.transpose(-2, -1) * left).tril(-1)
        written = torch.linalg.solve_triangular(
            mixed, strength * v, upper=False, unitriangular=True
        )
        output = (q @ k.transpose(-2, -1) * left) @ written
    return output.to(query.dtype)


def _at_least_float32(x: torch.Tensor) -> torch.Tensor:
    return x.to(torch.promote_types(x.dtype, torch.float32))


def _check(query, key, value, **numbers) -> None:
    """Raise unless there are as many queries as keys, and a number of each kind for every one."""
    check_query_key_value(query, key, value)
    if query.shape[-2] != key.shape[-2]:
        raise ValueError(
            "query and key must have the same length T, since each position writes and reads; got "
            f"{query.shape[-2]} and {key.shape[-2]}"
        )
    for name, x in numbers.items():
        if x is None:
            continue
        require_tensor(name, x)
        if x.dtype != query.dtype:
            raise TypeError(f"{name} must be {query.dtype}, as the query; got {x.dtype}")
        if x.shape != query.shape[:-1]:
            raise ValueError(
                f"{name} must have shape (..., T) = {tuple(query.shape[:-1])}, one number for each "
                f"position; got {tuple(x.shape)}"
            )
        if x.device != query.device:
            raise ValueError(f"{name} must be on {query.device}, with the query; got {x.device}")
