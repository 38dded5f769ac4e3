"""The browser of heads, held to PyTorch."""

import pytest
import torch
from playwright.sync_api import expect

from book.who_copies import browser_figure
from tests.book.reading import Example, close, numbers, press
from tests.book.who_copies.test_cliff_figure import film

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
    row = MAPS[block, head, query, : query + 1].sort(descending=True).values[:3]
    close(numbers(page.locator("[data-name=row] [data-value]")), row)
    map = page.locator("[data-name=weights] .cl-tip")
    drawn = map.evaluate_all("nodes => nodes.map((node) => +node.style.opacity)")
    rows, columns = torch.tril_indices(8, 8)
    close(torch.tensor(drawn, dtype=torch.float64), MAPS[block, head, rows, columns], 1e-5)


def test_every_head_and_word_equals_pytorch(show):
    page = show(make())
    block, head = divmod(int(scores(MAPS)[..., 1].argmax()), 3)
    check(page, block, head, 6)  # it opens on the head that copies
    chosen = page.get_by_role("slider", name="chosen head")
    word = page.get_by_role("slider", name="look from word", exact=False)
    press(chosen, "ArrowRight", times=5)
    press(chosen, "ArrowUp", times=3)
    check(page, 4, 0, 6)
    press(chosen, "ArrowDown", times=2)
    press(chosen, "ArrowLeft")
    check(page, 3, 2, 6)
    press(word, "End")
    check(page, 3, 2, 7)
    press(word, "Home")
    check(page, 3, 2, 0)


def test_the_map_of_all_heads_shows_the_chosen_score(show):
    page = show(make())
    cells = page.locator("[data-name=heads] .cl-tip")
    names = ("on the word before", "on what followed the copy", "on the first word")
    for i, name in enumerate(names):
        page.get_by_label(name).check()
        close(numbers(cells), scores(MAPS)[..., i])
        shades = cells.evaluate_all("nodes => nodes.map((node) => +node.style.opacity)")
        close(torch.tensor(shades, dtype=torch.float64), scores(MAPS)[..., i], 1e-5)


def test_a_head_is_chosen_by_a_click(show):
    page = show(make())
    cells = page.locator("[data-name=heads] .cl-tip")
    for block, head in ((4, 1), (0, 2)):
        box = cells.nth(3 * block + head).bounding_box()
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        check(page, block, head, 6)
    chosen = page.get_by_role("slider", name="chosen head")
    expect(chosen).to_have_attribute("aria-valuetext", "head 2 of block 0")


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


def test_three_goals_and_one_that_does_not_count(show):
    page = show(make(clear_maps()))
    reached = page.locator(".cl-goals .cl-reached")
    chosen = page.get_by_role("slider", name="chosen head")
    close(numbers(page.locator("[data-name=scores] tbody td")), torch.tensor([0, 1, 0]))
    expect(reached).to_have_count(0)  # the one that it opens on does not count
    press(chosen, "ArrowDown")
    expect(reached).to_have_count(1)
    press(chosen, "ArrowLeft")
    expect(reached).to_have_count(2)
    press(chosen, "ArrowDown")
    expect(reached).to_have_count(3)


@pytest.mark.parametrize("period", [1, 8])
def test_a_period_that_does_not_fit(period):
    with pytest.raises(ValueError, match="a period below 8"):
        browser_figure(WORDS, MAPS, period=period)


EXAMPLE = Example(make, "[data-name=scores] tbody td")
