"""Experts against explicit loops over tokens, and what balances them."""

import copy
import io

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from companion.nn import EncoderBlock, Experts, FeedForward
from tests.companion.nn.test_attention import random


def by_loops(layer, x):
    """Each token's k largest probabilities, and what these experts say of it."""
    output, chosen = torch.zeros_like(x), []
    for b, row in enumerate(x):
        for t, token in enumerate(row):
            p = (layer.router.weight @ token).softmax(0)
            best = sorted(range(len(p)), key=lambda i: -(p[i] + layer.choice_bias[i]))[: layer.k]
            whole = sum(p[i] for i in best) if layer.k > 1 else 1.0
            for i in best:
                output[b, t] += p[i] / whole * layer.experts[i](token[None, None])[0, 0]
            chosen += best
    return output, torch.tensor(chosen)


@given(st.permutations((2, 3, 5, 7)), st.sampled_from((1, 2, 3)), st.booleans())
def test_experts_equal_loops_over_tokens(sizes, k, biased):
    B, T, width, hidden = sizes
    layer, x = Experts(width, hidden, 4, k).double(), random(B, T, width)
    if biased:
        layer.choice_bias.copy_(torch.tensor([0.5, 0.0, -0.5, 0.2]))
    expected, chosen = by_loops(layer, x)
    torch.testing.assert_close(layer(x), expected)
    load = torch.bincount(chosen, minlength=4) / chosen.numel()
    torch.testing.assert_close(layer.load, load.double())


def test_one_expert_is_a_feed_forward_layer():
    layer, x = Experts(6, 9, 1, activation="swiglu", bias=False), random(2, 5, 6).float()
    plain = FeedForward(6, 9, activation="swiglu", bias=False)
    plain.load_state_dict(layer.experts[0].state_dict())
    torch.testing.assert_close(layer(x), plain(x))
    assert layer.load.tolist() == [1.0]
    assert layer.balance_loss.item() == pytest.approx(1)


def test_only_chosen_experts_compute():
    layer, seen = Experts(4, 5, 3), []
    for expert in layer.experts:
        expert.register_forward_hook(lambda module, args, output: seen.append(args[0].shape[1]))
    layer(torch.randn(2, 7, 4))
    assert seen == (layer.load * 14).round().int().tolist()
    assert sum(seen) == 14


def test_the_balance_loss_is_one_when_even_and_the_count_when_collapsed():
    layer = Experts(4, 5, 4)
    torch.nn.init.eye_(layer.router.weight)
    layer(8 * torch.eye(4)[None])
    assert layer.balance_loss.item() == pytest.approx(1, abs=1e-6)
    layer(50 * torch.eye(4)[:1].expand(1, 6, 4))
    assert layer.balance_loss.item() == pytest.approx(4)
    assert layer.load.tolist() == [1, 0, 0, 0]


def test_a_step_down_the_balance_loss_takes_probability_from_the_busiest_expert():
    torch.manual_seed(0)
    layer, x = Experts(4, 5, 3), torch.randn(1, 50, 4) + 2
    layer(x)
    busiest, before = layer.load.argmax(), layer.route(x)[0].mean((0, 1))
    layer.balance_loss.backward()
    assert {name for name, p in layer.named_parameters() if p.grad is not None} == {"router.weight"}
    with torch.no_grad():
        layer.router.weight -= 0.1 * layer.router.weight.grad
    assert layer.route(x)[0].mean((0, 1))[busiest] < before[busiest]


def test_the_bias_moves_choices_and_not_weights():
    layer, x = Experts(4, 5, 2), torch.randn(1, 40, 4)
    torch.nn.init.zeros_(layer.router.weight)
    layer.choice_bias[1] = 0.01
    layer(x)
    assert layer.load.tolist() == [0, 1]
    torch.testing.assert_close(layer(x), layer.experts[1](x) / 2)
    layer.update_bias(0.25)
    assert layer.choice_bias.tolist() == pytest.approx([0.25, -0.24])
    layer(x)
    assert layer.load.tolist() == [1, 0]
    assert "choice_bias" in layer.state_dict() and "load" not in layer.state_dict()


def test_all_weights_of_a_token_get_a_gradient_the_router_too():
    layer = Experts(4, 5, 3, k=2)
    layer(torch.randn(2, 30, 4)).square().sum().backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in layer.parameters())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_and_autocast(dtype):
    layer, x = Experts(6, 9, 3, k=2), torch.randn(2, 5, 6)
    expected = layer(x)
    with torch.autocast("cpu", dtype):
        assert layer(x).dtype == torch.float32
    half = copy.deepcopy(layer).to(dtype)
    assert half(x.to(dtype)).dtype == dtype
    assert half.load.dtype == torch.float32
    assert (half(x.to(dtype)) - expected).abs().median() < 0.02


def test_a_trained_layer_can_be_copied_and_saved():
    layer = Experts(4, 5, 3)
    layer(torch.randn(1, 6, 4))
    assert copy.deepcopy(layer).balance_loss is None
    torch.save(layer, io.BytesIO())
    layer.balance_loss.backward()  # the layer itself has kept it


def test_it_takes_the_place_of_a_blocks_feed_forward():
    block, x = EncoderBlock(6, 2, 9), torch.randn(2, 5, 6)
    block.feed_forward = Experts(6, 9, 3)
    assert block(x, is_causal=True).shape == x.shape
    assert block.feed_forward.load.sum().item() == pytest.approx(1)


def test_an_empty_batch_has_no_load():
    layer = Experts(4, 5, 3)
    assert layer(torch.randn(0, 6, 4)).shape == (0, 6, 4)
    assert layer.load.tolist() == [0, 0, 0]
    assert layer.balance_loss.item() == 0


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_gpu_gives_the_same():
    layer, x = Experts(6, 9, 4, k=2), torch.randn(2, 50, 6)
    expected, loss = layer(x), layer.balance_loss
    layer, x = layer.cuda(), x.cuda()
    torch.testing.assert_close(layer(x).cpu(), expected, rtol=1e-3, atol=1e-3)
    torch.testing.assert_close(layer.balance_loss.cpu(), loss, rtol=1e-3, atol=1e-3)
    layer.update_bias(0.1)
    assert layer.choice_bias.is_cuda


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match=r"k must be at most num_experts.*got 4 of 3"):
        Experts(4, 5, 3, k=4)
    with pytest.raises(ValueError, match="num_experts must be at least 1, got 0"):
        Experts(4, 5, 0)
    with pytest.raises(ValueError, match="activation must be one of"):
        Experts(4, 5, 3, activation="silu")
    layer = Experts(4, 5, 3)
    with pytest.raises(ValueError, match=r"x must have shape \(B, T, d_model\) with d_model = 4"):
        layer(torch.randn(2, 4))
    with pytest.raises(TypeError, match="embed token ids first"):
        layer(torch.zeros(2, 3, 4, dtype=torch.long))
    with pytest.raises(ValueError, match="push must be positive, got 0"):
        layer.update_bias(0)
