"""What an attention function may be given."""

import torch


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
