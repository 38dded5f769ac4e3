"""Five features in a plane: the arrows and the losses are those that were learned."""

import pytest
import torch
from playwright.sync_api import expect

from book.what_the_stream_carries import plane_figure
from tests.book.reading import Example, close, numbers, press

pytestmark = pytest.mark.browser

CHANCES = [1.0, 0.25, 0.05]
ANGLES = torch.arange(5) * 2 * torch.pi / 5
STAR = torch.stack([ANGLES.cos(), ANGLES.sin()])
CROSS = torch.tensor([[1.0, 0, -1, 0, 0.1], [0.0, 1, 0, -1, 0]])
ARROWS = torch.stack([CROSS * torch.tensor([1.0, 1, 0, 0, 0]), CROSS, STAR])
LOST, LINEAR = [0.25, 0.1875, 0.0625], [0.25, 0.375, 0.5]


def make():
    return plane_figure(CHANCES, ARROWS, LOST, LINEAR)


def check(page, level: int) -> None:
    close(numbers(page.locator("[data-name=lost]")), torch.tensor([LOST[level]]))
    close(numbers(page.locator("[data-name=linear]")), torch.tensor([LINEAR[level]]))
    ends = page.locator("[data-name=arrow] path").evaluate_all(
        "nodes => nodes.map((node) => node.getAttribute('d').slice(5).split(' ').map(Number))"
    )
    unit = page.locator("circle.cl-axis").evaluate("node => +node.getAttribute('r')")
    drawn = torch.tensor(ends).double().T / unit * torch.tensor([[1.0], [-1.0]])
    close(drawn.flatten(), ARROWS[level], 1e-5)


def test_every_level_shows_its_arrows_and_losses(show):
    page = show(make(), reduced_motion="reduce")
    chance = page.get_by_role("slider", name="present with probability")
    check(page, 1)
    press(chance, "ArrowRight")
    check(page, 2)
    press(chance, "Home")
    check(page, 0)
    expect(page.get_by_role("status")).to_have_text(
        "With probability 1.00, 2 of 5 features have an arrow, and 0.25 of their square is lost."
    )


def test_two_goals(show):
    page = show(make())
    reached = page.locator(".cl-goals .cl-reached")
    expect(reached).to_have_count(0)
    press(page.get_by_role("slider", name="present with probability"), "ArrowRight")
    expect(reached).to_have_count(2)


def test_a_loss_that_is_missing_is_refused():
    with pytest.raises(ValueError, match="for 3 chances"):
        plane_figure(CHANCES, ARROWS, LOST[:2], LINEAR)


EXAMPLE = Example(make, "[data-name=lost]")
