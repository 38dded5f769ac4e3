"""Adapters, and what the facts' measures say of a model that knows the truth."""

import copy

import pytest
import torch
from torch import nn

from book.small_change import adapters


@pytest.fixture(scope="module")
def known():
    return adapters.facts(3)


class Oracle(nn.Module):
    """Says the truth of these objects."""

    def __init__(self, objects):
        super().__init__()
        self.objects = objects

    def forward(self, ids):
        which = ids[:, 0] * adapters.RELATIONS + ids[:, 1] - adapters.SUBJECTS
        p = adapters.true_probabilities(self.objects[which])
        first = torch.full((len(ids), adapters.FIRST_OBJECT), -torch.inf)
        return torch.cat([first, p.log()], 1)[:, None].clamp(min=-1e4)


def test_half_of_the_facts_change_and_all_changed_ones_do(known):
    assert len(known.changed) == len(known.kept)
    assert (known.old != known.new).nonzero()[:, 0].tolist() == sorted(known.changed.tolist())


def test_whoever_knows_the_truth_has_nothing_left_to_learn(known):
    oracle = Oracle(known.new)
    assert abs(adapters.divergence(oracle, known.changed, known.new)) < 1e-5
    assert adapters.right(oracle, known.changed, known.new) == 1
    assert adapters.divergence(oracle, known.changed, known.old) > 4
    assert adapters.right(oracle, known.changed, known.old) == 0


def test_an_adapter_starts_as_no_change_and_trains_alone(known):
    torch.manual_seed(0)
    config = adapters.GPTConfig(
        vocab_size=76, d_model=8, num_layers=1, num_heads=2, d_ff=16, max_len=2, dropout=0.0
    )
    base = adapters.GPT(config)
    model, which = adapters.adapted(base, rank=2), torch.arange(30)
    torch.testing.assert_close(
        adapters.logits_of(model, which), adapters.logits_of(base, which), rtol=0, atol=0
    )
    before = copy.deepcopy(base.state_dict())
    adapters.train(model, known.changed, known.new, 0.1, steps=3, batch=16)
    moved = adapters.logits_of(model, which)
    assert (moved - adapters.logits_of(base, which)).abs().max() > 1e-3
    assert all(torch.equal(x, before[name]) for name, x in base.state_dict().items())
    merged = adapters.logits_of(adapters.merged(model.double()), which)
    torch.testing.assert_close(merged, adapters.logits_of(model, which), rtol=0, atol=1e-12)
    trained = sum(p.numel() for p in model.parameters() if p.requires_grad)
    assert trained == 2 * (4 * 16 + 2 * 24)
