"""The stored trials are what the code beside them finds."""

import pytest
import torch

from book.attention_on_a_budget import trials


def test_every_change_is_stored_with_a_rate_that_was_tried_and_three_gaps():
    found = trials.stored()["changes"]
    assert list(found) == list(trials.CHANGES)
    for one in found.values():
        assert one["rate"] in trials.RATES
        assert len(one["gaps"]) == len(trials.SEEDS)


@pytest.mark.long
@pytest.mark.parametrize("name", ["no feed-forward layer"])
def test_a_stored_gap_is_found_again(name):
    one = trials.stored()["changes"][name]
    found = trials.gap(name, trials.SEEDS[0], one["rate"])
    assert found == pytest.approx(one["gaps"][0], abs=0.002)


def test_every_change_changes_the_model_or_its_training():
    sizes = {}
    for name, options in trials.CHANGES.items():
        model = trials.LanguageModel(50, trials.WIDTH, trials.LAYERS, trials.HEADS)
        options.get("change", lambda model: None)(model)
        sizes[name] = sum(weight.numel() for weight in model.parameters())
    base = sizes["the base"]
    assert sizes["no feed-forward layer"] < 0.6 * base
    assert sizes["one key head for four"] < base < sizes["LayerNorm for RMSNorm"]
    assert abs(sizes["GELU for SwiGLU"] / base - 1) < 0.05
    assert sizes["no positions for RoPE"] == base
    assert base < sizes["QK-norm"] < sizes["a gate on attention"] < 1.1 * base
    assert sizes["four experts for one"] > 1.5 * base


def test_the_rates_are_stored_for_every_seed_and_begin_where_the_trials_do():
    found = trials.stored()["rates"]
    assert set(found) <= set(trials.CHANGES)
    for name, by_rate in found.items():
        assert [float(rate) for rate in by_rate] == list(trials.MORE_RATES)
        assert {len(gaps) for gaps in by_rate.values()} == {len(trials.SEEDS)}
        one = trials.stored()["changes"][name]
        assert by_rate[str(one["rate"])] == one["gaps"]


def test_experts_give_each_token_what_its_own_expert_gives():
    torch.manual_seed(0)
    layer, x = trials.Experts(), torch.randn(2, 5, trials.WIDTH)
    shares = layer.router(x).softmax(-1)
    for found, row, share in zip(layer(x)[0], x[0], shares[0], strict=True):
        best = share.argmax()
        expected = share[best] * layer.experts[best](row)
        assert torch.allclose(found, expected, atol=1e-5)
