"""The stored trials in two hops are what the code beside them finds."""

import pytest
import torch

from book.attention_on_a_budget import readers


def test_every_trial_is_stored_with_two_shares_for_each_seed():
    found = readers.stored()
    assert list(found) == list(readers.TRIALS)
    for name, (_, _, seeds) in readers.TRIALS.items():
        assert len(found[name]) == len(seeds)
        for first, both in found[name]:
            assert 0 <= both <= first <= 1


@pytest.mark.long
def test_a_stored_trial_is_found_again():
    kinds, steps, seeds = readers.TRIALS["full attention"]
    found = readers.learn_hops(kinds, steps, seeds[0])
    assert found == pytest.approx(readers.stored()["full attention"][0], abs=0.01)


def test_two_hops_end_where_the_links_lead():
    torch.manual_seed(3)
    ids, middle, end = hop = readers.hop_task(8, rows=5)
    assert [part.shape[1] for part in hop] == [20, 4, 4]
    for row, *truth in zip(ids.tolist(), middle.tolist(), end.tolist(), strict=True):
        links = dict(zip(row[0:16:2], row[1:16:2], strict=True))
        asked = row[16:]
        assert [[links[a] for a in asked], [links[links[a]] for a in asked]] == truth


def test_a_layer_that_overwrites_and_one_that_adds_read_what_full_attention_does_not():
    """Each kind gives another answer, and none looks ahead."""
    torch.manual_seed(4)
    q, k, v = torch.randn(3, 2, 1, 20, 4)
    beta = torch.rand(2, 1, 20)
    found = {}
    for kind in ("full", "window", "add", "overwrite"):
        found[kind] = readers.read_memory(kind, q, k, v, beta)
        part = readers.read_memory(kind, q[:, :, :9], k[:, :, :9], v[:, :, :9], beta[..., :9])
        assert torch.allclose(found[kind][:, :, :9], part, atol=1e-5)
    names = list(found)
    for i, one in enumerate(names):
        for other in names[:i]:
            assert not torch.allclose(found[one][:, :, -1], found[other][:, :, -1], atol=1e-3)
    assert torch.allclose(found["full"][:, :, :16], found["window"][:, :, :16])


def test_looking_back_is_the_short_convolution():
    torch.manual_seed(5)
    mixer = readers.Mixer(d=6, heads=2, kind="add")
    torch.nn.init.normal_(mixer.conv.weight)
    torch.nn.init.normal_(mixer.conv.bias)
    y = torch.randn(2, 7, 18)
    torch.testing.assert_close(mixer.look_back(y), mixer.conv(y.mT)[..., :7].mT)
