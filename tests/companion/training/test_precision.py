"""float16 and bfloat16: which one a device takes, and training in float16."""

from types import SimpleNamespace

import pytest
import torch

from companion.training import best_precision


@pytest.mark.parametrize(("major", "best"), [(7, "fp16"), (8, "bf16")])
@pytest.mark.parametrize("device", ["cuda", "cuda:1", torch.device("cuda", 0)])
def test_a_gpu_that_only_emulates_bfloat16_takes_float16(monkeypatch, device, major, best):
    """As torch answers on a T4, which is of compute capability 7.5, and on an A100, of 8.0."""
    asked = []
    properties = SimpleNamespace(major=major)
    monkeypatch.setattr(torch.version, "hip", None)
    monkeypatch.setattr(torch.version, "cuda", "12.4")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device=None: properties)
    monkeypatch.setattr(torch.cuda, "_check_bf16_tensor_supported", lambda device: True)
    monkeypatch.setattr(torch.cuda, "_exchange_device", lambda index: asked.append(index) or 0)
    monkeypatch.setattr(torch.cuda, "_maybe_exchange_device", lambda index: index)
    assert best_precision(device) == best
    assert asked == [-1 if torch.device(device).index is None else torch.device(device).index]


def test_elsewhere_nothing_is_mixed():
    assert best_precision("cpu") == best_precision(torch.device("mps")) == "no"
