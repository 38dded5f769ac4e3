"""torch and numpy as they come while a check computes, and as the notebook had them afterwards."""

import math
import random
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


@contextmanager
def undisturbed() -> Iterator[None]:
    """Run with torch and numpy as imported; undo afterwards what the answer patches or sets.

    As imported: as they were when `book.checking` was. Warnings are not shown, since they are
    errors in some places.
    """
    patched = [dict(vars(place)) for place, _ in ORIGINALS]
    _put(names for _, names in ORIGINALS)
    before = [get() for get, _ in SETTINGS]
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            yield
    finally:
        _put(names for _, names in ORIGINALS)
        for (get, put), x in zip(SETTINGS, before, strict=True):
            if get() != x:
                put(x)
        _put(patched)


@contextmanager
def repeatable() -> Iterator[None]:
    """The same numbers for every run of a check, whatever the notebook has set or drawn.

    They are float32 by default, on the CPU, with gradients. The learner's own random numbers go on
    undisturbed.
    """
    states = random.getstate(), np.random.get_state()  # noqa: NPY002 (what answers draw from)
    with torch.random.fork_rng(devices=[]):
        torch.set_default_dtype(torch.float32)
        torch.set_grad_enabled(True)
        _set_device(torch.device("cpu"))
        torch.manual_seed(0)
        random.seed(0)
        np.random.seed(0)  # noqa: NPY002
        try:
            yield
        finally:
            random.setstate(states[0])
            np.random.set_state(states[1])  # noqa: NPY002


def _set_device(device: torch.device) -> None:
    if torch.get_default_device() == device:
        return
    torch.set_default_device(None if device == torch.device("cpu") else device)
    if device == torch.device("cpu"):  # torch 2.9 and older would fail to say that there is none
        vars(torch._GLOBAL_DEVICE_CONTEXT).pop("device_context", None)


SETTINGS = [
    (torch.get_default_dtype, torch.set_default_dtype),
    (torch.get_default_device, _set_device),
    (torch.is_grad_enabled, torch.set_grad_enabled),
    (torch.get_num_threads, torch.set_num_threads),
    (torch.is_anomaly_enabled, torch.autograd.set_detect_anomaly),
    (torch.are_deterministic_algorithms_enabled, torch.use_deterministic_algorithms),
]
MODULES = [torch, F, nn, nn.init, torch.autograd, torch.linalg, torch.special]
MODULES += [np, np.linalg, np.random, math, random]
CLASSES = [torch.Tensor, *{x for x in vars(nn).values() if isinstance(x, type)}]
ORIGINALS = [(x, dict(vars(x))) for x in (*MODULES, *CLASSES)]


def _put(all_names: Iterable[dict]) -> None:
    """Give each of `ORIGINALS` these attributes again; a class then has no others."""
    for (place, own), names in zip(ORIGINALS, all_names, strict=True):
        now = vars(place)
        if now == names:
            continue
        now = dict(now)
        for name, x in own.items():
            if now.get(name) is names.get(name):
                continue
            # What else a module holds is settings and what is imported later.
            if name in names and (isinstance(place, type) or callable(x)):
                setattr(place, name, names[name])
        if isinstance(place, type):
            for name in now.keys() - names.keys():
                delattr(place, name)  # it hides what the class inherits
            for name in names.keys() - now.keys():
                setattr(place, name, names[name])
