"""The live figure of the online softmax, held to PyTorch's softmax of the keys read so far."""

import pytest
import torch
from playwright.sync_api import expect

from book.attention_in_tiles import online_figure
from tests.book.reading import Example, close, numbers, press

pytestmark = pytest.mark.browser

SCORES = torch.tensor([1.0, 4, 2, 8], dtype=torch.float64).log()
VALUES = torch.tensor([10.0, 20, 30, 40], dtype=torch.float64)


def check(page, order: list[int], seen: int) -> None:
    """The numbers kept and the bars, after so many keys of an order."""
    scores, values = SCORES[order][:seen], VALUES[order][:seen]
    for name in ("max", "sum", "blend", "output"):
        expect(page.locator(f"[data-name={name}]")).to_have_count(1)
    if seen == 0:
        assert page.locator("[data-name=max]").text_content() == "–"
        assert page.locator("[data-name=weight]").count() == 0
        return
    weights = (scores - scores.max()).exp()
    expected = {
        "max": scores.max(),
        "sum": weights.sum(),
        "blend": weights @ values,
        "output": scores.softmax(0) @ values,
    }
    for name, number in expected.items():
        close(numbers(page.locator(f"[data-name={name}]")), number)
    found = numbers(page.locator("[data-name=weight]"))  # in the order of the keys' names
    close(found.sort().values, weights.sort().values)


def choose(page, key: int) -> None:
    page.get_by_role("button", name=f"read first k{key + 1}").press("Enter")


def test_every_step_equals_the_softmax_of_what_was_read(show):
    page = show(online_figure(SCORES, VALUES))
    line = page.get_by_role("slider", name="step")
    order = [0, 1, 2, 3]
    for first in (None, 2, 3, 0):
        if first is not None:
            choose(page, first)
            order = [first, *(key for key in order if key != first)]
        press(line, "Home")
        for step in range(6):
            check(page, order, min(step, 4))
            press(line, "ArrowRight")
        expect(page.get_by_role("status")).to_contain_text("58.75 / 1.88 = 31.33")


def test_the_factor_is_spoken(show):
    page = show(online_figure(SCORES, VALUES))
    press(page.get_by_role("slider", name="step"), "ArrowRight", times=2)
    expect(page.get_by_role("status")).to_contain_text("= 0.25. ℓ = 1.00 · 0.25 + 1.00 = 1.25")
    press(page.get_by_role("slider", name="step"), "ArrowRight")
    expect(page.get_by_role("status")).to_contain_text("the factor is 1")


def test_two_goals_are_reached_by_the_right_orders(show):
    page = show(online_figure(SCORES, VALUES))
    reached, line = page.locator(".cl-goals .cl-reached"), page.get_by_role("slider", name="step")
    press(line, "End")
    expect(reached).to_have_count(0)  # the maximum rises twice
    choose(page, 3)
    expect(reached).to_have_count(0)  # not yet read
    press(line, "End")
    expect(reached).to_have_count(1)
    for key in (1, 2, 0):  # 0, 2, 1, 3: rising
        choose(page, key)
    press(line, "End")
    expect(reached).to_have_count(2)


@pytest.mark.parametrize(
    ("scores", "values", "message"),
    [
        ([1.0, 2.0], [1.0], r"got \(2,\) and \(1,\)"),
        ([[1.0, 2.0]], [[1.0, 2.0]], r"got \(1, 2\)"),
        (range(7), range(7), "two to six keys fit, got 7"),
    ],
)
def test_scores_and_values_must_fit(scores, values, message):
    with pytest.raises(ValueError, match=message):
        online_figure(list(scores), list(values))


EXAMPLE = Example(lambda: online_figure(SCORES, VALUES), None)
