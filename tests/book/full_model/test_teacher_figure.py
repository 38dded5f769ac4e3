"""Teacher forcing: the shift, the mask and the answers of every place."""

import pytest
from playwright.sync_api import expect

from book.full_model import teacher_figure
from companion.nn import causal_mask
from tests.book.reading import Example, close, numbers, press

pytestmark = pytest.mark.browser

TARGET = "le chat noir ne la cherche pas".split()
EXAMPLE = Example(lambda: teacher_figure(TARGET), "[data-name=cell]")


def test_every_place_reads_what_the_mask_allows_and_says_the_next_word(show):
    page = show(teacher_figure(TARGET), reduced_motion="reduce")
    close(numbers(page.locator("[data-name=cell]")), causal_mask(8))
    reads, says = ["[BOS]", *TARGET], [*TARGET, "[EOS]"]
    place = page.get_by_role("slider", name="position")
    expect(place).not_to_be_visible()
    press(page.get_by_role("slider", name="step"), "End")
    press(place, "Home")
    for t in range(1, 9):
        read = f"\u201c{' '.join(reads[:t])}\u201d"
        expect(page.get_by_role("status")).to_have_text(
            f"Position {t} may look at {t} of the 8 words of the input: {read}. "
            f"It has to say {says[t - 1]}."
        )
        press(place, "ArrowRight")


def test_a_row_is_chosen_with_the_pointer_and_reaches_a_goal(show):
    page = show(teacher_figure(TARGET), reduced_motion="reduce")
    goals = page.get_by_role("list", name="goals").get_by_role("listitem")
    page.locator(".cl-stage .cl-hit").nth(4).click()
    expect(page.get_by_role("status")).to_contain_text("It has to say la.")
    expect(goals.first).to_contain_text("(reached)")
    expect(goals.last).not_to_contain_text("(reached)")


def test_it_opens_on_the_mask_and_the_shift_can_be_seen_again(show):
    page = show(teacher_figure(TARGET), reduced_motion="reduce")
    expect(page.get_by_text("3 of 4: mask")).to_be_visible()
    expect(page.locator("[data-name=cell]").first).to_be_visible()
    press(page.get_by_role("slider", name="step"), "Home")
    expect(page.locator("[data-name=cell]").first).not_to_be_visible()


def test_a_short_target_is_refused():
    with pytest.raises(ValueError, match="at least five words"):
        teacher_figure(["le", "chat"])
