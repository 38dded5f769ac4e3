"""Scores over thresholds: every stage and every marks against torch, and the goals."""

import pytest
import torch
from playwright.sync_api import expect

from book.making_things_up import policy_figure
from tests.book.reading import Example, close, numbers, press

pytestmark = pytest.mark.browser

GENERATOR = torch.Generator().manual_seed(0)
COUNT = 21


def stage(bend: float) -> dict[str, list[float]]:
    sure = torch.rand(400, generator=GENERATOR)
    right = torch.rand(400, generator=GENERATOR) < sure
    told = sure**bend
    grid = torch.linspace(0, 1, COUNT)
    return {
        name: [round(((told >= at) & hits).double().mean().item(), 4) for at in grid]
        for name, hits in (("right", right), ("wrong", ~right))
    }


STAGES = {12: stage(1.0), 24: stage(0.3)}


def figure():
    return policy_figure(STAGES, stage=12, t=0.75, threshold=0.75)


def scores(epoch: int, t: float) -> torch.Tensor:
    right, wrong = (torch.tensor(STAGES[epoch][name]).double() for name in ("right", "wrong"))
    return right - wrong * t / (1 - t)


def test_every_threshold_under_every_marks(show):
    page = show(figure(), reduced_motion="reduce")
    t_slider = page.get_by_role("slider", name="marks, t")
    threshold = page.get_by_role("slider", name="your threshold")
    for epoch in STAGES:
        page.get_by_label(f"{epoch} epochs").check()
        for t in (0.0, 0.5, 0.75, 0.9):
            t_slider.fill(str(t))
            expected = scores(epoch, t)
            close(numbers(page.locator("[data-name=best]")), expected.max()[None], 1e-6)
            where = numbers(page.locator("[data-name=where]"))
            at = (where * (COUNT - 1)).round().long()  # two may score the same
            close(numbers(page.locator("[data-name=best]")), expected[at], 1e-6)
            own = expected[[round(t * (COUNT - 1))]]
            close(numbers(page.locator("[data-name=own]")), own, 1e-6)
            for i in (0, 7, 20):
                threshold.fill(str(i))
                close(numbers(page.locator("[data-name=yours]")), expected[[i]], 1e-6)


def test_the_goals_want_the_best_threshold_of_each_stage_and_marks_for_answering_all(show):
    page = show(figure(), reduced_motion="reduce")
    reached = page.locator(".cl-reached")
    threshold = page.get_by_role("slider", name="your threshold")
    already = (scores(12, 0.75).max() - scores(12, 0.75)[15] <= 0.002).item()
    goals = page.get_by_role("list", name="goals").locator("li").count()
    assert goals == 4 - already
    done = 0
    for epoch in STAGES:
        page.get_by_label(f"{epoch} epochs").check()
        threshold.fill("20")
        expect(reached).to_have_count(done)
        threshold.fill(str(scores(epoch, 0.75).argmax().item()))
        done += not (already and epoch == 12)
        expect(reached).to_have_count(done)
    threshold.fill("0")
    page.get_by_role("slider", name="marks, t").fill("0.9")
    expect(reached).to_have_count(done + 1)
    press(page.get_by_role("slider", name="marks, t"), "Home")
    expect(reached).to_have_count(done + 2)


def test_stages_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="48 among them; got stages"):
        policy_figure(STAGES, stage=48, t=0.5, threshold=0.5)
    with pytest.raises(ValueError, match=r"lengths \[1, 2\]"):
        uneven = {12: {"right": [0.5], "wrong": [0.5, 0.1]}}
        policy_figure(uneven, stage=12, t=0.5, threshold=0.5)


EXAMPLE = Example(figure, ":is([data-name=yours], [data-name=own], [data-name=best])", "tbody td")
