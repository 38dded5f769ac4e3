"""Paths of learning and forgetting: numbers, line and goals follow the run that is chosen."""

import pytest
import torch
from playwright.sync_api import expect

from book.small_change import trade_figure
from tests.book.reading import Example, close, numbers, press

pytestmark = pytest.mark.browser

METHODS = {
    "all": {
        3e-4: [[4.0, 0.0], [2.0, 1.0], [1.0, 1.5]],
        1e-2: [[4.0, 0.0], [0.5, 2.0], [0.25, 3.5]],
    },
    "thin": {
        1e-3: [[4.0, 0.0], [3.0, 1.0], [2.5, 1.25]],
        3e-3: [[4.0, 0.0], [2.0, 2.0], [1.5, 3.0]],
        1e-2: [[4.0, 0.0], [3.0, 2.0], [2.0, 3.75]],
    },
}


def figure():
    return trade_figure(METHODS, method="thin", reference="thin")


def test_every_run_shows_where_it_ends_and_its_path(show):
    page = show(figure(), reduced_motion="reduce")
    slider = page.get_by_role("slider", name="learning rate")
    for method, runs in METHODS.items():
        page.get_by_role("radio", name=method).check()
        press(slider, "Home")
        for path in runs.values():
            close(numbers(page.locator("[data-name=trade] b")), torch.tensor(path[-1]))
            line = page.locator("[data-name=path]").get_attribute("d")[1:].split("L")
            drawn = torch.tensor([[float(x) for x in point.split()] for point in line])
            points = torch.tensor(path)
            moves, steps = drawn[1:] - drawn[:1], points[1:] - points[:1]
            close((moves / moves[-1]).flatten().double(), steps / steps[-1], 1e-4)
            slider.press("ArrowRight")


def test_a_method_with_fewer_rates_takes_its_last(show):
    page = show(figure(), reduced_motion="reduce")
    press(page.get_by_role("slider", name="learning rate"), "End")
    page.get_by_role("radio", name="all").check()
    expect(page.get_by_role("status")).to_contain_text("all at the rate 0.01 has 0.25 nats")


def test_the_goals_are_reached_and_not_before(show):
    page = show(figure(), reduced_motion="reduce")
    reached = page.locator(".cl-reached")
    expect(reached).to_have_count(0)
    press(page.get_by_role("slider", name="learning rate"), "ArrowRight")
    expect(reached).to_have_count(1)
    page.get_by_role("radio", name="all").check()  # at its larger rate it forgets more
    expect(reached).to_have_count(1)
    press(page.get_by_role("slider", name="learning rate"), "Home")
    expect(reached).to_have_count(2)


def test_a_run_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="no run 3 of 'thin'"):
        trade_figure(METHODS, method="thin", at=3, reference="all")
    with pytest.raises(ValueError, match="no method 'thick'"):
        trade_figure(METHODS, method="thin", reference="thick")


EXAMPLE = Example(figure, "[data-name=trade] b")
