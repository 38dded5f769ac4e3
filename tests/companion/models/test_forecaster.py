"""The Forecaster: what it starts as, what it sees, its weights, and what it refuses."""

import dataclasses
import math

import pytest
import torch

from companion.models import BERTConfig, Forecaster, ForecasterConfig

SIZES = {
    "features": 3,
    "window": 35,
    "horizon": 2,
    "patch_size": 7,
    "d_model": 12,
    "num_layers": 2,
    "num_heads": 6,
    "d_ff": 11,
}


def forecaster(**changes):
    """In float64 and eval mode, with every parameter random."""
    model = Forecaster(ForecasterConfig(**SIZES | changes))
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.4)
    return model.double().eval()


def window(batch=13):
    return torch.randn(batch, 35, 3, dtype=torch.float64)


def test_shapes_and_derived_sizes():
    model = forecaster()
    assert model(window()).shape == (13, 2, 3)
    assert model.config.num_patches == 5
    assert model.patch_embedding.weight.shape == (12, 2 * 3 * 7)
    assert model.head.weight.shape == (2 * 3, 5 * 12)


def test_an_untrained_model_repeats_the_last_point():
    model = Forecaster(ForecasterConfig(**SIZES)).double().eval()
    x = window()
    torch.testing.assert_close(model(x), x[:, -1:].expand(-1, 2, -1))


def test_every_point_and_feature_of_the_window_matters():
    model, x = forecaster(), window(1).requires_grad_()
    model(x)[0, 1, 2].backward()
    assert x.grad.abs().min() > 1e-9


def test_examples_do_not_touch_each_other():
    model, x = forecaster(), window()
    torch.testing.assert_close(model(x)[4:7], model(x[4:7]))


def test_patches_hold_values_then_scaled_differences_point_by_point():
    model, x = forecaster(step_scale=0.5), window(2)
    patches = model._patches(x)
    assert patches.shape == (2, 5, 42)
    points = patches[1, 3].view(7, 6)
    torch.testing.assert_close(points[:, :3], x[1, 21:28])
    torch.testing.assert_close(points[:, 3:], 2 * (x[1, 21:28] - x[1, 20:27]))
    assert not patches[:, 0, 3:6].any()  # nothing is known before the first point


def test_the_step_scale_is_a_unit_and_nothing_else():
    model, x = forecaster(), window()
    other = Forecaster(dataclasses.replace(model.config, step_scale=4.0)).double().eval()
    other.load_state_dict(model.state_dict())
    with torch.no_grad():
        columns = other.patch_embedding.weight.view(12, 7, 6)  # of each point: values, differences
        columns[:, :, 3:] *= 4
    moved, others = model(x) - x[:, -1:], other(x) - x[:, -1:]
    torch.testing.assert_close(others, 4 * moved)


def test_the_order_of_patches_matters():
    model, x = forecaster(), window(1)
    swapped = torch.cat([x[:, 7:14], x[:, :7], x[:, 14:]], dim=1)
    assert (model(swapped) - model(x)).abs().max() > 1e-3


@pytest.mark.parametrize("norm_first", [False, True])
def test_weights_do_not_change_the_forecast(norm_first):
    model, x = forecaster(norm_first=norm_first), window()
    forecast, weights = model(x, need_weights=True)
    torch.testing.assert_close(forecast, model(x))
    assert [tuple(of_layer.shape) for of_layer in weights] == [(13, 6, 5, 5)] * 2
    for of_layer in weights:
        torch.testing.assert_close(of_layer.sum(-1), torch.ones(13, 6, 5).double())
    assert (weights[0] - weights[1]).abs().max() > 1e-2


def test_every_parameter_learns():
    model = forecaster()
    model(window()).square().sum().backward()
    for name, parameter in model.named_parameters():
        if not name.endswith("k_proj.bias"):  # adding a vector to all keys changes no weight
            assert parameter.grad.abs().max() > 1e-9, name


def test_choices_reach_the_blocks():
    model = forecaster(norm="rms", activation="swiglu", bias=False, d_k=5, d_v=3, norm_eps=0.25)
    assert isinstance(model.final_norm, torch.nn.RMSNorm) and model.final_norm.eps == 0.25
    for block in model.blocks:
        assert block.norm_first and block.feed_forward.gate_proj is not None
        assert (block.self_attention.d_k, block.self_attention.d_v) == (5, 3)
    assert model(window()).shape == (13, 2, 3)


@pytest.mark.parametrize(
    ("changes", "error", "part"),
    [
        ({"window": 36}, ValueError, "36 points.*patches of 7"),
        ({"features": 0}, ValueError, "features.*0"),
        ({"horizon": -1}, ValueError, "horizon.*-1"),
        ({"patch_size": 2.5}, TypeError, "patch_size.*2.5"),
        ({"step_scale": 0.0}, ValueError, "step_scale.*0.0"),
        ({"step_scale": math.inf}, ValueError, "step_scale.*inf"),
        ({"step_scale": "1"}, TypeError, "step_scale.*'1'"),
        ({"d_model": 13}, ValueError, "13.*num_heads = 6"),
    ],
)
def test_a_config_refuses(changes, error, part):
    with pytest.raises(error, match=part):
        ForecasterConfig(**SIZES | changes)


def test_there_are_no_presets():
    with pytest.raises(ValueError, match=r"ForecasterConfig has no presets, got 'base'; give"):
        ForecasterConfig.preset("base")


def test_a_config_is_frozen_and_a_model_takes_no_other():
    with pytest.raises(dataclasses.FrozenInstanceError):
        ForecasterConfig(**SIZES).window = 7
    bert = BERTConfig(vocab_size=5, d_model=12, num_layers=1, num_heads=2, d_ff=7, max_len=3)
    with pytest.raises(TypeError, match=r"ForecasterConfig.*got BERTConfig"):
        Forecaster(bert)


@pytest.mark.parametrize(
    ("x", "error", "part"),
    [
        (torch.randn(13, 34, 3), ValueError, "35 points.*got 34"),
        (torch.randn(13, 35, 5), ValueError, "features = 3.*13, 35, 5"),
        (torch.randn(35, 3), ValueError, r"\(B, T, features\)"),
        (torch.ones(13, 35, 3, dtype=torch.long), TypeError, "floating"),
        ([[1.0]], TypeError, "list"),
    ],
)
def test_a_window_of_another_shape_is_refused(x, error, part):
    with pytest.raises(error, match=part):
        Forecaster(ForecasterConfig(**SIZES))(x)
