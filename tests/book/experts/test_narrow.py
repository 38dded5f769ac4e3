"""A narrow cache, and that the stored gaps are what the code beside them finds."""

import pytest
import torch

from book.experts import narrow
from book.language_model import NOTHING, train
from companion.nn import KVCache


def test_every_design_is_stored_with_the_rate_that_was_best_and_a_gap_for_each_seed():
    found = narrow.measured()
    assert list(found) == list(narrow.DESIGNS)
    for name, one in found.items():
        assert len(one["gaps"]) == len(narrow.SEEDS)
        if name in narrow.UNTRAINED:
            assert one["tuned"] == [] and one["rate"] is None
        else:
            assert one["rate"] == narrow.RATES[one["tuned"].index(min(one["tuned"]))]
    assert found["full"]["rate"] == narrow.RATE


@pytest.mark.long
@pytest.mark.parametrize("name", ["latent 4 + 2", "cut to 8"])
def test_a_stored_gap_is_found_again_alone(name, monkeypatch):
    monkeypatch.setattr(narrow, "SEEDS", ())  # so that the finished model, too, is trained alone
    monkeypatch.setattr(narrow, "_finished", {})
    one = narrow.measured()[name]
    (found,) = narrow.gaps(name, [801], one["rate"] and [one["rate"]])
    # Another processor rounds otherwise, and is as another seed.
    assert found == pytest.approx(one["gaps"][0], abs=0.1)


def start(name, monkeypatch):
    """A design's model for seed 1, of which nothing is trained beforehand."""
    monkeypatch.setattr(narrow, "again", narrow.new)
    return narrow.new(name, 1)


IDS = narrow.ids_of(narrow.corpus(6, 1))[:, :-1]


@torch.no_grad()
def test_a_cut_as_wide_as_the_input_cuts_nothing_and_a_narrow_one_does(monkeypatch):
    expected = start("full", monkeypatch)(IDS)
    monkeypatch.setattr(narrow, "sentences", lambda seed: narrow.ids_of(narrow.corpus(400, 2)))
    real = IDS != NOTHING
    cut = [narrow.cut(c, 1)(IDS) - expected for c in (64, 16, 4)]
    off = [apart[real].square().mean().sqrt().item() for apart in cut]
    assert off[0] < 1e-3 < off[1] < off[2]


def test_designs_have_the_layers_that_they_name(monkeypatch):
    names = {"latent 4 + 2, no norm": 6}
    for c, r in narrow.LATENTS.items():
        names |= {f"latent {c}": c, f"latent {c} + {r}": c + r}
    for name, held in names.items():
        layer, kept = start(name, monkeypatch).blocks[0].attention.layer, KVCache()
        layer(torch.randn(1, 3, narrow.WIDTH), is_causal=True, cache=kept)
        assert kept.key.shape == (1, 1, 3, held)
        assert isinstance(layer.latent_norm, torch.nn.Identity) == name.endswith("no norm")
    layer, kept = start("one key head", monkeypatch).blocks[0].attention.layer, KVCache()
    layer(torch.randn(1, 3, narrow.WIDTH), is_causal=True, cache=kept)
    assert kept.key.numel() + kept.value.numel() == 3 * 32


def test_models_side_by_side_train_as_one_does_alone(monkeypatch):
    monkeypatch.setattr(narrow, "STEPS", 4)
    monkeypatch.setattr(narrow, "sentences", lambda seed: narrow.ids_of(narrow.corpus(128, seed)))
    name, pairs = "latent 4 + 2", ((1, 0.01), (2, 0.04))
    together = [narrow.new(name, seed) for seed, _ in pairs]
    narrow.train(together, *zip(*pairs, strict=True))
    for (seed, rate), one in zip(pairs, together, strict=True):
        alone, before = narrow.new(name, seed), narrow.new(name, seed)(IDS)
        narrow.train([alone], [seed], [rate])
        torch.testing.assert_close(alone(IDS), one(IDS), rtol=1e-3, atol=1e-3)
        assert (alone(IDS) - before).abs().max() > 0.02


def test_a_step_is_the_books(monkeypatch):
    monkeypatch.setattr(narrow, "STEPS", 4)
    rows = narrow.ids_of(narrow.corpus(128, 3))
    monkeypatch.setattr(narrow, "sentences", lambda seed: rows)
    ours, theirs = (narrow.new("full", 1) for _ in range(2))
    narrow.train([ours], [1], [0.02])
    train(theirs, lambda i: rows[32 * i : 32 * i + 32], 4, peak=0.02)
    torch.testing.assert_close(ours(IDS), theirs(IDS), rtol=1e-3, atol=1e-3)
