"""Budgets and sizes: every run at its height, and the exponent of the best sizes, by torch."""

import math

import pytest
import torch
from playwright.sync_api import expect

from book.budgets import valleys_figure
from tests.book.reading import Example, press

pytestmark = pytest.mark.browser

SIZES, BARE = [2684, 5760, 9228, 21912, 32256], [200, 770, 1700, 7000, 12400]
BUDGETS, BEST, BARE_BEST = [2.4e9, 7.2e9, 21.6e9], [6400, 9100, 12700], [930, 1700, 3000]
STEPS = [[round(budget / (6 * 274 * n)) for n in SIZES] for budget in BUDGETS]
GAPS = [
    [
        [0.2 / (1 + b) + 0.4 * math.log(n / BEST[b]) ** 2 + 0.02 * run for n in SIZES]
        for run in range(3)
    ]
    for b in range(3)
]


def figure():
    return valleys_figure(SIZES, BARE, BUDGETS, STEPS, GAPS, BEST, BARE_BEST)


def average(b: int, i: int) -> float:
    return torch.tensor([run[i] for run in GAPS[b]], dtype=torch.float64).mean().item()


def test_every_run_is_told_and_stays(show):
    page = show(figure(), reduced_motion="reduce")
    say, slider = page.get_by_role("status"), page.get_by_role("slider", name="parameters")
    shown = page.locator("[data-name=runs]:visible")
    expect(shown).to_have_count(len(SIZES))  # those of the smallest budget
    count = len(SIZES)
    for b in range(3):
        page.get_by_role("radio").nth(b).check()
        press(slider, "Home")
        for i, n in enumerate(SIZES):
            expect(say).to_contain_text(
                f"{n:,} parameters {STEPS[b][i]:,} steps: {average(b, i):.2f} nats above"
            )
            press(slider, "ArrowRight")
        count = len(SIZES) * (b + 1)
        expect(shown).to_have_count(count)
    for name, best in (("", BEST), ("embedding", BARE_BEST)):
        if name:
            page.get_by_role("checkbox", name=name).check()
        power = math.log(best[-1] / best[0]) / math.log(9)
        expect(say).to_contain_text(f"to the power {power:.2f}")
        expect(shown).to_have_count(count)


def test_a_dot_is_as_high_as_the_logarithm_of_its_gap(show):
    page = show(figure(), reduced_motion="reduce")
    heights = page.locator("[data-name=runs]:visible circle").evaluate_all(
        "nodes => nodes.map((node) => Number(node.getAttribute('cy')))"
    )
    found = torch.tensor(heights, dtype=torch.float64).view(len(SIZES), 3)
    logs = torch.tensor(GAPS[0], dtype=torch.float64).T.log()
    scale = (found[0, 0] - found[1, 0]) / (logs[0, 0] - logs[1, 0])
    torch.testing.assert_close((found - found[0, 0]) / scale, logs - logs[0, 0], rtol=0, atol=1e-6)


def test_the_goals_are_reached_and_not_before(show):
    page = show(figure(), reduced_motion="reduce")
    reached, slider = page.locator(".cl-reached"), page.get_by_role("slider", name="parameters")
    for b in (1, 2):
        lowest = min(range(len(SIZES)), key=lambda i: average(b, i))
        press(slider, "Home")
        page.get_by_role("radio").nth(b).check()
        for i in range(len(SIZES)):
            expect(reached, f"budget {b}, size {i}").to_have_count(b - 1 + (i >= lowest))
            press(slider, "ArrowRight")
    page.get_by_role("checkbox", name="embedding").check()
    expect(reached).to_have_count(3)


def test_rows_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="two sizes"):
        valleys_figure(SIZES, BARE[1:], BUDGETS, STEPS, GAPS, BEST, BARE_BEST)
    with pytest.raises(ValueError, match="3 budgets need as many rows"):
        valleys_figure(SIZES, BARE, BUDGETS, STEPS[1:], GAPS, BEST, BARE_BEST)


EXAMPLE = Example(figure, None)
