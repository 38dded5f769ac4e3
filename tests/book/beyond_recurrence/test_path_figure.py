"""The live figure of the path between two words, held to a walk over every way there is."""

import itertools
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from book.beyond_recurrence import path_figure
from tests.book.reading import Example, numbers, press, select

pytestmark = pytest.mark.browser


def layers_needed(distance: int, strides: Iterator[int], kernel: int) -> int:
    """Layers until a word is within reach, found by walking every way there is."""
    reached = {0}
    for layers in itertools.count():
        if distance in reached:
            return layers
        stride = next(strides)
        reached = {place + tap * stride for place in reached for tap in range(kernel)}
    raise AssertionError("unreachable")


def test_path_counts_every_step(show):
    page = show(path_figure())
    slider = page.get_by_role("slider", name="distance")
    for convolution, kernel in itertools.product(("stacked", "dilated"), (2, 3, 5)):
        select(page, "convolution").select_option(convolution)
        select(page, "kernel width k").select_option(str(kernel))
        press(slider, "End")
        for distance in range(18, 0, -1):
            strides = (
                itertools.repeat(1)
                if convolution == "stacked"
                else (kernel**i for i in itertools.count())
            )
            for name, count in (
                ("recurrent", distance),
                ("convolution", layers_needed(distance, strides, kernel)),
                ("attention", 1),
            ):
                assert numbers(page.locator(f"td[data-name={name}]")).item() == count
            press(slider, "ArrowLeft")


def test_the_path_is_drawn_from_word_to_word(show):
    page = show(path_figure())

    def ends(distance: int) -> None:
        rows = page.locator("svg rect").evaluate_all(
            "all => all.map((r) => +r.getAttribute('y') + 7)"
        )
        first, last = min(rows), max(rows)
        steps = page.locator("svg line[stroke='var(--first)']").evaluate_all(
            "all => all.map((l) => ['x1', 'y1', 'x2', 'y2'].map((name) => +l.getAttribute(name)))"
        )
        chain, layers = steps[:distance], steps[distance:]
        for path in (chain, layers):
            assert (path[0][1], path[-1][3]) == (first, last)
            assert all(a[2:] == b[:2] for a, b in itertools.pairwise(path))  # without a gap

    ends(17)
    press(page.get_by_role("slider", name="distance"), "ArrowLeft", times=4)
    select(page, "kernel width k").select_option("2")
    ends(13)
    select(page, "convolution").select_option("stacked")
    ends(13)


def test_path_can_be_dragged(show):
    page = show(path_figure())
    expect(page.get_by_role("status")).to_contain_text("From “animal” to “it”: 17 steps")
    box = page.get_by_text("animal", exact=True).bounding_box()
    target = page.get_by_text("bridge", exact=True).bounding_box()
    page.mouse.move(box["x"] + 5, box["y"] + 8)
    page.mouse.down()
    page.mouse.move(target["x"] + 5, target["y"] + 8, steps=5)
    page.mouse.up()
    expect(page.get_by_role("status")).to_contain_text("From “bridge” to “it”: 7 steps")
    assert page.get_by_role("slider", name="distance").input_value() == "7"
    page.mouse.move(box["x"] + 5, box["y"] + 8)  # the button is up: nothing moves
    assert page.get_by_role("slider", name="distance").input_value() == "7"
    page.get_by_role("slider", name="distance").click(position={"x": 3, "y": 8})
    expect(page.get_by_role("status")).to_contain_text("From “because” to “it”: 1 step")


def test_the_word_is_a_handle_for_keys_and_for_a_finger(show):
    page = show(path_figure(), has_touch=True)
    handle = page.get_by_role("slider", name="where the path begins")
    expect(handle).to_have_attribute("aria-valuetext", "animal")
    press(handle, "ArrowDown", times=2)
    expect(handle).to_have_attribute("aria-valuetext", "had")
    assert page.get_by_role("slider", name="distance").input_value() == "15"
    box = handle.locator("rect").bounding_box()
    x, y = box["x"] + 20, box["y"] + 10
    touch = page.context.new_cdp_session(page)
    for kind, down in [("touchStart", 0), *[("touchMove", 15 * i) for i in range(1, 6)]]:
        point = {"x": x, "y": y + down}
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [point]})
        page.evaluate("() => new Promise(requestAnimationFrame)")
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    expect(handle).to_have_attribute("aria-valuetext", "the")


def test_goals_need_the_widest_kernel(show):
    page = show(path_figure())
    reached = page.locator(".cl-reached")
    slider = page.get_by_role("slider", name="distance")
    press(slider, "Home")
    press(slider, "ArrowRight", times=2)
    expect(reached).to_have_count(0)  # two words away, in a kernel of three; a wider one goes on
    select(page, "kernel width k").select_option("5")
    press(slider, "ArrowRight", times=2)
    expect(reached).to_have_count(1)
    press(slider, "End")
    expect(reached).to_have_count(2)
    page = show(path_figure())
    select(page, "convolution").select_option("stacked")
    select(page, "kernel width k").select_option("5")
    press(page.get_by_role("slider", name="distance"), "End")
    expect(page.locator("td[data-name=convolution]")).to_have_text("5")
    expect(page.locator(".cl-reached")).to_have_count(0)


EXAMPLE = Example(
    path_figure, "td[data-name=recurrent], td[data-name=convolution], td[data-name=attention]"
)
