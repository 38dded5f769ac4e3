"""A cache of c numbers: what it loses and holds follows the slider."""

import pytest
import torch
from playwright.sync_api import expect

from book.experts import rank_figure
from tests.book.reading import Example, close, numbers, press

pytestmark = pytest.mark.browser

LOST = {
    64: (0.0, 0.0), 32: (0.015625, 0.0078125), 16: (0.0625, 0.015625), 8: (0.25, 0.125),
    4: (0.75, 0.6875),
}  # fmt: skip


def figure():
    return rank_figure(LOST, full=128, layers=2, at=1)


def test_every_c_shows_its_losses_and_its_bytes(show):
    page = show(figure(), reduced_motion="reduce")
    slider = page.get_by_role("slider", name="numbers c =")
    press(slider, "Home")
    for c, pair in LOST.items():
        expected = torch.tensor(pair, dtype=torch.float64)
        close(numbers(page.locator("[data-name=lost] span[data-value]")), expected)
        size = 4 * c * 2 * 4096 // 1024
        expect(page.get_by_role("status")).to_contain_text(f"c = {c}: ")
        expect(page.get_by_role("status")).to_contain_text(f"{size} KiB instead of 4096")
        slider.press("ArrowRight")


@pytest.mark.parametrize(("curve", "column"), [("plain", 0), ("weighted", 1)])
def test_a_curve_goes_through_its_losses(show, curve, column):
    page = show(figure(), reduced_motion="reduce")
    way = page.locator(f"[data-curve={curve}] path").get_attribute("d")
    heights = torch.tensor([float(point.split()[1]) for point in way[1:].split("L")]).double()
    lost = torch.tensor([pair[column] for pair in LOST.values()], dtype=torch.float64)
    scale = (heights[0] - heights[-1]) / (lost[-1] - lost[0])
    close((heights[0] - heights) / scale, lost - lost[0], 1e-4)


def test_the_goals_are_reached_and_not_before(show):
    page = show(figure())
    reached = page.locator(".cl-reached")
    expect(reached).to_have_count(0)
    slider = page.get_by_role("slider", name="numbers c =")
    press(slider, "ArrowRight")  # 16: the smallest that loses less than 0.02
    expect(reached).to_have_count(1)
    press(slider, "ArrowRight")  # 8: the largest difference
    expect(reached).to_have_count(2)


def test_losses_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="from the most to the least"):
        rank_figure({4: (0, 0), 8: (0, 0), 16: (0, 0)}, full=128, layers=2)
    with pytest.raises(ValueError, match="from 0 to 4, got 5"):
        rank_figure(LOST, full=128, layers=2, at=5)


EXAMPLE = Example(figure, "[data-name=lost] span[data-value]", "tbody tr:first-child td")
