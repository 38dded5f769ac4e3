"""The live figure of the whispering children, held to the slopes that autograd finds."""

import pytest
import torch
from playwright.sync_api import expect

from book.one_word_at_a_time import whisper_figure
from tests.book.reading import Example, close, numbers, press

pytestmark = pytest.mark.browser


def slopes(w: float, children: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Of the last child's state, and of the average, with respect to every word."""
    words = torch.zeros(children, dtype=torch.float64, requires_grad=True)
    heard = torch.zeros((), dtype=torch.float64)
    for word in words:
        heard = w * heard + word
    passed = torch.autograd.grad(heard, words)[0]
    return passed, torch.autograd.grad(words.mean(), words)[0]


def check(page, w: float, children: int) -> None:
    for name, expected in zip(("passed", "average"), slopes(w, children), strict=True):
        close(numbers(page.locator(f"svg [data-name={name}][data-value]")), expected)


def test_a_child_is_as_dark_as_its_word_is_loud(show):
    page = show(whisper_figure(w=0.5, children=8), reduced_motion="reduce")
    for times, w in ((0, 0.5), (70, 1.2)):  # louder than 1 is black
        press(page.get_by_role("slider", name="each passes on"), "ArrowRight", times)
        dark = page.locator("svg [data-name=ink]").evaluate_all(
            "nodes => nodes.map((node) => +node.getAttribute('opacity'))"
        )
        close(torch.tensor(dark[:8], dtype=torch.float64), slopes(w, 8)[0].clamp(max=1))


def test_every_bar_equals_the_slope(show):
    page = show(whisper_figure())
    check(page, 0.5, 8)
    press(page.get_by_role("slider", name="children"), "ArrowLeft", times=3)
    check(page, 0.5, 5)
    press(page.get_by_role("slider", name="each passes on"), "ArrowRight", times=7)
    check(page, 0.57, 5)
    press(page.get_by_role("slider", name="children"), "End")
    check(page, 0.57, 20)
    press(page.get_by_role("slider", name="each passes on"), "End")
    check(page, 1.2, 20)
    press(page.get_by_role("slider", name="each passes on"), "Home")
    check(page, 0.0, 20)


def test_the_sentence_says_what_arrives(show):
    page = show(whisper_figure(w=0.5, children=4))
    expect(page.get_by_role("status")).to_have_text(
        "Of the first word, 0.125 reaches the last of 4 children. "
        "Its weight in the average is 0.250."
    )


def test_two_goals_are_reached_by_the_right_line(show):
    page = show(whisper_figure(w=0.84, children=4))
    reached = page.locator(".cl-goals .cl-reached")
    w = page.get_by_role("slider", name="each passes on")
    expect(reached).to_have_count(0)
    press(w, "ArrowLeft", times=4)  # half arrives, but over four children only
    assert 0.45 < slopes(0.8, 4)[0][0] < 0.55
    expect(reached).to_have_count(0)
    press(page.get_by_role("slider", name="children"), "ArrowRight", times=4)
    press(w, "ArrowRight", times=11)
    assert 0.45 < slopes(0.91, 8)[0][0] < 0.55
    expect(reached).to_have_count(1)
    press(w, "End")
    assert slopes(1.2, 8)[0][0] < 10
    expect(reached).to_have_count(1)
    press(page.get_by_role("slider", name="children"), "End")
    expect(reached).to_have_count(2)


@pytest.mark.parametrize(("w", "children"), [(1.3, 8), (-0.1, 8), (0.5, 1), (0.5, 21)])
def test_a_line_that_there_is_not(w, children):
    with pytest.raises(ValueError, match=f"got {w}; children between 2 and 20, got {children}"):
        whisper_figure(w, children)


EXAMPLE = Example(
    whisper_figure, "svg [data-name=passed][data-value], svg [data-name=average][data-value]"
)
