"""Steps of a parity: which of them the bit at a distance explains is counted as here."""

import re

import pytest
from playwright.sync_api import expect

from book.thinking_on_paper import distance_figure
from tests.book.reading import Example, press, select

pytestmark = pytest.mark.browser

TRAINED = 8


def string(bits, back):
    """Bits, and the steps of a model that adds the bit so many places back."""
    steps = [bits[0]]
    for k in range(1, len(bits)):
        at = len(bits) + k - back
        steps.append(steps[-1] ^ bits[at] if 0 <= at < len(bits) else 1)
    return bits, steps


WRITTEN = {
    8: [string([1, 0, 1, 1, 0, 0, 1, 0], 8), string([0, 1, 1, 0, 1, 0, 0, 1], 8)],
    9: [string([1, 0, 1, 1, 0, 0, 1, 0, 1], 8)],
    11: [string([1, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0], 8)],
}


def figure():
    return distance_figure(WRITTEN, trained=TRAINED, at=6)


def explained(bits, steps, back):
    """How many steps behind the first the bit there explains, and of how many."""
    places = [(k, len(bits) + k - back) for k in range(1, len(bits))]
    inside = [(k, at) for k, at in places if 0 <= at < len(bits)]
    return sum(steps[k - 1] ^ bits[at] == steps[k] for k, at in inside), len(inside)


@pytest.mark.parametrize("length", WRITTEN)
def test_the_steps_that_a_distance_explains_are_counted(show, length):
    page = show(figure(), reduced_motion="reduce")
    select(page, "bits in the string").select_option(str(length))
    slider = page.get_by_role("slider", name="a step adds the bit")
    press(slider, "Home")
    for back in range(TRAINED - 6, 12):
        made, all_ = explained(*WRITTEN[length][0], back)
        expect(page.get_by_role("status")).to_contain_text(f"the bit {back} places back")
        expect(page.get_by_role("status")).to_contain_text(f"gives {made} of the {all_} steps")
        expect(page.locator("path.cl-made")).to_have_count(made)
        expect(page.locator("path[data-step]")).to_have_count(all_)
        slider.press("ArrowRight")


def test_an_arrow_points_from_a_step_to_its_bit(show):
    page = show(figure(), reduced_motion="reduce")
    select(page, "bits in the string").select_option("9")
    press(page.get_by_role("slider", name="a step adds the bit"), "ArrowRight", times=2)  # 8
    way = page.locator("path[data-step='3']").get_attribute("d")
    step, bit = (float(part.split()[0].strip("M")) for part in way.split("L"))
    bits = page.locator("svg text", has_text=re.compile("^[01]$")).evaluate_all(
        "nodes => nodes.map((node) => +node.getAttribute('x'))"
    )
    assert step == pytest.approx(bits[3]) and bit == pytest.approx(bits[4])  # its neighbour


def test_the_goals_are_reached_and_not_before(show):
    page = show(figure())
    reached, slider = page.locator(".cl-reached"), page.get_by_role("slider", name="a step adds")
    press(slider, "ArrowRight")
    expect(reached).to_have_count(0)
    press(slider, "ArrowRight")  # 8 places back
    expect(reached).to_have_count(1)
    select(page, "bits in the string").select_option("9")
    expect(reached).to_have_count(2)
    select(page, "bits in the string").select_option("11")
    expect(reached).to_have_count(2)
    press(slider, "End")
    expect(reached).to_have_count(3)
    expect(page.get_by_role("status")).to_contain_text("11 places back, its own,")


def test_strings_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="of 8 and 9 bits are needed"):
        distance_figure({8: WRITTEN[8]}, trained=8)
    with pytest.raises(ValueError, match="9 bits and as many steps"):
        distance_figure(WRITTEN | {9: WRITTEN[8]}, trained=8)


EXAMPLE = Example(figure, None)
