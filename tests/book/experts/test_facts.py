"""The facts, who answers them, and that the stored table is what the code beside it finds."""

import pytest
import torch

from book.experts import facts


def test_every_design_is_stored_for_every_seed_at_one_rate():
    rows = facts.measured()
    assert [(row["design"], row["seed"]) for row in rows] == [
        (design, seed) for design in facts.DESIGNS for seed in facts.SEEDS
    ]
    rates = {(row["design"], row["rate"]) for row in rows}
    assert len(rates) == len(facts.DESIGNS)
    assert {rate for _, rate in rates} <= {facts.RATE, *facts.RATES}


@pytest.mark.long
def test_a_stored_run_is_found_again():
    design = "common part, bias 0.01"
    rows = [row for row in facts.measured() if row["design"] == design]
    found = facts.measure(design, rows[0]["seed"], rows[0]["rate"])
    for what in ("right", "load in a batch"):  # a herd goes its own way where rounding differs
        stored = [row[what] for row in rows]
        assert min(stored) - 0.1 < found[what] < max(stored) + 0.1


def test_facts_are_arbitrary_and_a_rule_is_not():
    one, other = facts.facts(1), facts.facts(2)
    assert len(one.ids) == 4096 and one.trained.all()
    assert 0.005 < (one.answers == other.answers).float().mean() < 0.03
    ruled = facts.facts(1, rule=True)
    domain, key = ruled.ids[:, 0], ruled.ids[:, 1] - facts.DOMAINS
    assert torch.equal(ruled.answers, (4 * domain + key) % facts.VALUES)
    assert 0.7 < ruled.trained.float().mean() < 0.8
    assert torch.equal(facts.facts(1, key_first=True).ids, one.ids.flip(1))


def test_shared_bits_of_what_is_the_same_and_of_what_is_not():
    x = torch.arange(4096) % 8
    assert facts.information(x, x) == pytest.approx(3, abs=0.02)
    torch.manual_seed(0)
    assert abs(facts.information(x, torch.randint(200, (4096,)))) < 0.1


def test_the_router_meets_a_common_part_and_the_experts_do_not():
    torch.manual_seed(0)
    layer, seen = facts.experts(), []
    x = torch.randn(5, 1, facts.WIDTH)
    before = layer.route(x)[0]
    facts.common_part(layer)
    layer.experts[0].register_forward_hook(lambda module, args, output: seen.append(args[0]))
    after = layer.route(x)[0]
    assert not torch.allclose(before, after, atol=1e-3)
    logits = (layer.router.weight @ x[:, 0].T).T, after[:, 0].log()
    moved = (logits[1] - logits[0]).diff(dim=1)
    assert torch.allclose(moved, moved[:1].expand_as(moved), atol=1e-4)  # the same for all
    layer(x)
    assert all((part == y).all(-1).any() for y in seen[0][0] for part in [x[:, 0]])


@pytest.mark.parametrize("balance", ["none", "loss", "bias"])
def test_a_reader_learns_and_only_a_bias_moves_the_bias(balance):
    task = facts.facts(1)
    model, loads = facts.learn(facts.experts, task, 1, steps=60, balance=balance)
    assert loads.shape == (60, 8) and torch.allclose(loads.sum(1), torch.ones(60))
    assert (model.layer.choice_bias.abs().sum() > 0) == (balance == "bias")
    chance = 1 / facts.VALUES
    assert facts.right(model, task, torch.arange(4096)) > 1.5 * chance
    assert facts.chosen(model, task.ids).shape == (4096,)
