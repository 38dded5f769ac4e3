"""The training loop."""

import math
import os
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from numbers import Real
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from tqdm.auto import tqdm

from companion.training.checkpoints import load_checkpoint, require_savable, save_checkpoint
from companion.training.losses import Loss
from companion.training.optimizers import adamw, as_one, set_rate
from companion.training.prefetching import Prefetcher
from companion.training.processes import (
    deferred_interrupt,
    in_any_process,
    join_processes,
    of_first_process,
)
from companion.validation import require_choice, require_number, require_positive

PRECISIONS = ("no", "bf16")


@dataclass
class History:
    """What happened in training, as lists ready to plot.

    Attributes:
        loss: of each step, before its update: the mean over the real tokens of its batch.
        learning_rate: of each step.
        grad_norm: of each step, before clipping.
        tokens: the number of real tokens in each step's batch.
        evaluated_at: the steps after which the model was evaluated.
        evaluations: what `evaluate` returned after them.
    """

    loss: list[float] = field(default_factory=list)
    learning_rate: list[float] = field(default_factory=list)
    grad_norm: list[float] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    evaluated_at: list[int] = field(default_factory=list)
    evaluations: list = field(default_factory=list)

    @property
    def step(self) -> list[int]:
        """The steps, from 1."""
        return list(range(1, len(self.loss) + 1))


def train_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    loss: Loss,
    micro_batches: Sequence,
    *,
    step: int,
    max_grad_norm: float = 1.0,
    mixed_precision: str = "no",
) -> tuple[float, float, int]:
    """Update the weights once, by the gradient of the mean loss over the real tokens of a batch.

    Args:
        model: a module, or a DistributedDataParallel around it, in each of several processes.
        optimizer: of the model's parameters, its learning rate set.
        loss: as for `fit`.
        micro_batches: the parts of the batch of this process, on its device.
        step: the number of the step, for messages.
        max_grad_norm, mixed_precision: as for `fit`.

    Returns:
        The mean loss before the update, the norm of the gradient before clipping, and the number
        of real tokens.
    """
    parameters = [p for p in model.parameters() if p.requires_grad]
    device, is_replica = parameters[0].device, isinstance(model, DistributedDataParallel)
    optimizer.zero_grad()
    sums = 0.0  # of the losses, and how many tokens they are of
    for number, micro_batch in enumerate(micro_batches, 1):
        # Gradients of the sums add up over the parts, and after the last over the processes.
        with model.no_sync() if is_replica and number < len(micro_batches) else nullcontext():
            with torch.autocast(device.type, torch.bfloat16, enabled=mixed_precision == "bf16"):
                total, count = _sum_and_count(loss(model, micro_batch))
            total.backward()
        sums = sums + torch.stack([total.detach(), count])
    if is_replica:
        dist.all_reduce(sums)
    scale = (dist.get_world_size() if is_replica else 1) / sums[1]  # DDP averages over processes
    for parameter in parameters:
        if parameter.grad is not None:
            parameter.grad *= scale.expand_as(parameter.grad)  # not rounded to bfloat16 first
    norm = nn.utils.clip_grad_norm_(parameters, max_grad_norm)
    total, count, norm = torch.stack([*sums, norm.to(sums)]).tolist()  # waits for a GPU, once
    _check_step(step, total, count, norm)
    optimizer.step()
    return total / count, norm, round(count)


def fit(
    model: nn.Module,
    batches: Callable[[int], object],
    *,
    steps: int,
    loss: Loss,
    learning_rate: float | Callable[[int], float],
    weight_decay: float = 0.0,
    betas: tuple[float, float] = (0.9, 0.999),
    optimizer: Callable[[nn.Module], torch.optim.Optimizer] | None = None,
    max_grad_norm: float = 1.0,
    evaluate: Callable[[nn.Module], object] | None = None,
    evaluate_every: int | None = None,
    accumulate: int = 1,
    mixed_precision: str = "no",
    checkpoint: str | os.PathLike | None = None,
    checkpoint_every: int | None = None,
    resume: bool = False,
    report: Callable[[History], None] | None = None,
    progress: bool = True,
) -> History:
    """Train a model, with AdamW if no other optimizer is made, and leave it in evaluation mode.

    A step's loss is the sum over all real tokens of its batch, divided by their number. Into how
    many parts the batch is split, to save memory or to share it among processes, does not move it,
    and neither does padding.

    It trains on the model's device. Under `torchrun` every process takes its rows of each batch; on
    GPUs, choose the process's own with torch.cuda.set_device before moving the model there.

    Args:
        model: any module. One in evaluation mode is put in training mode, with all of its parts; of
            one in training mode, parts in evaluation mode (a frozen encoder, say) stay there.
        batches: batches(step) is the batch of that step; the first step is 1. A batch is a tensor,
            or tensors in a tuple, list or dictionary, with one row for each example. The same step
            must get the same batch every time: that is what makes a resumed run go on exactly, and
            lets processes share a batch without talking. Derive randomness from the step. On a GPU
            the batch of the next step is asked for while that of this one is computed.
        steps: number of updates in all, those before a resumption included.
        loss: loss(model, batch) is the sum of the losses of the real tokens and their number, as
            `next_token_loss` and its like return it. With several processes it must call the model,
            not methods of it: DistributedDataParallel sees nothing else.
        learning_rate: a number, or a function of the step such as a schedule.
        weight_decay: of AdamW, on matrices; vectors (biases, norms) are left alone.
        betas: of AdamW.
        optimizer: optimizer(model) makes the optimizer, in place of AdamW with these two, or a list
            of several, each of its own parameters: torch's Muon takes matrices alone. Every group
            gets the learning rate, times its own "lr_scale" if it has one.
        max_grad_norm: a longer gradient is shortened to this norm; math.inf never shortens.
        evaluate: evaluate(model) is called in evaluation mode, without gradients, after every
            `evaluate_every` steps and after the last. What it returns is kept: a number, a tensor
            or array of shape () as its number, or whatever else; with a checkpoint, whatever JSON
            can hold, all tensors and arrays in it as numbers and lists.
        evaluate_every: only after the last step, if left out.
        accumulate: into how many parts a process splits its rows of a batch, to use less memory.
        mixed_precision: "no", or "bf16" for the forward pass and the loss, by torch.autocast.
        checkpoint, checkpoint_every: the file to save to, after every so many steps, after the
            last, and on Ctrl-C, which stops training after the step in progress.
        resume: go on from the checkpoint, which the first process reads for all. In float32 on a
            CPU with the same number of threads the weights then end the same bit for bit.
        report: report(history) is called after every step, in the main process alone, with a copy.
            If it or `evaluate` raises, the step that it was called after is saved first.
        progress: whether to show a progress bar.

    Raises:
        ValueError: an argument makes no sense, a batch has too few rows or no real token, or the
            checkpoint is there already (without `resume`), or is of another model or a longer run.
        TypeError: an argument is of another type, the weights are float16, `loss` does not return
            a sum and a number, or a checkpoint cannot hold what model or optimizer keep.
        FileNotFoundError: there is no checkpoint to resume from.
        FloatingPointError: loss or gradient is no longer finite; the weights are those before it.
        KeyboardInterrupt: Ctrl-C was pressed.

    Source: AdamW: Loshchilov and Hutter 2019, algorithm 2 (https://arxiv.org/abs/1711.05101).
    """
    _check_model_and_batches(model, batches)
    require_positive(steps=steps, accumulate=accumulate)
    require_choice("mixed_precision", mixed_precision, PRECISIONS)
    require_number(max_grad_norm=max_grad_norm)
    if not max_grad_norm > 0:
        raise ValueError(f"max_grad_norm must be positive, got {max_grad_norm}; inf never shortens")
    _check_intervals(evaluate, evaluate_every, checkpoint, checkpoint_every, resume)
    rank, num_processes = join_processes()
    optimizer = adamw(model, betas, weight_decay) if optimizer is None else as_one(optimizer(model))
    history, seed = _begun(checkpoint, steps, model, optimizer, resume, rank, num_processes)
    replica = DistributedDataParallel(model) if num_processes > 1 else model
    device = next(model.parameters()).device
    prefetcher = Prefetcher(batches, device, steps, accumulate, rank, num_processes)
    if not model.training:
        model.train()
    frozen = [module for module in model.modules() if not module.training]

    shown = _in_json(history.evaluations)  # to `report`, which may change what it is given

    def save():
        if checkpoint and rank == 0:
            save_checkpoint(checkpoint, model, optimizer, history=asdict(history), seed=seed)

    def update(step):
        rate = learning_rate(step) if callable(learning_rate) else learning_rate
        set_rate(optimizer, rate)
        if num_processes > 1:  # each draws its own dropout, the same again after a resumption
            torch.manual_seed(hash((seed, step, rank)))
        mean_loss, grad_norm, tokens = train_step(
            replica,
            optimizer,
            loss,
            prefetcher(step),
            step=step,
            max_grad_norm=max_grad_norm,
            mixed_precision=mixed_precision,
        )
        history.loss.append(mean_loss)
        history.learning_rate.append(float(rate))
        history.grad_norm.append(grad_norm)
        history.tokens.append(tokens)

    def look(step):
        if evaluate and _is_due(step, evaluate_every, steps):
            found = _evaluated(model, evaluate, frozen)
            for kept in (history.evaluations, shown):
                kept.append(_in_json(found) if checkpoint else found)
            history.evaluated_at.append(step)
        if report and rank == 0:
            report(History(*map(list, (vars(history) | {"evaluations": shown}).values())))

    done, hidden = len(history.loss), not progress or rank > 0
    with deferred_interrupt() as interrupted:
        bar = tqdm(range(done + 1, steps + 1), initial=done, total=steps, disable=hidden)
        for step in bar:
            update(step)
            if checkpoint and step == done + 1:  # only now the optimizer keeps something
                require_savable(model, optimizer)
            bar.set_postfix_str(f"loss {history.loss[-1]:.3f}", refresh=False)
            try:
                look(step)
            except Exception:
                save()  # what only looks at a run costs none of its steps
                raise
            stop = in_any_process(interrupted.is_set())
            if stop or _is_due(step, checkpoint_every, steps):
                save()
            if stop:
                kept = f"; saved to {checkpoint}: call with resume=True to go on"
                raise KeyboardInterrupt(
                    f"stopped after step {step} of {steps}{kept if checkpoint else ''}"
                )
    in_any_process(False)  # the others wait until the first has saved
    model.eval()
    return history


def _begun(checkpoint, steps, model, optimizer, resume, rank, num_processes) -> tuple[History, int]:
    """The history so far and the seed of the run, in all processes what the first one has."""
    history, seed = History(), torch.initial_seed() % 2**62
    if rank == 0 and checkpoint is not None and not resume and Path(checkpoint).exists():
        raise ValueError(
            f"{checkpoint} is there already; go on from it with resume=True, or choose another file"
        )
    if rank == 0 and resume:
        state = load_checkpoint(checkpoint, model, optimizer)
        history, seed = _history(checkpoint, state), state["seed"]
    if checkpoint is not None:
        require_savable(model, optimizer)
    if num_processes > 1:  # the weights are those of the first by DistributedDataParallel
        state = optimizer.state_dict() if rank == 0 else None
        history, seed, state = of_first_process((history, seed, state))
        if rank > 0 and history.loss:
            optimizer.load_state_dict(state)
    if (done := len(history.loss)) > steps:
        raise ValueError(
            f"{checkpoint} has {done} steps already, more than steps = {steps}; "
            f"ask for {done} or more, or begin again with another file"
        )
    return history, seed


def _evaluated(model: nn.Module, evaluate: Callable, frozen: list[nn.Module]):
    """What `evaluate` returns of the model, a scalar as its number; the modes are put back."""
    model.eval()
    try:
        with torch.no_grad():
            found = evaluate(model)
    finally:
        model.train()
        for module in frozen:
            module.training = False
    return found.item() if getattr(found, "ndim", None) == 0 else found  # of torch or numpy


def _in_json(found):
    """What `evaluate` returned, with tensors and arrays as numbers and lists."""
    if hasattr(found, "tolist"):  # of torch or numpy
        return found.tolist()
    if isinstance(found, dict) and all(isinstance(name, str) for name in found):
        return {name: _in_json(part) for name, part in found.items()}
    if isinstance(found, list | tuple):
        return [_in_json(part) for part in found]
    if found is None or isinstance(found, str | int | float):
        return found
    raise TypeError(
        "evaluate must return what a checkpoint can hold: numbers, strings, None, tensors, arrays, "
        "and lists of them or dictionaries with strings as keys; got "
        f"{found!r} of type {type(found).__name__}"
    )


def load_history(checkpoint: str | os.PathLike) -> History:
    """The history that `fit` saved; errors are those of `load_checkpoint`."""
    return _history(checkpoint, load_checkpoint(checkpoint))


def _history(checkpoint, state: dict) -> History:
    history = state.get("history")
    if not isinstance(history, dict):
        raise ValueError(
            f"{checkpoint} has no history of a run of fit, so there is none to resume; read it "
            "with load_checkpoint, and train from there with another file"
        )
    return History(**history)


def _is_due(step: int, every: int | None, steps: int) -> bool:
    return step == steps or (every is not None and step % every == 0)


def _sum_and_count(lost) -> tuple[torch.Tensor, torch.Tensor]:
    """What `loss` returned, once seen to be a sum and a number of tokens, in float32 at least."""
    parts = lost if isinstance(lost, tuple) else (lost,)
    is_pair = len(parts) == 2 and isinstance(parts[0], torch.Tensor)
    if not is_pair or not isinstance(parts[1], torch.Tensor | Real):
        raise TypeError(
            "loss must return the sum of the losses of the real tokens, a tensor, and their "
            "number, as next_token_loss does; got "
            + " and ".join(type(part).__name__ for part in parts)
        )
    total, count = parts
    for name, part in (("sum", total), ("number", count)):
        if isinstance(part, torch.Tensor) and part.dim():
            raise ValueError(
                f"loss must return a sum and a number of shape (), got a {name} of shape "
                f"{tuple(part.shape)}; add up the losses of the tokens with .sum()"
            )
    exact = torch.promote_types(total.dtype, torch.float32)  # bfloat16 has no 257
    count = torch.as_tensor(count).to(exact).to(total.device, non_blocking=True)
    return total.to(exact), count


def _check_step(step: int, total: float, count: float, grad_norm: float) -> None:
    """Raise unless the step has real tokens, and a finite loss and gradient."""
    if not count > 0:
        raise ValueError(f"the batch of step {step} has no real token: nothing to learn from")
    if not (math.isfinite(total) and math.isfinite(grad_norm)):
        raise FloatingPointError(
            f"at step {step} the loss is {total / count} and the norm of the gradient {grad_norm}; "
            "the weights are still those of the step before. Lower the learning rate, warm up for "
            "longer, or look for infinite values in the batch"
        )


def _check_model_and_batches(model, batches) -> None:
    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be a torch.nn.Module, got {type(model).__name__}")
    learning = [parameter for parameter in model.parameters() if parameter.requires_grad]
    if not learning:
        raise ValueError("no parameter of the model requires a gradient: nothing can learn")
    if any(parameter.is_meta for parameter in learning):
        raise ValueError(
            "the model is on the meta device, where nothing is computed; build it on another"
        )
    if any(parameter.dtype == torch.float16 for parameter in learning):
        raise TypeError(
            "weights in float16 are too coarse for AdamW, whose eps vanishes there; train the "
            'model in float32 (model.float()), with mixed_precision="bf16" for speed'
        )
    if not callable(batches):
        raise TypeError(
            f"batches must be a function of the step, got {type(batches).__name__}; "
            "companion.data.batches makes one from tensors"
        )


def _check_intervals(evaluate, evaluate_every, checkpoint, checkpoint_every, resume) -> None:
    if evaluate_every is not None:
        require_positive(evaluate_every=evaluate_every)
        if evaluate is None:
            raise ValueError("evaluate_every needs evaluate, the function to call")
    if checkpoint_every is not None:
        require_positive(checkpoint_every=checkpoint_every)
    if checkpoint is None and (checkpoint_every is not None or resume):
        raise ValueError("checkpoint_every and resume need checkpoint, the file to use")
