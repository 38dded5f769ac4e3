"""The one number, turned down: what the page shows is what was recorded."""

import pytest
import torch
from playwright.sync_api import expect

from book.inside_a_real_model import keystone_figure
from tests.book.reading import Example, close, numbers, press, select

pytestmark = pytest.mark.browser

RANDOM = torch.Generator().manual_seed(5)
FIRST, OTHER = torch.randn(2, 12, generator=RANDOM).half().double()
FIRST[7] = -4000.0
FACTORS, LOSSES = [1.0, 0.5, 0.25, 0.0], [2.5, 2.75, 9.5, 14.0]
STORIES = {"It was": [" late", " later", " la", " l"], "Go": [" on", " o", " a", " b"]}


def make():
    return keystone_figure(FIRST, OTHER, FACTORS, LOSSES, STORIES, block=3, even=10.8)


def check(page, level: int, number: float) -> None:
    close(numbers(page.locator("[data-name=loss]")), torch.tensor([LOSSES[level]]))
    close(numbers(page.locator("[data-name=number]")), torch.tensor([number]).double())


def test_the_number_the_loss_and_the_text_follow_the_slider(show):
    page = show(make())
    slider, story = page.get_by_role("slider", name="the number"), page.locator("[data-name=story]")
    check(page, 0, -4000)
    expect(story).to_have_text("late")
    for level in (1, 2, 3):
        press(slider, "ArrowRight")
        check(page, level, -4000 * FACTORS[level])
        assert story.inner_text().strip() == STORIES["It was"][level].strip()
    select(page, "go on from").select_option("Go")
    assert story.inner_text().strip() == "b"
    select(page, "show the vector of").select_option("other")
    check(page, 3, OTHER[7].item())


def test_the_bars_are_as_long_as_the_numbers(show):
    page = show(make())
    bar = page.locator(".cl-measure rect.cl-tip")
    height = "node => +node.getAttribute('height')"
    whole = bar.evaluate(height)
    press(page.get_by_role("slider", name="the number"), "ArrowRight")
    page.wait_for_timeout(700)
    assert bar.evaluate(height) == pytest.approx(whole / 2)


def test_two_goals_and_what_is_said(show):
    page = show(make())
    reached = page.locator(".cl-goals .cl-reached")
    slider = page.get_by_role("slider", name="the number")
    expect(reached).to_have_count(0)
    press(slider, "ArrowRight")
    expect(reached).to_have_count(1)
    press(slider, "ArrowRight")
    expect(reached).to_have_count(1)
    press(slider, "ArrowRight")
    expect(reached).to_have_count(2)
    expect(page.get_by_role("status")).to_have_text(
        "With 0.0 times the number in dimension 7 after block 3, the loss is 14.00 nats, "
        "worse than an even guess."
    )


def test_the_bar_is_dragged_down_and_only_where_it_is_the_first_token(show):
    page = show(make(), reduced_motion="reduce")
    handle = page.get_by_role("slider", name="height of the bar")
    box = handle.locator(".cl-knob").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 30, y + 70, steps=4)  # nearly half of its 150 pixels
    page.mouse.up()
    check(page, 1, -2000)
    press(handle, "ArrowDown", times=5)
    check(page, 3, 0)
    press(handle, "ArrowUp")
    check(page, 2, -1000)
    select(page, "show the vector of").select_option("other")
    expect(handle).to_be_hidden()


def test_a_factor_without_its_loss_is_refused():
    with pytest.raises(ValueError, match="each of 4 factors needs a loss"):
        keystone_figure(FIRST, OTHER, FACTORS, LOSSES[:3], STORIES, block=3, even=10.8)


EXAMPLE = Example(make, "[data-name=loss]")
