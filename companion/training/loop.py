"""The training loop."""

import inspect
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

from companion.training.checkpoints import (
    load_checkpoint,
    make_room,
    require_savable,
    save_checkpoint,
)
from companion.training.losses import Loss, sum_and_count
from companion.training.optimizers import adamw, as_one, set_rate
from companion.training.precision import LEAST_SCALE, PRECISIONS, grad_scaler
from companion.training.prefetching import Prefetcher
from companion.training.processes import (
    deferred_interrupt,
    in_any_process,
    join_processes,
    of_first_process,
)
from companion.training.sharding import gather, is_sharded, release, sharded
from companion.validation import require_choice, require_number, require_positive

HINTS = {  # for what is often given in place of a function
    "batches": "; companion.data.batches makes one from tensors",
    "learning_rate": "; it may be a number, too",
    "loss": "; next_token_loss(pad_id) and its like make one",
    "optimizer": "; write optimizer=lambda model: torch.optim.SGD(model.parameters())",
    "evaluate": "",
    "report": "",
}


@dataclass
class History:
    """What happened in training, as lists ready to plot.

    Attributes:
        loss: of each step, before its update: the mean over the real tokens of its batch.
        learning_rate: of each step.
        grad_norm: of each step, before clipping; inf if the step was skipped (see `fit`).
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

    @property
    def skipped(self) -> list[int]:
        """The steps that left the weights as they were: the gradient overflowed float16."""
        return [step for step in self.step if self.grad_norm[step - 1] == math.inf]


def train_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    loss: Loss,
    micro_batches: Sequence,
    *,
    step: int,
    max_grad_norm: float = 1.0,
    mixed_precision: str = "no",
    scaler: torch.amp.GradScaler | None = None,
) -> tuple[float, float, int]:
    """Update the weights once, by the gradient of the mean loss over the real tokens of a batch.

    Args:
        model: a module; in each of several processes a DistributedDataParallel around it, or its
            part of one that has been through torch's fully_shard. It may be compiled.
        optimizer: of the model's parameters, its learning rate set.
        loss: as for `fit`.
        micro_batches: the parts of the batch of this process, on its device.
        step: the number of the step, for messages.
        max_grad_norm, mixed_precision: as for `fit`.
        scaler: for "fp16", the same one at each step.

    Returns:
        The mean loss before the update, the norm of the gradient before clipping (inf if the step
        was skipped), and the number of real tokens.
    """
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    device, plain = parameters[0].device, getattr(model, "_orig_mod", model)
    has_parts, is_replica = is_sharded(plain), isinstance(plain, DistributedDataParallel)
    scaler = scaler or grad_scaler(device, mixed_precision)
    optimizer.zero_grad()
    sums = 0.0  # of the losses, and how many tokens they are of
    for number, micro_batch in enumerate(micro_batches, 1):
        # Gradients of the sums add up over the parts, and after the last over the processes. (Those
        # of a sharded model over the processes each time, so that none keeps whole ones.)
        with plain.no_sync() if is_replica and number < len(micro_batches) else nullcontext():
            dtype = PRECISIONS[mixed_precision]
            with torch.autocast(device.type, dtype, enabled=mixed_precision != "no"):
                total, count = sum_and_count(loss(model, micro_batch))
            if not total.requires_grad:
                raise ValueError(
                    "the loss has no gradient: it depends on no parameter that learns, or was "
                    "detached from them (detach, item, torch.no_grad)"
                )
            scaler.scale(total).backward()
        sums = sums + torch.stack([total.detach(), count])
    if has_parts or is_replica:
        dist.all_reduce(sums)
    if any(p.grad is not None and p.grad.is_sparse for p in parameters):
        raise TypeError("a gradient is sparse, and cannot be clipped; build nn.Embedding densely")
    scaler.unscale_(optimizer)
    # torch averages over the processes.
    scale = (dist.get_world_size() if has_parts or is_replica else 1) / sums[1]
    for parameter in parameters:
        if parameter.grad is not None:
            gradient = parameter.grad.to_local() if has_parts else parameter.grad
            gradient *= scale.expand_as(gradient)  # not rounded to bfloat16 first
    norm = nn.utils.clip_grad_norm_(parameters, max_grad_norm)
    norm = norm.full_tensor() if has_parts else norm
    total, count, norm = torch.stack([*sums, norm.to(sums)]).tolist()  # waits for a GPU, once
    is_skipped = scaler.is_enabled() and not math.isfinite(norm)
    _check_step(step, total, count, norm, scaler if is_skipped else None)
    if not is_skipped:
        optimizer.step()
    if scaler.is_enabled():
        scaler.update()
    return total / count, math.inf if is_skipped else norm, round(count)


def fit(
    model: nn.Module,
    batches: Callable[[int], object],
    *,
    steps: int,
    loss: Loss,
    learning_rate: float | Callable[[int], float],
    weight_decay: float = 0.0,
    betas: tuple[float, float] = (0.9, 0.999),
    optimizer: Callable[..., torch.optim.Optimizer | Sequence[torch.optim.Optimizer]] | None = None,
    max_grad_norm: float = 1.0,
    evaluate: Callable[..., object] | None = None,
    evaluate_every: int | None = None,
    accumulate: int = 1,
    mixed_precision: str = "no",
    compile: bool = False,
    shard: bool = False,
    checkpoint: str | os.PathLike | None = None,
    checkpoint_every: int | None = None,
    resume: bool = False,
    report: Callable[[History], object] | None = None,
    progress: bool = True,
) -> History:
    """Train a model, with AdamW if no other optimizer is made, and leave it in evaluation mode.

    A step's loss is the sum over all real tokens of its batch, divided by their number. How a batch
    is padded, or split to save memory or to share it among processes, makes no difference to it.

    It trains on the model's device. Under `torchrun` every process takes its rows of each batch; on
    GPUs (which have not been tried, several at a time), choose the process's own with
    torch.cuda.set_device before moving the model there.

    Args:
        model: any module, with its own activation checkpointing if you like. One in evaluation mode
            is put in training mode, with all of its parts; in one in training mode, parts that are
            in evaluation mode (a frozen encoder, say) stay there.
        batches: batches(step) is the batch of that step; the first step is 1. A batch is a tensor,
            or tensors in a tuple, list or dictionary, with one row for each example. The same step
            must get the same batch every time: that is what makes a resumed run go on exactly, and
            lets processes share a batch without talking. Derive randomness from the step. On a GPU
            the next step's batch is asked for while this one's is computed.
        steps: number of updates in all, those before a resumption included.
        loss: loss(model, batch) is the sum of the losses of the real tokens and their number, as
            `next_token_loss` and its like return it. With several processes it must call the model
            itself, not its methods: torch exchanges gradients and weights around that call alone.
        learning_rate: a number, or a function of the step such as a schedule.
        weight_decay: of AdamW, on matrices; vectors (biases, norms) are left alone.
        betas: of AdamW.
        optimizer: optimizer(model) makes the optimizer, in place of AdamW with these two, or a list
            of several, each of its own parameters: torch's Muon takes matrices alone. Every group
            gets the learning rate, times its own "lr_scale" if it has one.
        max_grad_norm: a longer gradient is shortened to this norm; math.inf never shortens.
        evaluate: evaluate(model) is called in evaluation mode, without gradients, after every
            `evaluate_every` steps and after the last, in every process (`mean_loss` shares its
            examples out among them). What it returns is kept: a number, a tensor or array of shape
            () as its number, or whatever else; with a checkpoint, whatever JSON can hold, all
            tensors and arrays in it as numbers and lists.
        evaluate_every: only after the last step, if left out.
        accumulate: into how many parts a process splits its rows of a batch, to use less memory.
        mixed_precision: "no", or "bf16" or "fp16" for the forward pass and the loss, by
            torch.autocast; `best_precision` knows which one suits a device. Where the gradient
            overflows float16 the step is skipped: it counts, its loss and rate are in the history,
            but weights and optimizer stay, and GradScaler halves the scale of the next one.
        compile: whether to compile what computes the loss, DistributedDataParallel included.
        shard: whether each process of torchrun keeps only its part of weights, gradients and the
            optimizer's state, by torch's fully_shard. The optimizer is made from a sharded copy of
            the model; the model itself has weights during an evaluation and in the end (and after
            Ctrl-C or a FloatingPointError, but no other error). One you sharded yourself stays so.
        checkpoint, checkpoint_every: the file to save to, after every so many steps, after the
            last, and on Ctrl-C, which stops training after the step in progress. A sharded run
            writes a folder, which all processes must see; any number of them can go on from it.
        resume: go on from the checkpoint, whose file the first process reads for all. In float32 on
            a CPU with the same number of threads the weights then end the same bit for bit. All
            other arguments are those of this call, but the groups of an `optimizer` of your own
            have the settings that they were saved with.
        report: report(history) is called after every step, in the main process alone, with a copy.
            If it or `evaluate` raises, the step that it was called after is saved first.
        progress: whether to show a progress bar.

    Raises:
        ValueError: an argument makes no sense, a batch has too few rows or no real token, or the
            checkpoint is there already (without `resume`), or is of another model or a longer run.
        TypeError: an argument is of another type, the weights are float16, `loss` does not return
            a sum and a number, or a checkpoint cannot hold what model or optimizer keep.
        FileNotFoundError: there is no checkpoint to resume from.
        OSError: no checkpoint can be written there.
        FloatingPointError: loss or gradient is no longer finite, in float16 at no scale; the
            weights are those before it.
        KeyboardInterrupt: Ctrl-C was pressed.

    Source: AdamW: Loshchilov and Hutter 2019, algorithm 2 (https://arxiv.org/abs/1711.05101).

    >>> model = nn.Sequential(nn.Embedding(9, 8), nn.Linear(8, 9))
    >>> options = {"loss": next_token_loss(None), "learning_rate": 0.1, "progress": False}
    >>> fit(model, lambda step: torch.arange(9)[None], steps=30, **options).loss[-1] < 0.1
    True
    """
    _check_model(model)
    _check_function("batches", batches, "step")
    _check_function("loss", loss, "model", "batch")
    if not isinstance(learning_rate, Real):
        _check_function("learning_rate", learning_rate, "step")
    for name, function in {"optimizer": optimizer, "evaluate": evaluate, "report": report}.items():
        if function is not None:
            _check_function(name, function, "history" if name == "report" else "model")
    if optimizer and (weight_decay or betas != (0.9, 0.999)):
        raise ValueError(
            "weight_decay and betas are AdamW's, and do nothing beside an `optimizer` of your own; "
            "give them to that one"
        )
    require_positive(steps=steps, accumulate=accumulate)
    require_choice("mixed_precision", mixed_precision, tuple(PRECISIONS))
    require_number(max_grad_norm=max_grad_norm, weight_decay=weight_decay)
    if not max_grad_norm > 0:
        raise ValueError(f"max_grad_norm must be positive, got {max_grad_norm}; inf never shortens")
    _check_intervals(evaluate, evaluate_every, checkpoint, checkpoint_every, resume)
    rank, num_processes = join_processes()
    if not model.training:
        model.train()
    frozen = [module for module in model.modules() if not module.training]
    trained = sharded(model) if shard and not is_sharded(model) else model
    has_parts = is_sharded(trained)
    made = optimizer(trained) if optimizer else adamw(trained, betas, weight_decay)
    own = [] if optimizer else [dict(group) for group in made.param_groups]
    optimizer = as_one(made, trained)
    device = next(trained.parameters()).device
    scaler = grad_scaler(device, mixed_precision)
    history, seed = _begun(checkpoint, steps, trained, optimizer, scaler, resume, rank)
    for group, asked in zip(optimizer.param_groups, own, strict=False):
        group |= {name: asked[name] for name in ("betas", "weight_decay")}  # not the checkpoint's
    replica = DistributedDataParallel(model) if num_processes > 1 and not has_parts else trained
    replica = torch.compile(replica) if compile else replica
    prefetcher = Prefetcher(batches, device, steps, accumulate, rank, num_processes)

    shown = _in_json(history.evaluations)  # to `report`, which may change what it is given

    def save():
        if checkpoint and (rank == 0 or has_parts):
            state = {"history": asdict(history), "seed": seed, "scaler": scaler.state_dict()}
            save_checkpoint(checkpoint, trained, optimizer, **state)

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
            scaler=scaler,
        )
        history.loss.append(mean_loss)
        history.learning_rate.append(float(rate))
        history.grad_norm.append(grad_norm)
        history.tokens.append(tokens)

    def whole():
        if trained is not model:
            gather(model, trained)

    def look(step):
        if evaluate and _is_due(step, evaluate_every, steps):
            whole()
            found = _evaluated(model, evaluate, frozen)
            if trained is not model:
                release(model)
            for kept in (history.evaluations, shown):
                kept.append(_in_json(found) if checkpoint else found)
            history.evaluated_at.append(step)
        if report and rank == 0:
            report(History(*map(list, (vars(history) | {"evaluations": shown}).values())))

    done, hidden = len(history.loss), not progress or rank > 0
    with deferred_interrupt() as interrupted:
        bar = tqdm(range(done + 1, steps + 1), initial=done, total=steps, disable=hidden)
        for step in bar:
            try:
                update(step)
            except FloatingPointError:  # in all processes
                whole()
                raise
            if checkpoint and step == done + 1:  # only now the optimizer keeps something
                require_savable(trained, optimizer)
            bar.set_postfix_str(f"loss {history.loss[-1]:.3f}", refresh=False)
            failure = None
            try:
                look(step)
            except Exception as error:  # what only looks at a run costs none of its steps
                failure = error
            stop = in_any_process(interrupted.is_set() or failure is not None)
            if stop or _is_due(step, checkpoint_every, steps):
                save()
            if stop:
                whole()
            if failure is not None:
                raise failure
            if stop:
                kept = f"; saved to {checkpoint}: call with resume=True to go on"
                raise KeyboardInterrupt(
                    f"stopped after step {step} of {steps}{kept if checkpoint else ''}"
                )
    in_any_process(False)  # the others wait until the first has saved
    whole()
    model.eval()
    return history


def _begun(
    checkpoint, steps, model, optimizer, scaler, resume: bool, rank: int
) -> tuple[History, int]:
    """The history so far and the seed of the run, in all processes what the first one has."""
    history, seed, has_parts = History(), torch.initial_seed() % 2**62, is_sharded(model)
    path = None if checkpoint is None else Path(checkpoint)
    if path and path.exists() and path.is_dir() != has_parts:
        raise ValueError(
            f"{path} is a {'folder' if path.is_dir() else 'file'}: a run with shard=True has a "
            "folder for its checkpoint, and any other a file; choose another, or shard accordingly"
        )
    if rank == 0 and path and not resume and path.exists():
        raise ValueError(
            f"{path} is there already; go on from it with resume=True, or choose another file"
        )
    if resume and (rank == 0 or has_parts):
        state = load_checkpoint(path, model, optimizer)
        history, seed = _history(path, state), state["seed"]
        if scaler.is_enabled() and state["scaler"]:
            scaler.load_state_dict(state["scaler"])
    if path:
        require_savable(model, optimizer)
        if rank == 0:
            make_room(path.resolve()).rmdir()  # no step in vain where nothing can be written
    # The weights of a replica are those of the first by DistributedDataParallel.
    state = None if has_parts else (optimizer.state_dict(), scaler.state_dict())
    history, seed, state = of_first_process((history, seed, state if rank == 0 else None))
    if rank > 0 and history.loss and not has_parts:
        optimizer.load_state_dict(state[0])
        scaler.load_state_dict(state[1])
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


def _check_step(step: int, total: float, count: float, grad_norm: float, scaler) -> None:
    """Raise unless the step has real tokens and a finite loss and gradient, or a smaller scale."""
    if not count > 0:
        raise ValueError(f"the batch of step {step} has no real token: nothing to learn from")
    if scaler and math.isfinite(total):
        if (scale := scaler.get_scale()) > LEAST_SCALE:
            return
        raise FloatingPointError(
            f"at step {step} the gradient overflows float16, as at all steps while its scale fell "
            f"to {scale}; the weights are still those of before. Train with "
            'mixed_precision="bf16" or "no"'
        )
    if not (math.isfinite(total) and math.isfinite(grad_norm)):
        raise FloatingPointError(
            f"at step {step} the loss is {total / count} and the norm of the gradient {grad_norm}; "
            "the weights are still those of the step before. Lower the learning rate, warm up for "
            "longer, or look for infinite values in the batch"
        )


def _check_model(model) -> None:
    kind = type(model).__name__
    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be a torch.nn.Module, got {kind}")
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
            'model in float32 (model.float()), with mixed_precision="fp16" for speed'
        )
    in_parts = any(hasattr(parameter, "full_tensor") for parameter in learning)  # DTensors
    if kind.endswith("DataParallel") or (in_parts and not is_sharded(model)):
        raise TypeError(
            f"fit shares a model out among processes itself, but got a {kind}"
            f"{' with DTensors' * in_parts}; give the module inside, or one that has been through "
            "fully_shard as a whole"
        )


def _check_function(name: str, given, *arguments: str) -> None:
    """Raise unless what was given can be called with so many arguments."""
    wanted, hint = (
        f"{name} must be a function, called as {name}({', '.join(arguments)})",
        HINTS[name],
    )
    inner = getattr(given, "func", given)  # of functools.partial
    is_of_torch = isinstance(given, nn.Module) and type(given).__module__.startswith("torch.nn")
    if not callable(given) or isinstance(inner, type) or is_of_torch:
        kind = inner.__name__ if isinstance(inner, type) else type(given).__name__
        raise TypeError(f"{wanted}, got {kind}{hint}")
    try:
        inspect.signature(given).bind(*arguments)
    except TypeError as error:
        raise TypeError(f"{wanted}, got one with other arguments ({error}){hint}") from error
    except ValueError:  # it says nothing of its arguments
        return


def _check_intervals(evaluate, evaluate_every, checkpoint, checkpoint_every, resume) -> None:
    if evaluate_every is not None:
        require_positive(evaluate_every=evaluate_every)
        if evaluate is None:
            raise ValueError("evaluate_every needs evaluate, the function to call")
    if checkpoint_every is not None:
        require_positive(checkpoint_every=checkpoint_every)
    if checkpoint is None and (checkpoint_every is not None or resume):
        raise ValueError("checkpoint_every and resume need checkpoint, the file to use")
