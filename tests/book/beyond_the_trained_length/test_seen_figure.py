"""The hands and what they have seen, held to PyTorch."""

import math

import pytest
import torch
from playwright.sync_api import expect

from book.beyond_the_trained_length import seen_figure
from companion.nn import RotaryEmbedding, RotaryScaling
from tests.book.reading import Example, close, numbers, press, select

pytestmark = pytest.mark.browser

SPEED = 10_000 ** (-torch.arange(0, 16, 2, dtype=torch.float64) / 16)
CURES = {
    "all hands slowed": RotaryScaling(factor=5),
    "slow hands slowed": RotaryScaling(factor=5, original_len=32, slow_turns=0.6, fast_turns=1.5),
}


def cured():
    return seen_figure({name: scaling(SPEED).tolist() for name, scaling in CURES.items()})


def check(page, position: int, scaling: RotaryScaling | None = None) -> None:
    """The turns are those of the rotary layer; what is new lies further than 32 positions went."""
    speed = SPEED if scaling is None else scaling(SPEED)
    close(numbers(page.locator("[data-name^=turns-]")), position * speed / (2 * math.pi))
    rope = RotaryEmbedding(16, scaling=scaling)
    rotation = rope.rotation(torch.zeros(1, 160, 16, dtype=torch.float64))
    found = torch.atan2(rotation.sin[position], rotation.cos[position]) % (2 * math.pi)
    new = found > (32 * SPEED).clamp(max=2 * math.pi)
    assert numbers(page.locator("[data-name=new]")).item() == new.sum()
    said = page.locator("svg text.cl-quiet, svg text.cl-strong").all_text_contents()
    assert [text == "new" for text in said if text in ("new", "seen")] == new.tolist()


def test_a_hand_is_new_where_no_trained_position_turned_it(show):
    page = show(seen_figure())
    slider = page.locator("input[name=position]")
    check(page, 57)
    for position in (0, 20, 31, 33, 70, 100, 159):
        slider.fill(str(position))
        check(page, position)


def test_the_cures_turn_the_hands_as_the_rotary_layer_does(show):
    page = show(cured())
    check(page, 57, CURES["all hands slowed"])
    press(page.locator("input[name=position]"), "End")
    for name, scaling in (*CURES.items(), ("as trained", None)):
        select(page, "hands").select_option(name)
        check(page, 159, scaling)


def test_goals_are_reached_by_the_hands_that_are_left(show):
    page = show(cured())
    reached = page.locator(".cl-reached")
    slider = page.locator("input[name=position]")
    select(page, "hands").select_option("as trained")
    expect(reached).to_have_count(0)
    slider.fill("62")
    expect(reached).to_have_count(0)
    slider.fill("64")
    expect(reached).to_have_count(1)
    press(slider, "End")
    select(page, "hands").select_option("all hands slowed")
    expect(reached).to_have_count(1)  # nothing is new, but the first hand is slower
    select(page, "hands").select_option("slow hands slowed")
    expect(reached).to_have_count(2)


EXAMPLE = Example(seen_figure, "[data-name^=turns-]")
