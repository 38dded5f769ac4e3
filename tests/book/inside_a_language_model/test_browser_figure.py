"""The browser of heads, held to PyTorch."""

import pytest
import torch
from playwright.sync_api import expect

from book.inside_a_language_model import browser_figure
from tests.book.inside_a_language_model.test_cliff_figure import film
from tests.book.reading import Example, close, numbers, press

pytestmark = pytest.mark.browser

WORDS, PERIOD = "a b c d a b c d".split(), 4
MAPS = film(5, 3, 8)
T = torch.arange(PERIOD, 8)


def make(maps: torch.Tensor = MAPS):
    return browser_figure(WORDS, maps, period=PERIOD)


def scores(maps: torch.Tensor) -> torch.Tensor:
    keys = (T - 1, T - PERIOD + 1, torch.zeros_like(T))
    return torch.stack([maps[..., T, key].mean(-1) for key in keys], -1)


def check(page, block: int, head: int, query: int) -> None:
    close(numbers(page.locator("[data-name=scores] tbody td")), scores(MAPS)[block, head])
    row = MAPS[block, head, query, : query + 1].sort(descending=True).values[:5]
    close(numbers(page.locator("[data-name=row] [data-value]")), row)
    map = page.locator("[data-name=weights] .cl-tip")
    drawn = map.evaluate_all("nodes => nodes.map((node) => +node.style.opacity)")
    rows, columns = torch.tril_indices(8, 8)
    close(torch.tensor(drawn, dtype=torch.float64), MAPS[block, head, rows, columns], 1e-5)


def test_every_head_and_word_equals_pytorch(show):
    page = show(make())
    check(page, 0, 0, 6)
    block, head, word = (
        page.get_by_role("slider", name=name, exact=False)
        for name in ("block", "head", "look from word")
    )
    press(block, "ArrowRight", times=3)
    check(page, 3, 0, 6)
    press(head, "End")
    check(page, 3, 2, 6)
    press(word, "End")
    check(page, 3, 2, 7)
    press(word, "Home")
    check(page, 3, 2, 0)


def clear_maps() -> torch.Tensor:
    """Block 0: itself, before, first. Block 1: two copiers, the second weaker, and nothing."""
    maps = torch.zeros(2, 3, 8, 8).double()
    everywhere = torch.arange(8)
    maps[0, 0, everywhere, everywhere] = 1
    maps[0, 1, everywhere[1:], everywhere[:-1]] = 1
    maps[0, 2, :, 0] = 1
    maps[1, 0, T, T - PERIOD + 1] = 1
    maps[1, 1, T, T - PERIOD + 1] = 0.8
    return maps


def test_the_question_names_the_copier_and_goes_there(show):
    page = show(make(clear_maps()))
    question = page.locator("fieldset[data-name=copier]")
    answer = page.locator("[data-name=answer]")
    expect(answer).to_be_hidden()
    question.get_by_label("A", exact=True).check()
    question.get_by_role("button").click()
    expect(answer).to_have_text("It is not A. D does, head 0 of block 1. It is set below.")
    close(numbers(page.locator("[data-name=scores] tbody td")), torch.tensor([0, 1, 0]))
    question.get_by_role("button").click()
    question.get_by_label("D", exact=True).check()
    question.get_by_role("button").click()
    expect(answer).to_contain_text("Yes: D does")


def test_three_goals_and_one_that_does_not_count(show):
    page = show(make(clear_maps()))
    reached = page.locator(".cl-goals .cl-reached")
    block = page.locator("input[name=block]")
    head = page.locator("input[name=head]")
    expect(reached).to_have_count(0)
    press(block, "ArrowRight")  # it is among the four
    expect(reached).to_have_count(0)
    press(head, "ArrowRight")
    expect(reached).to_have_count(1)
    press(block, "ArrowLeft")
    expect(reached).to_have_count(2)
    press(head, "ArrowRight")
    expect(reached).to_have_count(3)


@pytest.mark.parametrize("period", [1, 8])
def test_a_period_that_does_not_fit(period):
    with pytest.raises(ValueError, match="a period below 8"):
        browser_figure(WORDS, MAPS, period=period)


EXAMPLE = Example(make, "[data-name=scores] tbody td")
