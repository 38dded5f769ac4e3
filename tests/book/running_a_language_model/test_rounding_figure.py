"""Weights rounded under the reader's hand: every number is that of the same rounding in torch."""

import pytest
import torch
from playwright.sync_api import expect

from book.running_a_language_model import rounding_figure
from tests.book.reading import Example, close, numbers, press, select

pytestmark = pytest.mark.browser

RANDOM = torch.Generator().manual_seed(11)
WEIGHTS = torch.randn(64, generator=RANDOM, dtype=torch.float64)
WEIGHTS[21] = -9  # the outlier
WEIGHTS[8:12] = torch.tensor([1.5, -3, 0.5, 2.5])  # ties, in blocks of four with three bits
LARGEST = 12.0
GROUPS = ("4", "8", "16", "32", "64", "matrix")


def figure():
    return rounding_figure(WEIGHTS, LARGEST)


def expected(bits: int, block: str) -> dict:
    size = 64 if block == "matrix" else int(block)
    groups = WEIGHTS.view(-1, size)
    largest = groups.abs().amax(1, keepdim=True)
    if block == "matrix":
        largest = torch.full_like(largest, LARGEST)
    scale = largest / (2 ** (bits - 1) - 1)
    values = ((groups / scale).round() * scale).flatten()
    return {
        "rounded": values,
        "error": (values - WEIGHTS).norm() / WEIGHTS.norm(),
        "price": torch.tensor(bits + (0 if block == "matrix" else 16 / size)),
        "zeros": (values == 0).sum(),
    }


def shown(page, name: str) -> torch.Tensor:
    return numbers(page.locator(f"[data-name={name}]"))


@pytest.mark.parametrize("block", GROUPS)
def test_every_rounding_equals_torch(show, block):
    page = show(figure(), reduced_motion="reduce")
    select(page, "one scale for").select_option(block)
    bits = page.get_by_role("slider", name="bits")
    press(bits, "Home")
    for number in range(2, 9):
        for name, values in expected(number, block).items():
            close(shown(page, name), values)
        press(bits, "ArrowRight")


def test_the_steps_are_drawn_where_they_are_few(show):
    page = show(figure(), reduced_motion="reduce")
    select(page, "one scale for").select_option("4")
    press(page.get_by_role("slider", name="bits"), "Home")
    seen = "nodes => nodes.map((n) => [getComputedStyle(n).stroke, n.getAttribute('d')])"
    grid, middle = page.locator(".cl-stage .cl-axis").evaluate_all(seen)
    assert "none" not in (grid[0], middle[0])
    values = expected(2, "4")["rounded"]  # each block: -scale, 0 or scale
    assert grid[1].count("M") >= 2 * (values.view(16, 4).abs().amax(1) < 3).sum()


def test_what_is_said_follows_the_controls(show):
    page = show(figure(), reduced_motion="reduce")
    status = page.get_by_role("status")
    found = expected(4, "matrix")
    text = f"4 bits, the whole matrix to a scale: error {found['error']:.3f}, 4.0 bits per weight"
    expect(status).to_contain_text(text)
    select(page, "one scale for").select_option("8")
    expect(status).to_contain_text("6.0 bits per weight")


def test_the_goals_are_reached_by_what_they_say(show):
    page = show(figure(), reduced_motion="reduce")
    goals = page.get_by_role("list", name="goals").get_by_role("listitem")
    for goal in (goals.first, goals.last):
        expect(goal).not_to_contain_text("(reached)")
    errors = {(bits, block): expected(bits, block) for bits in range(2, 9) for block in GROUPS}
    fine = {key: e["error"].item() for key, e in errors.items() if e["price"] <= 5}
    bits, block = min(fine, key=fine.get)
    dear = page.get_by_role("slider", name="bits")
    press(dear, "End")
    select(page, "one scale for").select_option("4")  # the least error of all, for too many bits
    for goal in (goals.first, goals.last):
        expect(goal).not_to_contain_text("(reached)")
    select(page, "one scale for").select_option(block)
    press(dear, "Home")
    press(dear, "ArrowRight", times=bits - 2)
    expect(goals.last).to_contain_text("(reached)")
    halved = next(
        block for block in GROUPS if errors[4, block]["error"] < errors[4, "matrix"]["error"] / 2
    )
    select(page, "one scale for").select_option(halved)
    press(dear, "Home")
    press(dear, "ArrowRight", times=2)
    expect(goals.first).to_contain_text("(reached)")


def test_other_numbers_of_weights_are_refused():
    with pytest.raises(ValueError, match="64 weights"):
        rounding_figure(WEIGHTS[:32], LARGEST)
    with pytest.raises(ValueError, match="larger than"):
        rounding_figure(WEIGHTS, 1.0)
    with pytest.raises(ValueError, match="zero"):
        rounding_figure(torch.zeros(64), LARGEST)


EXAMPLE = Example(figure, None)
