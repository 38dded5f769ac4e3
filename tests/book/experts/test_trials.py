"""The stored trials are what the code beside them finds."""

from statistics import mean

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from book.experts import trials
from book.language_model import LanguageModel

BASE = [[0.5, 0.4], [0.3, 0.4], [0.4, 0.1]]  # (starts, seeds)


@pytest.mark.parametrize(
    ("read", "names"),
    [(lambda: trials.stored()["changes"], trials.CHANGES), (trials.later, trials.LASTING)],
)
def test_every_change_is_stored_with_rates_that_were_tried_and_a_gap_for_each_seed(read, names):
    found = read()
    assert list(found) == list(names)
    for name, one in found.items():
        assert tuple(one["rates"]) == trials.RATES[one["tuned"].index(min(one["tuned"]))]
        starts = len(trials.STARTS) if name == "the base" else 1
        assert [len(row) for row in one["gaps"]] == [len(trials.SEEDS)] * starts


def test_some_changes_are_stored_at_more_rates():
    for by_rate in trials.stored()["rates"].values():
        assert [float(rate) for rate in by_rate] == list(trials.MORE_RATES)


@pytest.mark.long
@pytest.mark.parametrize("name", ["no feed-forward", "RMSNorm with a shift"])
def test_a_stored_gap_is_found_again_alone(name):
    one, seed = trials.stored()["changes"][name], trials.SEEDS[0]
    (found,) = trials.gaps(name, [one["rates"]], [seed], [seed])
    assert found == pytest.approx(one["gaps"][0][0], abs=0.005)


@pytest.mark.long
def test_a_stored_gap_after_more_steps_is_found_again_alone():
    one, seed = trials.later()["RMSNorm with a shift"], trials.SEEDS[0]
    (found,) = trials.gaps("RMSNorm with a shift", [one["rates"]], [seed], [seed], 4 * trials.STEPS)
    # Another processor rounds otherwise, and is as another start.
    assert found == pytest.approx(one["gaps"][0][0], abs=0.03)


def test_a_placebo_is_a_start_against_the_mean_of_the_others():
    alone = sorted(trials.placebos(BASE, 1))
    assert alone == pytest.approx(sorted([0.15, -0.15, 0, 0.15, 0.15, -0.3]))
    both = trials.placebos(BASE, 2)
    assert len(both) == 9 and mean(both) == pytest.approx(0)
    assert max(map(abs, both)) == pytest.approx(trials.band(BASE, 2)) == pytest.approx(0.225)


def test_the_smallest_effect_leaves_the_band_in_four_of_five_placebos():
    effect, noise = trials.smallest_seen(BASE, 2), trials.placebos(BASE, 2)
    seen = [effect + x > trials.band(BASE, 2) - 1e-12 for x in noise]
    assert 0.8 <= mean(seen) < 1


def test_the_text_follows_its_table_and_has_the_entropy_that_is_said():
    draw = torch.Generator().manual_seed(0)
    table = torch.randint(trials.SYMBOLS, (trials.SYMBOLS, trials.SYMBOLS), generator=draw)
    ids = trials.text(table, 2000, draw)
    hit = (ids[:, 2:] == table[ids[:, :-2], ids[:, 1:-1]]).float()
    said = trials.SURE + (1 - trials.SURE) / trials.SYMBOLS
    assert hit.mean().item() == pytest.approx(said, abs=0.005)
    other = (1 - said) / (trials.SYMBOLS - 1)
    logp = torch.where(hit > 0, torch.tensor(said).log(), torch.tensor(other).log())
    assert -logp.mean().item() == pytest.approx(trials.ENTROPY, abs=0.02)


def test_every_change_changes_the_model():
    sizes, ids, logits = {}, torch.arange(24)[None] % trials.SYMBOLS, []
    for name, change in trials.CHANGES.items():
        torch.manual_seed(0)
        model = LanguageModel(trials.SYMBOLS, trials.WIDTH, layers=1, heads=trials.HEADS)
        change(model)
        for weight in model.parameters():  # so that heads choose, and no bias or shift is 0
            ramp = torch.linspace(0, 1, weight.numel()).view_as(weight)
            weight.data = 3 * weight.data if weight.dim() == 2 else weight.data + ramp
        sizes[name] = sum(weight.numel() for weight in model.parameters())
        if name != trials.MUON:  # another optimizer, not another model
            logits.append(model(ids))
    base = sizes["the base"]
    assert sizes["no feed-forward"] < 0.6 * base
    assert base < sizes["LayerNorm for RMSNorm"]
    assert abs(sizes["GELU for SwiGLU"] / base - 1) < 0.05
    assert sizes["LayerNorm without its shift"] == base
    assert sizes["RMSNorm with a shift"] == sizes["LayerNorm for RMSNorm"]
    for i, one in enumerate(logits):
        assert all((one - other).abs().max() > 1e-3 for other in logits[:i])


def test_models_side_by_side_train_as_one_does_alone():
    pairs = [(0.04, 1.0), (0.16, 0.4)]
    together = trials.gaps("QK-norm", pairs, [1, 2], [3, 4], steps=5)
    alone = [
        trials.gaps("QK-norm", [pair], [seed], [start], steps=5)[0]
        for pair, seed, start in zip(pairs, (1, 2), (3, 4), strict=True)
    ]
    assert together == pytest.approx(alone, abs=2e-3)
    assert together[0] != pytest.approx(together[1], abs=1e-3)


def test_a_step_is_torchs():
    torch.manual_seed(0)
    layer, x = nn.Linear(3, 3, bias=False), torch.randn(7, 3)
    weights = {"blocks.0": layer.weight.detach()[None].clone().requires_grad_()}
    ours = trials.Optimizer(weights, torch.tensor([0.1]), torch.tensor([0.5]), muon=False)
    theirs = torch.optim.AdamW(layer.parameters(), lr=0.05, betas=(0.9, 0.99), weight_decay=0.02)
    for _ in range(3):
        F.linear(x, weights["blocks.0"][0]).square().sum().backward()
        ours.step(1.0)
        theirs.zero_grad()
        layer(x).square().sum().backward()
        nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
        theirs.step()
    torch.testing.assert_close(weights["blocks.0"][0], layer.weight, rtol=1e-3, atol=1e-4)


def test_muons_update_is_nearly_orthogonal():
    torch.manual_seed(0)
    for shape in ((2, 8, 5), (2, 5, 8)):
        values = torch.linalg.svdvals(trials.orthogonal(torch.randn(shape)))
        assert values.min() > 0.5 and values.max() < 1.3
