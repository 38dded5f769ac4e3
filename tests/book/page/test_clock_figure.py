"""The clock of positions, held to PyTorch."""

import pytest
import torch
from playwright.sync_api import expect

from book.page import clock_figure
from companion.nn import RotaryEmbedding, sinusoidal_encoding
from tests.book.reading import Example, close, numbers, press, select

pytestmark = pytest.mark.browser

BASES = (2_000, 10_000, 100_000)


def cosines(position: int, held: int, width: int) -> torch.Tensor:
    """Of the angle between the hands: what a pair adds to the dot product of two sinusoids."""
    waves = sinusoidal_encoding(160, width, dtype=torch.float64)
    return (waves[position] * waves[held]).unflatten(0, (-1, 2)).sum(1)


def check(page, expected: torch.Tensor) -> None:
    close(numbers(page.locator("[data-name^=agree-]")), expected)
    close(numbers(page.locator("[data-name=fast]")), expected[:3].mean())
    close(numbers(page.locator("[data-name=all]")), expected.mean())


def test_hands_agree_as_sinusoids_do(show):
    page = show(clock_figure())
    check(page, cosines(57, 0, 16))
    press(page.get_by_role("slider", name="position =", exact=False).first, "ArrowRight", times=3)
    check(page, cosines(60, 0, 16))
    press(page.get_by_role("slider", name="held position"), "ArrowRight", times=4)
    check(page, cosines(60, 4, 16))
    select(page, "clock").select_option("64")
    check(page, cosines(60, 4, 64))
    select(page, "clock").select_option("16")
    check(page, cosines(60, 4, 16))


def test_hands_agree_as_rotary_scores_do(show):
    figure = clock_figure({base: torch.rand(128).tolist() for base in BASES})
    page = show(figure)
    slider = page.get_by_role("slider", name="distance back")
    for base in BASES:
        select(page, "base").select_option(str(base))
        rope = RotaryEmbedding(16, base=base)
        turns = rope.rotation(torch.zeros(1, 160, 16, dtype=torch.float64)).cos
        press(slider, "End")
        check(page, turns[159 - 3])
        press(slider, "Home")
        check(page, turns[3])


def test_goals_are_reached_by_false_twins_only(show):
    page = show(clock_figure())
    reached = page.locator(".cl-reached")
    position = page.locator("input[name=position]")
    expect(reached).to_have_count(0)  # where it opens, the fast hands agree to 0.8 only
    press(position, "End")
    expect(reached).to_have_count(0)
    position.fill("119")
    expect(reached).to_have_count(1)
    page.locator("input[name=held]").fill("20")
    expect(reached).to_have_count(1)
    position.fill("139")
    expect(reached).to_have_count(2)

    page = show(clock_figure({base: torch.rand(128).tolist() for base in BASES}))
    reached = page.locator(".cl-reached")
    page.locator("input[name=position]").fill("122")
    expect(reached).to_have_count(1)
    select(page, "base").select_option("2000")
    expect(reached).to_have_count(1)
    page.locator("input[name=position]").fill("85")
    expect(reached).to_have_count(2)


EXAMPLE = Example(clock_figure, "[data-name^=agree-]")
