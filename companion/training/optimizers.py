"""What updates the weights in `fit`: AdamW, another optimizer, or several as one."""

import inspect
import math

import torch
from torch import nn

from companion.validation import require_number


def adamw(model: nn.Module, betas: tuple[float, float], weight_decay: float) -> torch.optim.AdamW:
    """AdamW that lets only matrices decay, in one kernel for all parameters of a group."""
    if not isinstance(betas, tuple | list) or len(betas) != 2:
        raise TypeError(f"betas must be two numbers, got {betas!r}")
    parameters = [p for p in model.parameters() if p.requires_grad]
    groups = [
        {"params": [p for p in parameters if p.dim() >= 2]},
        {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0},
    ]
    fused = all(p.is_cuda or p.is_cpu for p in parameters) or None  # None: as torch chooses
    return torch.optim.AdamW(groups, betas=betas, weight_decay=weight_decay, fused=fused)


def as_one(made, model: nn.Module) -> torch.optim.Optimizer:
    """The optimizer that was made of a model, or the several that were made, as one."""
    several = made if isinstance(made, list | tuple) else [made]
    own = {id(parameter) for parameter in model.parameters()}
    for optimizer in several:
        kind = type(optimizer).__name__
        if not isinstance(optimizer, torch.optim.Optimizer):
            raise TypeError(f"optimizer must be a function that returns Optimizers, got a {kind}")
        closure = inspect.signature(optimizer.step).parameters.get("closure")
        if closure and closure.default is closure.empty:
            raise TypeError(f"{kind} asks for several losses in a step, and fit computes one")
        if isinstance(optimizer, torch.optim.SparseAdam):
            raise TypeError("SparseAdam takes sparse gradients alone, and those of fit are dense")
        if not all(id(p) in own for group in optimizer.param_groups for p in group["params"]):
            raise ValueError(
                f"the {kind} holds parameters that are not the model's; make it from those of the "
                "model that the function is called with"
            )
    return Several(several) if several is made else made


class Several(torch.optim.Optimizer):
    """Optimizers that share the parameters of a model among them; a step is a step of each."""

    def __init__(self, optimizers: list[torch.optim.Optimizer]) -> None:
        self.optimizers = optimizers
        super().__init__([group for one in optimizers for group in one.param_groups], {})

    @torch.no_grad()
    def step(self, closure=None) -> None:
        groups = iter(self.param_groups)
        for one in self.optimizers:  # groups and state are others after load_state_dict
            one.param_groups = [next(groups) for _ in one.param_groups]
            one.state = self.state
            one.step()


def set_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """Give every group the learning rate, times the group's own "lr_scale" if it has one."""
    require_number(learning_rate=rate)
    if not 0 <= rate < math.inf:
        raise ValueError(f"learning_rate must be at least 0 and finite, got {rate}")
    for group in optimizer.param_groups:
        group["lr"] = float(rate) * group.get("lr_scale", 1.0)  # one of numpy fits in no checkpoint
