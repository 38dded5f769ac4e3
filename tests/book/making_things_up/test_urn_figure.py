"""The urn: draws, counts and both shares against torch, fed with the browser's random numbers."""

import pytest
import torch
from playwright.sync_api import expect

from book.making_things_up import urn_figure
from tests.book.reading import Example, close, globally, numbers, press

pytestmark = pytest.mark.browser

BALLS, MOST = 400, 2000


def drawn(page, tail: float, draws: int, urn: int) -> tuple[torch.Tensor, torch.Tensor]:
    """How often each ball was drawn, and the balls' probabilities."""
    page.evaluate(globally("numerics.js"))
    script = "([urn, draws]) => Array.from({ length: draws }, (_, i) => randomAt(urn, i))"
    u = torch.tensor(page.evaluate(script, [urn, draws]), dtype=torch.float64)
    weights = torch.arange(1, BALLS + 1, dtype=torch.float64) ** -tail
    sums = weights.cumsum(0)
    found = torch.searchsorted(sums, u * sums[-1], right=True)
    return torch.bincount(found, minlength=BALLS), weights / sums[-1]


def test_what_was_drawn_and_what_it_foretells(show):
    page = show(urn_figure(), reduced_motion="reduce")
    urn = 1
    for tail, draws in ((1.0, 100), (0.0, 400), (1.6, 2000), (0.6, 10)):
        page.get_by_role("slider", name="tail").fill(str(tail))
        page.get_by_role("slider", name="draws").fill(str(draws))
        counts, p = drawn(page, tail, draws, urn)
        shown = f"shown {(counts > 0).sum()} of {BALLS} balls"
        expect(page.get_by_role("status")).to_contain_text(shown)
        once = (counts == 1).sum()[None] / draws
        close(numbers(page.locator("[data-name=estimate]")), once.double(), 1e-6)
        close(numbers(page.locator("[data-name=missing]")), p[counts == 0].sum()[None])
        for kind in range(3):
            balls = page.locator(f"circle.cl-ball{kind}")  # one of them in the legend
            expect(balls).to_have_count(1 + (counts.clamp(max=2) == kind).sum().item())
        page.get_by_role("button", name="draw anew").click()
        urn += 1


def test_without_duplicates_the_estimate_is_one(show):
    page = show(urn_figure(), reduced_motion="reduce")
    missing = numbers(page.locator("[data-name=missing]"))
    page.get_by_label("remove duplicates").check()
    close(numbers(page.locator("[data-name=estimate]")), torch.ones(1))
    close(numbers(page.locator("[data-name=missing]")), missing)
    expect(page.get_by_role("status")).to_contain_text("whatever the truth")


def test_the_goals_can_be_reached(show):
    page = show(urn_figure(), reduced_motion="reduce")
    reached = page.locator(".cl-reached")
    draws, tail = (page.get_by_role("slider", name=name) for name in ("draws", "tail"))
    expect(page.get_by_role("list", name="goals").locator("li")).to_have_count(3)
    expect(reached).to_have_count(0)
    press(draws, "End")
    expect(reached).to_have_count(1)
    tail.fill("1.6")
    expect(reached).to_have_count(2)
    page.get_by_label("remove duplicates").check()
    expect(reached).to_have_count(3)


def test_an_urn_that_cannot_be_drawn_is_refused():
    with pytest.raises(ValueError, match="got 10 and 5"):
        urn_figure(10, draws=5)
    with pytest.raises(ValueError, match="1 to 2000 draws"):
        urn_figure(draws=0)


EXAMPLE = Example(urn_figure, None)
