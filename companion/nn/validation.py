"""What a constructor or a forward pass may be given, said once, with both numbers in the message."""

import torch


def require_positive(**sizes: int) -> None:
    """Raise unless every named size is an int of at least 1."""
    for name, size in sizes.items():
        if isinstance(size, bool) or not isinstance(size, int):
            raise TypeError(f"{name} must be an int, got {size!r} of type {type(size).__name__}")
        if size < 1:
            raise ValueError(f"{name} must be at least 1, got {size}")


def require_even(**sizes: int) -> None:
    """Raise unless every named size is a positive even int."""
    require_positive(**sizes)
    for name, size in sizes.items():
        if size % 2:
            raise ValueError(
                f"{name} must be even, since its entries are used in pairs; got {size}, use {size + 1}"
            )


def require_probability(**values: float) -> None:
    """Raise unless every named value lies in [0, 1)."""
    for name, value in values.items():
        if not 0.0 <= value < 1.0:
            raise ValueError(f"{name} must be in [0, 1), got {value}")


def require_choice(name: str, value: str, choices) -> None:
    """Raise unless `value` is one of `choices`."""
    if value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {listed}; got {value!r}")


def require_features(name: str, x: torch.Tensor, layout: str, width: int) -> None:
    """Raise unless `x` is a floating tensor laid out as `layout`, e.g. "(B, T, d_model)", `width` wide."""
    dims = layout.count(",") + 1
    last = layout.strip("()").split(",")[-1].strip()
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"{name} must be a torch.Tensor, got {type(x).__name__}")
    if x.dim() != dims or x.shape[-1] != width:
        raise ValueError(
            f"{name} must have shape {layout} with {last} = {width}, got {tuple(x.shape)}"
        )
    if not x.is_floating_point():
        raise TypeError(f"{name} must be a floating tensor, got {x.dtype}; embed token ids first")


def require_positions(positions: torch.Tensor, batch: int, length: int) -> None:
    """Raise unless `positions` is an integer tensor (T,) or (B, T)."""
    if positions.is_floating_point() or positions.dtype == torch.bool:
        raise TypeError(f"positions must be integers, got {positions.dtype}")
    if positions.shape not in ((length,), (batch, length), (1, length)):
        raise ValueError(
            f"positions must have shape (T,) = ({length},) or (B, T) = ({batch}, {length}), "
            f"got {tuple(positions.shape)}"
        )


def require_in_range(name: str, ids: torch.Tensor, size: int, remedy: str) -> None:
    """Raise unless every id lies in [0, size).

    Reads values, so it looks only at CPU tensors outside compiled code: a GPU is never made to wait.
    """
    if ids.is_floating_point() or ids.dtype == torch.bool:
        raise TypeError(f"{name} must be integers, got {ids.dtype}; convert with .long()")
    if ids.device.type != "cpu" or ids.numel() == 0 or torch.compiler.is_compiling():
        return
    low, high = (bound.item() for bound in ids.aminmax())
    if low < 0 or high >= size:
        raise ValueError(
            f"{name} must lie in [0, {size}), got values from {low} to {high}; {remedy}"
        )
