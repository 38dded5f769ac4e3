"""The stored trials are what the code beside them finds."""

import pytest

from book.attention_on_a_budget import trials


def test_every_change_is_stored_with_a_rate_that_was_tried_and_three_gaps():
    found = trials.stored()
    assert list(found) == list(trials.CHANGES)
    for one in found.values():
        assert one["rate"] in trials.RATES
        assert len(one["gaps"]) == len(trials.SEEDS)


@pytest.mark.parametrize("name", ["no feed-forward layer"])
def test_a_stored_gap_is_found_again(name):
    one = trials.stored()[name]
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
