"""In which format `fit` computes the forward pass and the loss."""

import torch


def best_precision(device: torch.device | str) -> str:
    """The fastest `mixed_precision` for `fit` that the device has units for.

    "bf16" on a GPU that computes in bfloat16, "fp16" on an older one, which only emulates it, and
    "no" everywhere else.
    """
    device = torch.device(device)
    if device.type != "cuda":
        return "no"
    with torch.cuda.device(-1 if device.index is None else device.index):  # -1: the current one
        has_bf16 = torch.cuda.is_bf16_supported(including_emulation=False)
    return "bf16" if has_bf16 else "fp16"
