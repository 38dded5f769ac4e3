"""float16 and bfloat16: which one a device takes, and training in float16."""

import math
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from companion.training import best_precision, fit, load_checkpoint, next_token_loss

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


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


def small(seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Embedding(9, 8), nn.LayerNorm(8), nn.Dropout(0.2), nn.Linear(8, 9))


def ids(step):
    return torch.randint(9, (4, 7), generator=torch.Generator().manual_seed(step))


def run(model, factor=1.0, **options):
    """Train on losses so many times as large; above 2^16 their gradients overflow float16."""

    def loss(model, batch):
        total, count = next_token_loss(None)(model, batch)
        return total * factor, count

    options = {"steps": 12, "learning_rate": 0.03, "mixed_precision": "fp16", **options}
    return fit(model, ids, loss=loss, progress=False, **options)


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=needs_gpu)])
def test_float16_is_scaled_as_torch_does_it(device):
    model, by_hand, hidden = small().to(device), small().to(device), []
    model[3].register_forward_hook(lambda module, inputs, output: hidden.append(output.dtype))
    torch.manual_seed(1)
    history = run(model, 2.0**18, max_grad_norm=1.0)
    assert set(hidden) == {torch.float16}
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}
    torch.manual_seed(1)
    optimizer = torch.optim.AdamW(by_hand.parameters(), lr=0.03, weight_decay=0.0, fused=True)
    scaler, skipped = torch.amp.GradScaler(device, init_scale=1.0), []
    for step in range(1, 13):
        with torch.autocast(device, torch.float16):
            total, count = next_token_loss(None)(by_hand, ids(step).to(device))
        optimizer.zero_grad()
        scaler.scale(total * 2.0**18).backward()
        scaler.unscale_(optimizer)
        for parameter in by_hand.parameters():
            parameter.grad /= count
        nn.utils.clip_grad_norm_(by_hand.parameters(), 1.0)
        scale = scaler.get_scale()
        scaler.step(optimizer)
        scaler.update()
        skipped += [step] * (scaler.get_scale() < scale)
    assert history.skipped == skipped and 2 <= len(skipped) < 12
    for ours, theirs in zip(model.parameters(), by_hand.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-6)


def test_a_skipped_step_counts_and_moves_nothing():
    model, rates = small(), []
    before = [parameter.clone() for parameter in model.parameters()]
    history = run(model, 2.0**22, steps=2, learning_rate=lambda step: rates.append(step) or 0.03)
    assert history.skipped == rates == [1, 2]
    assert history.grad_norm == [math.inf] * 2
    assert all(math.isfinite(loss) for loss in history.loss)
    assert all(torch.equal(p, q) for p, q in zip(model.parameters(), before, strict=True))


def test_the_scale_is_in_the_checkpoint(tmp_path):
    path = tmp_path / "run.safetensors"
    second, first, straight = small(seed=2), small(), small()
    torch.manual_seed(0)
    whole = run(straight, 2.0**18)
    torch.manual_seed(0)
    run(first, 2.0**18, steps=1, checkpoint=path)
    assert load_checkpoint(path)["scaler"]["scale"] == 0.5
    assert run(second, 2.0**18, checkpoint=path, resume=True) == whole
    assert all(map(torch.equal, second.parameters(), straight.parameters()))


def test_accumulation_moves_nothing():
    models = small(), small()
    for model in models:
        model[2].p = 0.0
    one, several = run(models[0], steps=1), run(models[1], steps=1, accumulate=2)
    assert several.loss == pytest.approx(one.loss, rel=1e-3)
    assert several.grad_norm == pytest.approx(one.grad_norm, rel=1e-3)


def test_a_gradient_that_overflows_at_any_scale_is_told():
    model, calls = small(), []
    model[0].weight.register_hook(lambda gradient: calls.append(1) or gradient * math.inf)
    with pytest.raises(FloatingPointError, match=r"overflows float16, as at all steps while"):
        run(model, steps=100)
    assert len(calls) == 25


def test_a_loss_that_is_not_finite_is_no_matter_of_scale():
    with pytest.raises(FloatingPointError, match="at step 1 the loss is"):
        run(small(), math.nan)
