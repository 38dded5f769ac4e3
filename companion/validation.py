"""What a constructor or a forward pass may be given, with both numbers in the message."""

from numbers import Real

import torch


def require_tensor(name: str, x) -> None:
    """Raise unless `x` is a tensor."""
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"{name} must be a torch.Tensor, got {type(x).__name__}")


def require_positive(**sizes: int) -> None:
    """Raise unless every named size is an int of at least 1."""
    _require_at_least(1, sizes)


def require_not_negative(**counts: int) -> None:
    """Raise unless every named count is an int of at least 0."""
    _require_at_least(0, counts)


def _require_at_least(least: int, numbers: dict) -> None:
    for name, number in numbers.items():
        if isinstance(number, bool) or not isinstance(number, int):
            kind = type(number).__name__
            raise TypeError(f"{name} must be an int, got {number!r} of type {kind}")
        if number < least:
            raise ValueError(f"{name} must be at least {least}, got {number}")


def require_even(**sizes: int) -> None:
    """Raise unless every named size is a positive even int."""
    require_positive(**sizes)
    for name, size in sizes.items():
        if size % 2:
            raise ValueError(
                f"{name} must be even, since its entries are used in pairs; got {size}, "
                f"use {size + 1}"
            )


def require_number(**values: float) -> None:
    """Raise unless every named value is a number, whole or not."""
    for name, value in values.items():
        if not isinstance(value, Real):
            raise TypeError(
                f"{name} must be a number, got {value!r} of type {type(value).__name__}"
            )


def require_probability(**values: float) -> None:
    """Raise unless every named value lies in [0, 1)."""
    require_number(**values)
    for name, value in values.items():
        if not 0.0 <= value < 1.0:
            raise ValueError(f"{name} must be in [0, 1), got {value}")


def require_choice(name: str, value: str, choices) -> None:
    """Raise unless `value` is one of `choices`."""
    if value not in tuple(choices):
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {listed}; got {value!r}")


def require_heads(
    d_model: int, num_heads: int, num_kv_heads: int | None, d_k: int | None, d_v: int | None
) -> None:
    """Raise unless d_model divides into heads of width d_k and d_v, where these are left out."""
    num_kv_heads = num_heads if num_kv_heads is None else num_kv_heads
    require_positive(d_model=d_model, num_heads=num_heads, num_kv_heads=num_kv_heads)
    if d_model % num_heads and (d_k is None or d_v is None):
        raise ValueError(
            f"d_model = {d_model} does not divide into num_heads = {num_heads}; "
            "choose a multiple, or give d_k and d_v"
        )
    if num_heads % num_kv_heads:
        raise ValueError(
            f"num_heads = {num_heads} must be a multiple of num_kv_heads = {num_kv_heads}, "
            "so that every key head serves as many query heads"
        )
    for name, width in (("d_k", d_k), ("d_v", d_v)):
        if width is not None:
            require_positive(**{name: width})


def require_features(name: str, x: torch.Tensor, layout: str, width: int) -> None:
    """Raise unless `x` is a floating tensor `width` wide with a `layout` like "(B, T, d_model)"."""
    require_tensor(name, x)
    if not x.is_floating_point():
        raise TypeError(f"{name} must be a floating tensor, got {x.dtype}; embed token ids first")
    if x.dim() != layout.count(",") + 1 or x.shape[-1] != width:
        last = layout.strip("()").split(",")[-1].strip()
        raise ValueError(
            f"{name} must have shape {layout} with {last} = {width}, got {tuple(x.shape)}"
        )


def require_integers(name: str, ids: torch.Tensor) -> None:
    """Raise unless `ids` is a tensor that can index (int32 or int64)."""
    require_tensor(name, ids)
    if ids.dtype not in (torch.int32, torch.int64):
        raise TypeError(f"{name} must be int64 or int32, got {ids.dtype}; convert with .long()")


def require_tokens(name: str, ids: torch.Tensor) -> None:
    """Raise unless `ids` is an integer tensor (B, T)."""
    require_integers(name, ids)
    if ids.dim() != 2:
        raise ValueError(
            f"{name} must have shape (B, T), got {tuple(ids.shape)}; "
            "one sequence alone becomes a batch with ids[None]"
        )


def require_positions(positions: torch.Tensor, batch: int, length: int) -> None:
    """Raise unless `positions` is an integer tensor (T,) or (B, T)."""
    require_integers("positions", positions)
    if positions.shape not in ((length,), (batch, length), (1, length)):
        raise ValueError(
            f"positions must have shape (T,) = ({length},) or (B, T) = ({batch}, {length}), "
            f"got {tuple(positions.shape)}"
        )


def require_in_range(name: str, ids: torch.Tensor, size: int, remedy: str) -> None:
    """Raise unless every id lies in [0, size).

    Reads values, so it looks only at CPU tensors outside compiled code: no GPU is made to wait.
    """
    require_integers(name, ids)
    if ids.device.type != "cpu" or ids.numel() == 0 or torch.compiler.is_compiling():
        return
    low, high = (bound.item() for bound in ids.aminmax())
    if low < 0 or high >= size:
        raise ValueError(
            f"{name} must lie in [0, {size}), got values from {low} to {high}; {remedy}"
        )


def check_query_key_value(query, key, value) -> None:
    """Raise unless query (..., T, d_k), key (..., S, d_k) and value (..., S, d_v) fit together."""
    named = (("query", query), ("key", key), ("value", value))
    for name, x in named:
        if not isinstance(x, torch.Tensor):
            raise TypeError(f"{name} must be a torch.Tensor, got {type(x).__name__}")
    for name, x in named:
        if not x.is_floating_point() or x.dtype != query.dtype:
            raise TypeError(
                "query, key and value must have the same floating dtype, got "
                f"{query.dtype}, {key.dtype} and {value.dtype}"
            )
        if x.dim() < 2:
            raise ValueError(f"{name} must have shape (..., length, width), got {tuple(x.shape)}")
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(
            f"query and key must have the same width d_k, got {query.shape[-1]} and {key.shape[-1]}"
        )
    if query.shape[-1] == 0:
        raise ValueError("the width d_k must be at least 1, got 0: there is nothing to compare")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(
            f"key and value must have the same length S, got {key.shape[-2]} and {value.shape[-2]}"
        )
    if not query.shape[:-2] == key.shape[:-2] == value.shape[:-2]:
        raise ValueError(
            "query, key and value must have the same leading (batch, head) dimensions, got "
            f"{tuple(query.shape[:-2])}, {tuple(key.shape[:-2])} and {tuple(value.shape[:-2])}; "
            "expand() the smaller ones first"
        )
    if not query.device == key.device == value.device:
        raise ValueError(
            "query, key and value must be on the same device, got "
            f"{query.device}, {key.device} and {value.device}; move them with .to(device)"
        )


def check_block_size(block_size: int) -> None:
    """Raise unless the side of a tile is an int of at least 1."""
    if isinstance(block_size, bool) or not isinstance(block_size, int):
        raise TypeError(
            f"block_size must be an int, got {block_size!r} of type {type(block_size).__name__}"
        )
    if block_size < 1:
        raise ValueError(f"block_size must be at least 1, got {block_size}")
