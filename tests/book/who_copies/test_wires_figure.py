"""The wires between two layers: what is shown is the loss of what was cut."""

import pytest
import torch
from playwright.sync_api import expect

from book.who_copies import wires_figure
from tests.book.reading import Example, close, numbers

pytestmark = pytest.mark.browser

LOSSES = {"": 0.25, "q": 0.5, "k": 4.25, "v": 0.375, "qk": 4.5, "qv": 0.75, "kv": 5.0, "qkv": 3.5}


def make():
    return wires_figure(LOSSES, even=2.75)


def check(page, cut: str) -> None:
    close(numbers(page.locator("[data-name=loss]")), torch.tensor([LOSSES[cut]]))


def wire(page, name: str):
    return page.get_by_role("button", name=f"cut the wire to the {name}")


def test_every_set_of_cuts_shows_its_loss(show):
    page = show(make())
    check(page, "q")
    expect(wire(page, "queries")).to_have_attribute("aria-pressed", "true")
    for name, cut in (
        ("values", "qv"), ("keys", "qkv"), ("queries", "kv"), ("values", "k"), ("queries", "qk"),
        ("keys", "q"), ("queries", ""), ("values", "v"),
    ):  # fmt: skip
        wire(page, name).locator("text").click()
        check(page, cut)


def test_the_bar_grows_with_the_loss(show):
    page = show(make(), reduced_motion="reduce")
    bar = page.locator(".cl-measure rect")
    width = "node => +node.getAttribute('width')"
    before = bar.evaluate(width)
    wire(page, "queries").press("Enter")
    wire(page, "keys").press("Space")
    check(page, "k")
    assert bar.evaluate(width) / before == pytest.approx(LOSSES["k"] / LOSSES["q"])


def test_two_goals_and_what_is_said(show):
    page = show(make())
    reached = page.locator(".cl-goals .cl-reached")
    expect(reached).to_have_count(0)
    wire(page, "values").press("Enter")
    expect(reached).to_have_count(1)
    wire(page, "queries").press("Enter")
    wire(page, "values").press("Enter")
    expect(reached).to_have_count(1)
    expect(page.get_by_role("status")).to_contain_text("Cut: nothing. The loss is 0.25 nats")
    wire(page, "keys").press("Enter")
    expect(reached).to_have_count(2)
    expect(page.get_by_role("status")).to_contain_text("4.25 nats, worse than an even guess")


def test_a_cut_without_its_loss_is_refused():
    with pytest.raises(ValueError, match="a loss for each"):
        wires_figure({"q": 1.0}, even=2.0)


EXAMPLE = Example(make, "[data-name=loss]")
