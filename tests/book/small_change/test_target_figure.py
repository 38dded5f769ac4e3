"""What a student is told: words, gaps and goals follow the target and the number of sentences."""

import re

import pytest
import torch
from playwright.sync_api import expect

from book.small_change import target_figure
from tests.book.reading import Example, close, numbers, press

pytestmark = pytest.mark.browser

WORDS = [f"w{i}" for i in range(10)]
TOLD = {
    "words": [0.0, 1, 0, 0, 0, 0, 0, 0, 0, 0],
    "teacher": [0.0, 0.3, 0.2, 0.1, 0.1, 0.08, 0.06, 0.06, 0.06, 0.04],
    "truth": [0.0, 0.35, 0.25, 0.1, 0.09, 0.08, 0.07, 0.06, 0.0, 0.0],
}
SIZES = (200, 1000)
GAPS = {"words": [3.2, 0.5], "teacher": [0.75, None], "truth": [0.875, 0.125]}


def figure():
    return target_figure("one", WORDS, TOLD, SIZES, dict(reversed(GAPS.items())))


def test_words_are_grouped_into_those_that_can_come_and_those_that_cannot(show):
    page = show(figure())
    for name, p in TOLD.items():
        page.get_by_role("radio", name=name).check()
        expected = torch.tensor([*p[1:5], sum(p[5:8]), p[0] + p[8] + p[9]], dtype=torch.float64)
        close(numbers(page.locator("[data-name=told] span[data-value]")), expected)


def test_gaps_follow_the_number_of_sentences_and_one_that_is_missing_is_hidden(show):
    page = show(figure(), reduced_motion="reduce")
    shown = page.locator("[data-name=gap]")
    close(numbers(shown), torch.tensor([3.2, 0.75, 0.875], dtype=torch.float64))
    press(page.get_by_role("slider", name="sentences:"), "End")
    close(numbers(shown.first), torch.tensor([0.5]))
    close(numbers(shown.last), torch.tensor([0.125]))
    expect(shown.nth(1)).to_be_hidden()
    page.get_by_role("radio", name="teacher").check()
    expect(page.get_by_role("status")).to_have_text("“teacher” was not tried with 1000 sentences.")


def test_the_table_has_the_targets_in_the_order_of_the_lines():
    names = re.findall(r"<th[^>]*>(\w+)</th>", figure().to_html())
    assert names[-len(TOLD) :] == [*TOLD]


def test_the_goals_are_reached_and_not_before(show):
    page = show(figure())
    reached = page.locator(".cl-reached")
    expect(reached).to_have_count(0)
    page.get_by_role("radio", name="truth").check()
    expect(reached).to_have_count(0)
    page.get_by_role("radio", name="teacher").check()
    expect(reached).to_have_count(1)
    press(page.get_by_role("slider", name="sentences:"), "End")
    expect(reached).to_have_count(1)
    page.get_by_role("radio", name="truth").check()
    expect(reached).to_have_count(2)


def test_targets_that_do_not_belong_together_are_refused():
    with pytest.raises(ValueError, match="'truth' among them"):
        target_figure("one", WORDS, {"words": TOLD["words"]}, SIZES, {"words": [1.0, 2.0]})
    with pytest.raises(ValueError, match="1 gaps"):
        target_figure("one", WORDS, TOLD, (200,), GAPS)


EXAMPLE = Example(figure, "[data-name=gap]")
