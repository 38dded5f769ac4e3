"""A herd: loads of one batch, and their mean, which hides it."""

import pytest
import torch
from playwright.sync_api import expect

from book.experts import herd_figure
from tests.book.reading import Example, close, numbers, press

pytestmark = pytest.mark.browser

LOADS = [[0.75, 0.25, 0, 0], [0.125, 0.75, 0.125, 0], [0, 0, 0.125, 0.875], [0, 0.125, 0.875, 0]]


def figure():
    return herd_figure(LOADS)


def test_every_batch_and_the_mean_have_their_loads(show):
    page = show(figure(), reduced_motion="reduce")
    shown, loads = page.locator("[data-name=load]"), torch.tensor(LOADS)
    close(numbers(shown), loads.mean(0))
    expect(page.get_by_role("status")).to_contain_text("Over 4 batches expert 2 has most: 0.28")
    page.get_by_role("radio", name="one batch").check()
    slider = page.get_by_role("slider", name="batch")
    for i, load in enumerate(loads):
        close(numbers(shown), load)
        most = load.argmax() + 1
        expect(page.get_by_role("status")).to_contain_text(f"In batch {i + 1} expert {most} has")
        press(slider, "ArrowRight")


def test_bars_are_as_high_as_their_loads(show):
    page = show(figure(), reduced_motion="reduce")
    page.get_by_role("radio", name="one batch").check()
    bars = page.locator(".cl-herd rect").all()
    heights = [float(bar.get_attribute("height")) for bar in bars]
    close(torch.tensor(heights).double() / sum(heights), torch.tensor(LOADS[0]), 1e-6)


def test_the_goals_are_reached_and_not_before(show):
    page = show(figure())
    reached = page.locator(".cl-reached")
    page.get_by_role("radio", name="one batch").check()
    expect(reached).to_have_count(0)
    slider = page.get_by_role("slider", name="batch")
    press(slider, "ArrowRight")  # another leader
    expect(reached).to_have_count(1)
    press(slider, "ArrowRight")  # the most crowded
    expect(reached).to_have_count(2)


def test_loads_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="two batches or more"):
        herd_figure(LOADS[:1])
    with pytest.raises(ValueError, match=r"of batch 1 sum to 0\.5"):
        herd_figure([[0.5, 0.5], [0.25, 0.25]])
    with pytest.raises(ValueError, match="batch must be from 0 to 3, got 4"):
        herd_figure(LOADS, batch=4)


EXAMPLE = Example(figure, "[data-name=load]", "tbody td:nth-child(2)")
