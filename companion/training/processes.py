"""One process among others that torchrun started, and one that Ctrl-C stops between two steps."""

import os
import signal
import threading
from contextlib import contextmanager

import torch
import torch.distributed as dist


def use_own_gpu() -> None:
    """Under torchrun, make "cuda" the GPU of this process; call it before anything is moved there.

    Raises:
        ValueError: torchrun started more processes on this machine than it has GPUs.
    """
    if not dist.is_available() or not dist.is_torchelastic_launched():
        return
    local_rank, gpus = int(os.environ["LOCAL_RANK"]), torch.cuda.device_count()
    if local_rank >= gpus:
        raise ValueError(
            f"torchrun started process {local_rank + 1} on this machine, which has {gpus} GPUs; "
            "start one process for each (--nproc_per_node)"
        )
    torch.cuda.set_device(local_rank)


def join_processes() -> tuple[int, int]:
    """The rank of this process and the number of all, after those of torchrun have joined."""
    launched = dist.is_available() and dist.is_torchelastic_launched()
    if launched and not dist.is_initialized():
        # One backend for each device: flags and histories are exchanged on the CPU.
        dist.init_process_group("cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo")
    return rank_and_number()


def rank_and_number() -> tuple[int, int]:
    """The rank of this process and the number of all that have joined."""
    if not (dist.is_available() and dist.is_initialized()):
        return 0, 1
    return dist.get_rank(), dist.get_world_size()


def in_any_process(flag: bool) -> bool:
    """Whether the flag is set in one of the processes; all must ask."""
    if rank_and_number()[1] == 1:
        return flag
    flags = torch.tensor(int(flag))  # on the CPU: no GPU is made to wait
    dist.all_reduce(flags)
    return flags.item() > 0


def of_first_process(decided):
    """What the process of rank 0 has decided or read, for all; all must ask."""
    if rank_and_number()[1] == 1:
        return decided
    held = [decided]
    dist.broadcast_object_list(held)
    return held[0]


@contextmanager
def deferred_interrupt():
    """Inside, a first Ctrl-C only sets the Event that is yielded; a second one interrupts."""
    pressed = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield pressed  # Python handles signals in the main thread alone
        return

    def defer(*_):
        pressed.set()
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, defer)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before)
