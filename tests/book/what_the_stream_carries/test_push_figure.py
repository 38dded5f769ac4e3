"""One word, pushed: what the page shows is what was recorded."""

import pytest
import torch
from playwright.sync_api import expect

from book.what_the_stream_carries import push_figure
from tests.book.reading import Example, close, numbers, press

pytestmark = pytest.mark.browser

TIMES, PLACES = [0.0, 0.5, 1.0, 2.0], ["input", "block 1"]
TASKS = {
    "number": {
        "text": "the fox", "other": "foxes", "words": ["is", "has", "are", "have"],
        "true": [0.0625, 0.125, 0.5, 0.25],
        "input": [[0.5, 0.25, 0.125, 0.0], [0.25, 0.125, 0.5, 0.0], [0.0, 0.125, 0.75, 0.0625],
                  [0.0, 0.0625, 0.75, 0.125]],
        "block 1": [[0.5, 0.25, 0.0, 0.0], [0.375, 0.25, 0.25, 0.0], [0.25, 0.0, 0.25, 0.125],
                    [0.125, 0.0, 0.375, 0.125]],
    },
    "gender": {
        "text": "the king misses", "other": "queen", "words": ["his", "her"], "true": [0.25, 0.5],
        "input": [[0.75, 0.125], [0.25, 0.625], [0.125, 0.75], [0.0625, 0.875]],
        "block 1": [[0.75, 0.125], [0.75, 0.0625], [0.625, 0.125], [0.5, 0.25]],
    },
}  # fmt: skip


def make():
    return push_figure(TIMES, PLACES, TASKS)


def check(page, task: str, place: str, level: int) -> None:
    close(numbers(page.locator("[data-name=chance]")), torch.tensor(TASKS[task][place][level]))


def test_the_chances_follow_every_control(show):
    page = show(make())
    push = page.get_by_role("slider", name="the vector, times")
    check(page, "number", "input", 2)
    press(push, "ArrowLeft")
    check(page, "number", "input", 1)
    page.get_by_label("block 1").check()
    check(page, "number", "block 1", 1)
    page.get_by_label("gender").check()
    check(page, "gender", "block 1", 1)
    press(push, "Home")
    check(page, "gender", "block 1", 0)
    expect(page.get_by_role("status")).to_have_text(
        "0.00 times the vector, added behind block 1: after “the king misses” the likeliest of "
        "these words is “his” (0.75)."
    )


def test_the_bars_are_as_high_as_the_chances(show):
    page = show(make(), reduced_motion="reduce")
    heights = page.locator(".cl-model rect.cl-tip").evaluate_all(
        "nodes => nodes.map((node) => +node.getAttribute('height'))"
    )
    close(torch.tensor(heights).double(), 150 * torch.tensor(TASKS["number"]["input"][2]))


def test_three_goals(show):
    page = show(make())
    reached = page.locator(".cl-goals .cl-reached")
    push = page.get_by_role("slider", name="the vector, times")
    expect(reached).to_have_count(0)
    press(push, "ArrowLeft")
    expect(reached).to_have_count(1)
    press(push, "ArrowRight")
    page.get_by_label("block 1").check()
    expect(reached).to_have_count(2)
    page.get_by_label("gender").check()
    press(push, "End")
    expect(reached).to_have_count(3)


def test_a_row_that_is_missing_is_refused():
    with pytest.raises(ValueError, match="4 rows of 2 probabilities"):
        push_figure(TIMES, PLACES, {"gender": TASKS["gender"] | {"input": [[0.5, 0.5]]}})


EXAMPLE = Example(make, "[data-name=chance]")
