"""Where a step is computed: on which device, in what precision, by how many processes."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState
from accelerate.utils import find_batch_size, recursively_apply, send_to_device
from torch import nn

PRECISIONS = ("no", "bf16")


@contextmanager
def accelerated(model: nn.Module, mixed_precision: str):
    """An Accelerator, and the model as it wants it called; undone on leaving.

    The device is the model's; under `accelerate launch` or `torchrun` there is a copy of the model
    in each process.
    """
    on_cpu = next(model.parameters()).device.type == "cpu"
    AcceleratorState._reset_state(reset_partial_state=True)  # Accelerate keeps one for all time
    accelerator = Accelerator(cpu=on_cpu, mixed_precision=mixed_precision)
    accelerator.gradient_accumulation_steps = 1  # whatever the environment says: `fit` divides
    try:
        yield accelerator, accelerator.prepare(model)
        accelerator.wait_for_everyone()
    finally:
        accelerator.unwrap_model(model, keep_fp32_wrapper=False)
        vars(model).pop("_is_accelerate_prepared", None)


def draw_apart(accelerator: Accelerator) -> None:
    """Let each of several processes draw its own dropout, after they were all seeded alike."""
    if accelerator.num_processes > 1:
        torch.manual_seed(torch.initial_seed() + 1 + accelerator.process_index)


def shares(batch, accelerator: Accelerator, accumulate: int) -> Iterator:
    """This process's share of a batch's rows, in `accumulate` parts, on its device.

    Raises:
        ValueError: the batch has fewer rows than there are parts.
    """
    parts = accelerator.num_processes * accumulate
    if parts == 1:
        yield send_to_device(batch, accelerator.device)
        return
    rows = find_batch_size(batch)
    if rows < parts:
        raise ValueError(
            f"a batch of {rows} rows cannot be split into {parts} parts ({accumulate} in each of "
            f"{accelerator.num_processes} processes); make batches larger or accumulate smaller"
        )
    first = accelerator.process_index * accumulate
    for part in range(first, first + accumulate):
        low, high = part * rows // parts, (part + 1) * rows // parts
        share = recursively_apply(lambda tensor: tensor[low:high], batch)  # noqa: B023
        yield send_to_device(share, accelerator.device)


@contextmanager
def held_interrupt():
    """Inside, a first Ctrl-C only sets the Event that is yielded; a second one interrupts."""
    pressed = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield pressed  # Python handles signals in the main thread alone
        return

    def hold(*_):
        pressed.set()
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, hold)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before)
