"""Schedules against their formulas, at steps whose rate is known without one."""

import math

import pytest
import torch

from companion.training import cosine_schedule, warmup_schedule


def test_warmup_at_the_steps_that_can_be_worked_out():
    def rate(step):
        return warmup_schedule(step, d_model=64, warmup_steps=25)

    peak = 1 / (8 * 5)  # both arms of the minimum meet: 64^-0.5 * 25^-0.5
    assert rate(25) == pytest.approx(peak, rel=1e-15)
    assert rate(1) == pytest.approx(peak / 25, rel=1e-15)
    assert rate(100) == pytest.approx(peak / 2, rel=1e-15)
    rates = [rate(step) for step in range(1, 200)]
    assert max(rates) == rate(25)
    assert rates[:25] == sorted(rates[:25])
    assert rates[24:] == sorted(rates[24:], reverse=True)


@pytest.mark.parametrize("step", [1, 37, 4000, 99_991])
def test_warmup_is_equation_3(step):
    expected = 512**-0.5 * min(step**-0.5, step * 4000**-1.5)
    assert warmup_schedule(step, d_model=512, warmup_steps=4000) == pytest.approx(expected)


def test_cosine_at_the_steps_that_can_be_worked_out():
    def rate(step):
        return cosine_schedule(step, max_lr=0.9, min_lr=0.1, warmup_steps=10, total_steps=30)

    assert rate(0) == 0.0
    assert rate(1) == pytest.approx(0.09)
    assert rate(10) == pytest.approx(0.9)
    assert rate(20) == pytest.approx(0.5)
    assert rate(15) == pytest.approx(0.5 + 0.4 * math.sqrt(0.5))
    assert rate(30) == pytest.approx(0.1)
    assert rate(1000) == pytest.approx(0.1)


def test_cosine_is_torchs_when_nothing_is_warmed_up():
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.7)
    theirs = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=13, eta_min=0.2)
    for step in range(1, 14):
        optimizer.step()
        theirs.step()
        ours = cosine_schedule(step, max_lr=0.7, min_lr=0.2, warmup_steps=0, total_steps=13)
        assert ours == pytest.approx(theirs.get_last_lr()[0])
    assert cosine_schedule(0, max_lr=0.7, min_lr=0.2, warmup_steps=0, total_steps=13) == 0.7


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"step": -1}, ValueError, "step must be at least 0, got -1"),
        ({"step": 1.5}, TypeError, "step must be an int"),
        ({"warmup_steps": 30}, ValueError, "got 30 of 30 steps"),
        ({"warmup_steps": -1}, ValueError, "warmup_steps must be at least 0, got -1"),
        ({"warmup_steps": 2.5}, TypeError, "warmup_steps must be an int, got 2.5"),
        ({"max_lr": float("inf")}, ValueError, "max_lr must be finite, got inf"),
        ({"max_lr": "0.9"}, TypeError, "max_lr must be a number, got '0.9'"),
        ({"min_lr": 1.0}, ValueError, "got 1.0 and 0.9"),
        ({"min_lr": -0.1}, ValueError, "got -0.1 and 0.9"),
    ],
)
def test_cosine_refuses(changes, error, message):
    good = {"step": 1, "max_lr": 0.9, "min_lr": 0.1, "warmup_steps": 10, "total_steps": 30}
    with pytest.raises(error, match=message):
        cosine_schedule(**(good | changes))


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"step": 0}, ValueError, "step must be at least 1, got 0"),
        ({"step": 2.0}, TypeError, "step must be an int"),
        ({"d_model": 0}, ValueError, "d_model must be at least 1"),
        ({"warmup_steps": 0}, ValueError, "warmup_steps must be at least 1"),
    ],
)
def test_warmup_refuses(changes, error, message):
    with pytest.raises(error, match=message):
        warmup_schedule(**({"step": 1, "d_model": 64, "warmup_steps": 25} | changes))
