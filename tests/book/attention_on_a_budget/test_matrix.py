"""The matrix rules against a plain loop over one matrix, and what they refuse."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from book.attention_on_a_budget.matrix import delta_rule, linear_attention
from tests.companion.nn.test_attention import random


def unit(*shape):
    return torch.nn.functional.normalize(random(*shape), dim=-1)


def loop(query, key, value, beta=None, log_decay=None):
    """One position after the other: fade, write, read."""
    S = query.new_zeros(*query.shape[:-2], value.shape[-1], query.shape[-1])
    outputs = []
    for t in range(query.shape[-2]):
        q, k, v = (x[..., t, :, None] for x in (query, key, value))
        if log_decay is not None:
            S = S * log_decay[..., t, None, None].exp()
        if beta is not None:
            v = beta[..., t, None, None] * (v - S @ k)
        S = S + v @ k.transpose(-2, -1)
        outputs.append((S @ q)[..., 0])
    return torch.stack(outputs, dim=-2)


@st.composite
def problems(draw):
    """query, key, value, beta and a decay or none: every size another prime."""
    B, H, T, d_k, d_v = draw(st.permutations((2, 3, 5, 11, 13)))
    tensors = random(B, H, T, d_k), unit(B, H, T, d_k), random(B, H, T, d_v)
    beta = torch.rand(B, H, T, dtype=torch.float64)
    decay = -torch.rand(B, H, T, dtype=torch.float64) if draw(st.booleans()) else None
    return tensors, beta, decay


@given(problems())
def test_all_positions_at_once_give_what_the_loop_gives(problem):
    tensors, beta, decay = problem
    for found, expected in (
        (linear_attention(*tensors, log_decay=decay), loop(*tensors, log_decay=decay)),
        (delta_rule(*tensors, beta, log_decay=decay), loop(*tensors, beta, decay)),
    ):
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


def test_a_long_text_gives_what_the_loop_gives():
    tensors = unit(300, 8), unit(300, 8), random(300, 5)
    beta, decay = torch.rand(300, dtype=torch.float64), -torch.rand(300, dtype=torch.float64)
    expected = loop(*tensors, beta)
    torch.testing.assert_close(delta_rule(*tensors, beta), expected, rtol=0, atol=1e-12)
    expected = loop(*tensors, beta, decay * 10)
    found = delta_rule(*tensors, beta, log_decay=decay * 10)  # its products underflow
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


def test_gradients_are_those_of_finite_differences():
    inputs = [random(2, 5, 3), unit(2, 5, 3), random(2, 5, 2)]
    numbers = [torch.rand(2, 5, dtype=torch.float64), -torch.rand(2, 5, dtype=torch.float64)]
    inputs = [x.requires_grad_() for x in (*inputs, *numbers)]
    torch.autograd.gradcheck(lambda *x: delta_rule(*x[:4], log_decay=x[4]), inputs)
    torch.autograd.gradcheck(lambda *x: linear_attention(*x[:3], log_decay=x[4]), inputs)


def test_a_fact_written_twice_by_hand():
    # The key (0.6, 0.8) gets 3, then 7. The sum reads 10, the overwritten matrix 7.
    key = torch.tensor([[0.6, 0.8], [0.6, 0.8]], dtype=torch.float64)
    value = torch.tensor([[3.0], [7.0]], dtype=torch.float64)
    added = linear_attention(key, key, value)
    assert added[:, 0].tolist() == pytest.approx([3, 10])
    ones = torch.ones(2, dtype=torch.float64)
    assert delta_rule(key, key, value, ones)[:, 0].tolist() == pytest.approx([3, 7])
    assert delta_rule(key, key, value, ones / 2)[:, 0].tolist() == pytest.approx([1.5, 4.25])
    half = torch.full((2,), 0.5, dtype=torch.float64).log()
    faded = linear_attention(key, key, value, log_decay=half)  # what is written now has not faded
    assert faded[:, 0].tolist() == pytest.approx([3, 8.5])


def test_no_later_position_is_read():
    tensors, beta = [unit(7, 5), unit(7, 5), random(7, 3)], torch.rand(7, dtype=torch.float64)
    changed = [torch.cat([x[:4], 1 + x[4:]]) for x in tensors]
    for rule in (linear_attention, lambda *x: delta_rule(*x, beta)):
        torch.testing.assert_close(rule(*tensors)[:4], rule(*changed)[:4])


@pytest.mark.parametrize("shape", [(0, 7), (2, 0)])
def test_empty_batch_and_empty_text(shape):
    x, beta = torch.ones(*shape, 5), torch.ones(shape)
    assert delta_rule(x, x, x[..., :3], beta, log_decay=-beta).shape == (*shape, 3)
    assert linear_attention(x, x, x[..., :3]).shape == (*shape, 3)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_exact_to_its_own_rounding(dtype):
    tensors = [x.to(dtype) for x in (unit(50, 7), unit(50, 7), random(50, 3))]
    beta = torch.rand(50).to(dtype)
    found = delta_rule(*tensors, beta)
    expected = loop(*(x.double() for x in (*tensors, beta)))
    assert found.dtype == dtype
    error = (found.double() - expected).abs().max() / expected.abs().max()
    assert error < torch.finfo(dtype).eps


def test_autocast_changes_nothing():
    x, beta = torch.randn(7, 5), torch.rand(7)
    expected = delta_rule(x, x / 5, x, beta), linear_attention(x, x, x)
    with torch.autocast("cpu", torch.bfloat16):
        found = delta_rule(x, x / 5, x, beta), linear_attention(x, x, x)
    assert all(map(torch.equal, found, expected))


@pytest.mark.parametrize(
    "changes, error, message",
    [
        ({"query": torch.ones(2, 4, 3)}, ValueError, "same length T, .* got 4 and 5"),
        ({"value": torch.ones(2, 4, 3)}, ValueError, "same length S, got 5 and 4"),
        ({"beta": torch.ones(2, 4)}, ValueError, r"beta .* \(2, 5\), .* got \(2, 4\)"),
        ({"beta": torch.ones(5)}, ValueError, r"beta must .* got \(5,\)"),
        ({"log_decay": torch.ones(2, 5, 1)}, ValueError, r"log_decay .* got \(2, 5, 1\)"),
        ({"beta": 1.0}, TypeError, "beta must be a torch.Tensor, got float"),
        ({"beta": torch.ones(2, 5).double()}, TypeError, "beta must .* got torch.float64"),
        ({"log_decay": torch.ones(2, 5).to("meta")}, ValueError, "on cpu, .* got meta"),
    ],
)
def test_what_does_not_fit(changes, error, message):
    given = {name: torch.ones(2, 5, 3) for name in ("query", "key", "value")}
    with pytest.raises(error, match=message):
        delta_rule(**{**given, "beta": torch.ones(2, 5)} | changes)
    if "beta" not in changes:
        with pytest.raises(error, match=message):
            linear_attention(**given | changes)
