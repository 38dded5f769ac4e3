"""In which format `fit` computes the forward pass and the loss."""

import torch

PRECISIONS = {"no": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
LEAST_SCALE = 2.0**-24  # below it all numbers of float16 are 0


def grad_scaler(device: torch.device, mixed_precision: str) -> torch.amp.GradScaler:
    """What keeps the gradients of float16 in its range; of other formats, as they are.

    It begins with 1: a sum of losses carries the number of its tokens already.
    """
    is_needed = mixed_precision == "fp16"
    return torch.amp.GradScaler(device.type, init_scale=1.0, enabled=is_needed)


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
