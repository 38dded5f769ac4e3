"""The learning rate as a function of the step; `fit` counts its steps from 1."""

import math

from companion.validation import require_finite, require_not_negative, require_positive


def warmup_schedule(step: int, *, d_model: int, warmup_steps: int) -> float:
    """d_model^-0.5 min(step^-0.5, step warmup_steps^-1.5): a linear rise, then 1 / sqrt(step).

    Args:
        step: the first is 1.
        d_model: width of the model; wider models learn at a lower rate.
        warmup_steps: the step at which the rate is highest.

    Raises:
        ValueError, TypeError: the step or a size is below 1, or no int.

    Source: Vaswani et al. 2017, section 5.3, equation 3 (https://arxiv.org/abs/1706.03762).
    """
    require_positive(step=step, d_model=d_model, warmup_steps=warmup_steps)
    return d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5)


def cosine_schedule(
    step: int, *, max_lr: float, min_lr: float, warmup_steps: int, total_steps: int
) -> float:
    """A linear rise from 0 to max_lr, then half a cosine wave down to min_lr.

    Args:
        step: from 0, where the rate is 0 (max_lr without warm-up).
        max_lr: the rate at step `warmup_steps`.
        min_lr: the rate at step `total_steps` and after it.
        warmup_steps: may be 0.
        total_steps: more than `warmup_steps`.

    Raises:
        ValueError: the step is below 0, the rates are not 0 <= min_lr <= max_lr, or the steps are
            not 0 <= warmup_steps < total_steps.
        TypeError: a number of steps is not an int, or a rate is no number.

    Source: Loshchilov and Hutter 2017, equation 5, without restarts
    (https://arxiv.org/abs/1608.03983).
    """
    require_not_negative(step=step, warmup_steps=warmup_steps)
    require_positive(total_steps=total_steps)
    require_finite(max_lr=max_lr, min_lr=min_lr)
    if not warmup_steps < total_steps:
        raise ValueError(
            f"warmup_steps must be below total_steps, got {warmup_steps} of {total_steps} steps"
        )
    if not 0 <= min_lr <= max_lr:
        raise ValueError(f"rates must be 0 <= min_lr <= max_lr, got {min_lr} and {max_lr}")
    if step < warmup_steps:
        return max_lr * step / warmup_steps
    done = min(1.0, (step - warmup_steps) / (total_steps - warmup_steps))
    return min_lr + (max_lr - min_lr) * (1 + math.cos(math.pi * done)) / 2
