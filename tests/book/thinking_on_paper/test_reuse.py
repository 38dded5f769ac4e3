"""Several steps on the same answers: the first is REINFORCE, and clipping stops what has moved."""

import pytest
import torch

from book.thinking_on_paper import reuse


def test_every_method_is_in_the_table_at_its_own_rate_and_at_one_for_all():
    first, *others = reuse.measured()
    assert [row["seed"] for row in (first, *others)] == [801, 701, 702, 703]
    for schedule in reuse.SCHEDULES:
        rows = first[schedule]
        assert {tuple(map(float, rates)) for rates in rows.values()} == {reuse.RATES}
        best = reuse.chosen(first, schedule)
        for row in others:
            assert list(row[schedule]) == list(reuse.METHODS)
            for name, rate in best.items():
                assert {*map(float, row[schedule][name])} == {rate, best[reuse.CLIPPED]}


def test_a_rate_rises_and_falls_over_the_steps_of_a_run():
    factor = reuse.SCHEDULES["warm-up and decay"]
    assert [factor(step, 40) for step in (1, 10, 20, 40)] == [0.1, 0.75, 0.5, 0.05]


def gradient(logp, old, better, **how):
    logp = logp.clone().requires_grad_()
    (found,) = torch.autograd.grad(reuse.objective(logp, old, better, **how), logp)
    return found


@pytest.mark.parametrize("how", [{"ratio": True}, {"ratio": True, "clip": 0.2}])
def test_the_first_step_on_answers_is_that_of_reinforce(how):
    logp = -torch.rand(6, 8, dtype=torch.float64)
    better = torch.randn(6, 1, dtype=torch.float64)
    torch.testing.assert_close(gradient(logp, logp, better, **how), gradient(logp, logp, better))


def test_clipping_stops_what_went_far_in_the_wanted_direction_and_nothing_else():
    old = torch.full((2, 3), -1.0, dtype=torch.float64)
    logp = old + torch.tensor([0.7, 1.0, 1.3], dtype=torch.float64).log()
    better = torch.tensor([[1.0], [-1.0]], dtype=torch.float64)
    free = gradient(logp, old, better, ratio=True)
    clipped = gradient(logp, old, better, ratio=True, clip=0.2)
    stopped = torch.tensor([[False, False, True], [True, False, False]])
    assert torch.equal(clipped, free.masked_fill(stopped, 0.0))


def test_an_answer_is_held_against_its_own_group():
    rewards = torch.tensor([[1.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0]])
    assert reuse.advantages(rewards).tolist() == [[0.75, -0.25, -0.25, -0.25], [0.0] * 4]
    divided = reuse.advantages(rewards, divided=True)
    assert divided[0].std() == pytest.approx(1, abs=1e-3)
    assert divided[1].tolist() == [0.0] * 4


def test_the_number_counts_and_not_what_stands_before_it():
    texts = reuse.ids_of(["456+789=111:1245", "456+789=000:1245", "456+789=111:1246"])
    assert reuse.is_right(texts, [(456, 789)] * 3).tolist() == [True, True, False]


def test_every_method_is_paid_for_as_many_answers(monkeypatch):
    monkeypatch.setattr(reuse, "ROUNDS", 2)
    monkeypatch.setattr(reuse, "KEPT_STEPS", 2)
    asked = []

    def written(model, pairs, temperature):
        asked[-1] += len(pairs)
        return reuse.ids_of(["456+789=111:1245"] * len(pairs))

    monkeypatch.setattr(reuse, "written", written)
    base = reuse.learn([reuse.noting((456, 789))] * 64, seed=1)
    pairs = [(456, 789), (1, 2)] * reuse.SUMS
    for how in reuse.METHODS.values():
        asked.append(0)
        reuse.paid(base, pairs, 1e-4, "constant", **how)
    asked.append(0)
    reuse.filtered(base, [(456, 789)], pairs)
    assert {*asked} == {2 * reuse.SUMS * reuse.GROUP}
