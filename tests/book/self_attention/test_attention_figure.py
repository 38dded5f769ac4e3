"""Attention on vectors that the reader edits, held to PyTorch."""

import pytest
import torch
from playwright.sync_api import expect

from book.self_attention import attention_figure
from companion.nn import scaled_dot_product_attention
from tests.book.reading import Example, close, numbers, press

pytestmark = pytest.mark.browser

TOKENS = ["cat", "sat", "mat"]
QUERY = [[1, 0, 1, 0.5], [0, 1, 0, 1], [1, -1, 0, 0]]
KEY = [[1, 0, 1, 0], [0, 2, 0, 0], [1, 0, 0, 1]]
VALUE = [[1, 0], [0, 1], [0.5, -0.5]]


def test_attention_equals_pytorch(show):
    page = show(attention_figure(TOKENS, QUERY, KEY, VALUE))
    query, key, value = (torch.tensor(x, dtype=torch.float64) for x in (QUERY, KEY, VALUE))

    def check(temperature: float, divisor: float) -> None:
        scale = 1 / (temperature * divisor)
        output, weights = scaled_dot_product_attention(query, key, value, scale=scale)
        close(numbers(page.locator("[data-name=scores] td[data-value]")), scale * query @ key.T)
        close(numbers(page.locator("[data-name=weights] td[data-value]")), weights)
        close(numbers(page.locator("[data-name=output] td[data-value]")), output)

    check(1, 2)
    press(page.get_by_role("slider", name="temperature"), "ArrowRight", times=7)
    check(1.7, 2)
    press(page.get_by_role("checkbox"), "Space")
    check(1.7, 1)
    page.get_by_label("query of sat, entry 3").fill("-2.25")
    query[1, 2] = -2.25
    page.get_by_label("key of mat, entry 1").fill("3")
    key[2, 0] = 3
    page.get_by_label("value of cat, entry 2").press_sequentially("5")  # 0 becomes 05
    value[0, 1] = 5
    check(1.7, 1)
    page.get_by_label("value of cat, entry 2").fill("")  # unfinished: the last number counts
    check(1.7, 1)
    expect(page.get_by_label("value of cat, entry 2")).to_have_attribute("aria-invalid", "true")
    page.get_by_role("button", name="Start again").click()
    query, key, value = (torch.tensor(x, dtype=torch.float64) for x in (QUERY, KEY, VALUE))
    check(1, 2)
    assert page.get_by_label("query of sat, entry 3").input_value() == "0"


def test_both_goals_can_be_reached(show):
    page = show(attention_figure(TOKENS, QUERY, KEY, VALUE))
    reached = page.locator(".cl-reached")
    expect(reached).to_have_count(0)
    page.get_by_label("query of sat, entry 4").fill("9")  # sat asks for what mat has
    expect(reached).to_have_text(["Make “sat” look at “mat” with more than .9. (reached)"])
    press(page.get_by_role("slider", name="temperature"), "Home")
    page.get_by_label("query of cat, entry 4").fill("9")
    page.get_by_label("query of mat, entry 1").fill("-9")
    expect(reached).to_have_count(2)


EXAMPLE = Example(
    lambda: attention_figure(TOKENS, QUERY, KEY, VALUE), "[data-name=weights] td[data-value]"
)
