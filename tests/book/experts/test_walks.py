"""A head with nothing to look for: the task, what is judged of a model, and the stored table."""

import pytest
import torch
from torch import nn

from book.experts import walks


def test_a_trigger_copies_and_every_other_token_draws_from_its_row():
    follow = torch.eye(walks.TOKENS).roll(1, 1)  # the next token is the next number
    for start in (True, False):
        ids = walks.walks(follow, 50, start, torch.Generator().manual_seed(1))
        assert (ids[:, 0] == walks.TOKENS).all() == start
        for t in range(1 + start, ids.shape[1]):
            before, copied = ids[:, t - 1], ids[:, t - 2]
            trigger = before < walks.TRIGGERS
            assert t > 1 or not trigger.any()
            drawn = follow[before].argmax(1)
            assert torch.equal(ids[:, t], torch.where(trigger, copied, drawn))


class Knows(nn.Module):
    """Says what the world of a seed says, or that all is alike; looks at one place only."""

    def __init__(self, seed, sure, place, share):
        super().__init__()
        self.follow, self.sure = walks.world(seed), sure
        self.place, self.share = place, share

    def forward(self, ids):
        said = torch.cat([self.follow, torch.ones(1, walks.TOKENS)])[ids].log()
        weights = torch.zeros(*ids.shape, ids.shape[1])
        weights[..., self.place] = self.share
        return said if self.sure else torch.zeros_like(said), weights


def test_the_error_is_none_of_who_knows_the_world_and_the_weights_are_told_apart():
    knows = walks.judged(Knows(3, True, 0, 1.0), True, 3)
    assert knows["error"] == pytest.approx(0, abs=1e-5)
    assert (knows["first"], knows["extra"]) == (1, 0)
    guesses = walks.judged(Knows(3, False, 5, 0.25), True, 3)
    assert guesses["error"] > 0.5
    assert (guesses["first"], guesses["extra"]) == (0, 0.75)


def test_designs_differ_by_what_they_name():
    ids = walks.walks(walks.world(1), 4, True, torch.Generator().manual_seed(1))[:, :-1]
    torch.manual_seed(0)
    plain = walks.OneHead("softmax")
    for kind in ("softmax", "extra logit", "gate"):
        model = walks.OneHead(kind)
        model.load_state_dict(plain.state_dict())
        logits, weights = model(ids)
        assert torch.equal(logits, plain(ids)[0]) == (kind == "softmax")
        full = torch.isclose(weights.sum(-1), torch.ones(()))
        assert full.all() if kind != "extra logit" else not full.any()


def test_two_seeds_choose_a_rate_for_every_design_and_ten_are_compared():
    rows = walks.stored()
    assert [row["seed"] for row in rows] == list(range(5301, 5313))
    assert walks.compared() == rows[2:]
    for begins, kind in walks.DESIGNS:
        found = [row[f"{begins}, {kind}"] for row in rows]
        assert all(len(one) == len(walks.RATES) for one in found)
        place = walks.RATES.index(walks.chosen(begins, kind))
        sums = [sum(one[i]["error"] for one in found[:2]) for i in range(len(walks.RATES))]
        assert sums[place] == min(sums)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["softmax", "gate"])
def test_a_stored_run_is_found_again(kind):
    found = walks.judged(walks.learned(kind, False, walks.RATES[1], 5301), False, 5301)
    stored = walks.stored()[0][f"none, {kind}"][1]
    # Another processor rounds otherwise, and is as another start.
    assert found["error"] == pytest.approx(stored["error"], rel=0.2)
