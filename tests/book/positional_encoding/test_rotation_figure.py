"""A query and a key that turn, held to PyTorch."""

import pytest
import torch
from playwright.sync_api import expect

from book.positional_encoding import rotation_figure
from companion.nn import RotaryEmbedding
from tests.book.reading import Example, close, numbers, press, select

pytestmark = pytest.mark.browser


def test_rotation_equals_rotary_embedding(show):
    page = show(rotation_figure())
    rope = RotaryEmbedding(8)
    later = page.get_by_role("button", name="Both one position later")

    def check(i: int, j: int, pair: int) -> None:
        vectors = torch.zeros(2, 1, 1, 8, dtype=torch.float64)
        vectors[0, ..., 2 * pair : 2 * pair + 2] = torch.tensor([1, 0.25])
        vectors[1, ..., 2 * pair : 2 * pair + 2] = torch.tensor([0.75, 0.75])
        query, key = rope(vectors[:1], torch.tensor([i])), rope(vectors[1:], torch.tensor([j]))
        close(numbers(page.locator("[data-name=product]")), (query * key).sum())

    check(5, 2, 0)
    before = numbers(page.locator("[data-name=product]"))
    later.click(click_count=3)
    check(8, 5, 0)
    close(numbers(page.locator("[data-name=product]")), before)
    select(page, "pair of entries").select_option("1")
    check(8, 5, 1)
    press(page.get_by_role("slider", name="query"), "End")
    check(63, 5, 1)
    press(page.get_by_role("slider", name="key"), "Home")
    check(63, 0, 1)
    expect(later).to_be_disabled()


def test_goals_are_about_the_difference(show):
    page = show(rotation_figure())
    reached = page.locator(".cl-reached")
    page.locator("input[name=i]").fill("40")
    expect(reached).to_have_count(0)
    page.locator("input[name=j]").fill("37")
    expect(reached).to_have_count(1)
    page.locator("input[name=j]").fill("26")
    expect(reached).to_have_count(1)
    page.locator("input[name=j]").fill("27")  # 13 steps: nearly all of the angle between them
    expect(reached).to_have_count(2)


EXAMPLE = Example(rotation_figure, "[data-name=product], [data-name=unturned]")
