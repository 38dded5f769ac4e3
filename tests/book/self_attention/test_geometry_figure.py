"""The query among keys in the plane, held to PyTorch wherever it is moved."""

import pytest
import torch
from playwright.sync_api import expect

from book.self_attention import geometry_figure
from companion.nn import scaled_dot_product_attention
from tests.book.reading import Example, close, numbers, press

pytestmark = pytest.mark.browser

TOKENS = ["animal", "street", "it", "tired"]
QUERY = [-1.7, -0.1]
KEY = [[0.6, 1.9], [2.0, 0.3], [-1.3, -0.9], [-1.5, 1.0]]
VALUE = [[-1.6, 1.1], [1.7, 0.8], [-0.7, -0.2], [0.4, -1.3]]


def make():
    return geometry_figure(TOKENS, QUERY, KEY, VALUE)


def check(page, query, temperature=1.0):
    key, value = (torch.tensor(x, dtype=torch.float64) for x in (KEY, VALUE))
    query = torch.tensor([query], dtype=torch.float64)
    scale = 1 / (2**0.5 * temperature)
    output, weights = scaled_dot_product_attention(query, key, value, scale=scale)
    close(numbers(page.locator("[data-name=weight]")), weights)
    close(numbers(page.locator("[data-name=output]")), output)


def test_the_figure_equals_pytorch_where_the_query_goes(show):
    page = show(make())
    handle = page.get_by_role("slider", name="query")
    check(page, QUERY)
    press(handle, "ArrowRight", times=3)
    press(handle, "Shift+ArrowUp")
    check(page, [-1.4, 0.4])
    press(handle, "ArrowLeft")
    press(handle, "ArrowDown", times=2)
    check(page, [-1.5, 0.2])
    press(page.get_by_role("slider", name="temperature"), "ArrowLeft", times=4)
    check(page, [-1.5, 0.2], temperature=0.6)
    press(handle, "Shift+ArrowLeft", times=9)  # no query is longer than 3
    x, y = page.locator("[data-name=query]").evaluate_all(
        "nodes => nodes.map(n => +n.dataset.value)"
    )
    assert abs(x * x + y * y - 9) < 0.1
    check(page, [x, y], temperature=0.6)


def test_the_query_follows_the_pointer(show):
    page = show(make())
    box = page.get_by_role("slider", name="query").locator(".cl-knob").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 120, y - 60, steps=4)
    page.mouse.up()
    moved = numbers(page.locator("[data-name=query]")).tolist()
    assert moved[0] > QUERY[0] + 0.5 and moved[1] > QUERY[1] + 0.3
    check(page, moved)


def test_both_goals_can_be_reached_and_stay(show):
    page = show(make())
    handle, reached = page.get_by_role("slider", name="query"), page.locator(".cl-reached")
    expect(reached).to_have_count(0)
    press(handle, "Shift+ArrowRight", times=10)
    expect(reached).to_have_text(["Give “street” more than .9. (reached)"])
    press(handle, "ArrowUp", times=20)
    press(handle, "ArrowLeft", times=6)
    for _ in range(40):
        if reached.count() == 2:
            break
        press(handle, "ArrowUp")
    expect(reached).to_have_count(2)


def test_a_query_of_length_zero_takes_the_mean(show):
    page = show(geometry_figure(TOKENS, [0, 0], KEY, VALUE))
    check(page, [0, 0])
    expect(page.get_by_role("status")).to_contain_text("equal shares")


def test_vectors_that_are_not_two_wide_are_refused():
    with pytest.raises(ValueError, match=r"need a query \(2,\)"):
        geometry_figure(TOKENS, [1, 2, 3], KEY, VALUE)


EXAMPLE = Example(make, "[data-name=weight]")
