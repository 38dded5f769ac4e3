"""Mistakes that nothing reports: every choice shows its losses, and its goals are found."""

from itertools import product

import pytest
import torch
from playwright.sync_api import expect

from book.pretrained_models import silent_figure
from tests.book.reading import Example, close, numbers, press

pytestmark = pytest.mark.browser

PIECES = ["The", " cat", " sat", " on", "\n", "the", " unbelievably", " soft", " mat", "."]
MISTAKES = (("pairs", "the other pairs"), ("base", "another base"))
SAYS = {"pairs": "the other pairs", "base": "another base"}
CHOICES = list(product((False, True), repeat=2))


def losses(choice) -> torch.Tensor:
    random = torch.Generator().manual_seed(3)
    start = torch.rand(9, generator=random) * 4
    return (start + torch.tensor(choice) @ torch.tensor([3.0, 0.25])).double().round(decimals=4)


RUNS = {
    (False, False): (losses((0.0, 0.0)), 0.0, "Paris."),
    (False, True): (losses((0.0, 1.0)), 0.125, "Rome."),
    (True, False): (losses((1.0, 0.0)), 2.5, "Paris."),
    (True, True): (losses((1.0, 1.0)), 3.5, ""),
}


def figure():
    return silent_figure(PIECES, MISTAKES, RUNS)


@pytest.mark.parametrize("choice", CHOICES)
def test_every_choice_shows_what_was_measured(show, choice):
    page = show(figure(), reduced_motion="reduce")
    for (_, says), made in zip(MISTAKES, choice, strict=True):
        if made:
            press(page.get_by_role("checkbox", name=says), "Space")
    expected, moved, writes = RUNS[choice]
    close(numbers(page.locator("[data-name=loss]")), expected)
    shown = numbers(page.locator("[data-name=mean], [data-name=moved]"))
    close(shown, torch.stack([expected.mean(), torch.tensor(moved).double()]))
    press(page.get_by_role("slider"), "ArrowRight", times=3)
    was, now = RUNS[False, False][0][6], expected[6]  # of the eighth token
    shares = numbers(page.locator("[data-name=was], [data-name=now]"))
    close(shares, torch.stack([was, now]).neg().exp())
    expect(page.get_by_text("“soft” had the probability")).to_be_visible()
    expect(page.locator("[data-name=writes]")).to_have_text(writes or "(nothing but blanks)")
    status = page.get_by_role("status")
    expect(status).to_contain_text("loading reports nothing" if any(choice) else "As published")
    if any(choice):
        rise = expected.mean() - RUNS[False, False][0].mean()
        expect(status).to_contain_text(f"the loss changes by {rise:.2f}")


def test_a_token_is_chosen_by_a_click(show):
    page = show(figure(), reduced_motion="reduce")
    page.locator(".cl-stage text").nth(6).click()
    assert page.get_by_role("slider").input_value() == "7"


def test_bars_are_as_long_as_their_losses(show):
    page = show(figure(), reduced_motion="reduce")
    heights = page.locator("[data-name=loss]").evaluate_all(
        "all => all.map((bar) => +bar.getAttribute('height'))"
    )
    heights, expected = torch.tensor(heights).double(), RUNS[False, False][0]
    close(heights / heights.sum(), expected / expected.sum(), 1e-6)
    marks = page.locator(".cl-stage svg > path").evaluate_all(
        "all => all.map((mark) => +mark.getAttribute('d').match(/ ([\\d.]+)h/)[1])"
    )
    places = page.locator("[data-name=bar]").evaluate_all(
        "all => all.map((bar) => bar.transform.baseVal[0].matrix.f)"
    )
    close(torch.tensor(marks).double() - torch.tensor(places).double(), heights, 1e-4)


def test_a_narrow_page_wraps_the_text(show):
    wide = show(figure()).locator(".cl-stage svg").bounding_box()
    narrow = show(figure(), viewport={"width": 360, "height": 700})
    assert narrow.locator(".cl-stage svg").bounding_box()["height"] > wide["height"]


def test_goals_are_reached(show):
    page = show(figure(), reduced_motion="reduce")
    goals, reached = page.get_by_role("listitem"), page.locator(".cl-reached")
    expect(reached).to_have_count(0)
    press(page.get_by_role("checkbox", name="another base"), "Space")  # another answer
    expect(goals.nth(1)).to_have_class("cl-reached")
    expect(reached).to_have_count(1)
    press(page.get_by_role("checkbox", name="the other pairs"), "Space")
    expect(goals.nth(2)).to_have_class("cl-reached")
    expect(reached).to_have_count(2)
    press(page.get_by_role("checkbox", name="another base"), "Space")  # the same answer
    expect(reached).to_have_count(3)


def test_what_is_not_complete_is_refused():
    some = {choice: run for choice, run in RUNS.items() if choice != (True, True)}
    with pytest.raises(ValueError, match="each of 4 choices, got 3"):
        silent_figure(PIECES, MISTAKES, some)
    with pytest.raises(ValueError, match="8 tokens have 7 losses: 9"):
        silent_figure(PIECES[:8], MISTAKES, RUNS)


EXAMPLE = Example(figure, "[data-name=mean]")
