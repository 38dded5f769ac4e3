"""The live figure of the roofline, held to operations and bytes that PyTorch counts."""

import math
import re

import pytest
import torch
from playwright.sync_api import expect
from torch.utils.flop_counter import FlopCounterMode

from book.page import roofline_figure
from tests.book.reading import Example, close, numbers, press, select

pytestmark = pytest.mark.browser

DEVICES = {
    "large": {"bandwidth": 3.0, "peak": {"bfloat16": 900.0, "float32": 60.0}},
    "small": {"bandwidth": 2.0, "peak": {"bfloat16": 300.0, "float32": 20.0}},
}
HEADS, BLOCK = 32, 128


def counted(run, *moved: torch.Tensor) -> float:
    """Operations of `run` per byte of these tensors."""
    with FlopCounterMode(display=False) as counter:
        run()
    return counter.get_total_flops() / sum(x.nbytes for x in moved)


def intensities(dtype: torch.dtype, n: int, batch: int, d: int, group: int) -> torch.Tensor:
    """Of the six points, on tensors without contents."""

    def empty(*shape):
        return torch.empty(*shape, dtype=dtype, device="meta")

    def matrices(rows):
        x, weight = empty(rows, HEADS * d), empty(HEADS * d, HEADS * d)
        return counted(lambda: x @ weight, x, weight, x @ weight)

    query, key, value = empty(n, d), empty(n, d), empty(n, d)
    scores, output = query @ key.T, empty(n, d)
    whole = counted(
        lambda: query @ key.T @ value, query, key, value, output, *[scores] * 4
    )  # written, read, written as weights, read
    passes = -(-n // BLOCK)
    tiled = counted(
        lambda: query @ key.T @ value, query, output, *[key] * passes, *[value] * passes
    )
    once = counted(lambda: query @ key.T @ value, query, output, key, value)
    new, out = empty(group, d), empty(group, d)
    cached = counted(lambda: new @ key.T @ value, new, out, key, value)
    return torch.tensor([matrices(batch * n), matrices(batch), whole, tiled, once, cached])


def set_to(page, name: str, exponent: int) -> None:
    page.get_by_role("slider", name=name).fill(str(exponent))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_points_are_where_counted_operations_and_bytes_put_them(show, device, dtype):
    page = show(roofline_figure(DEVICES))
    select(page, "device").select_option(device)
    select(page, "numbers").select_option(dtype)
    peak, bandwidth = DEVICES[device]["peak"][dtype], DEVICES[device]["bandwidth"]
    for n, batch, d, group in ((12, 0, 7, 0), (5, 3, 5, 2), (9, 10, 8, 4), (17, 6, 6, 1)):
        set_to(page, "tokens n", n)
        set_to(page, "batch", batch)
        set_to(page, "width of a head", d)
        set_to(page, "queries per key", group)
        expected = intensities(getattr(torch, dtype), 2**n, 2**batch, 2**d, 2**group).double()
        reached = (expected * bandwidth).clamp(max=peak)
        read = lambda name: numbers(page.locator(f"[data-name={name}]"))  # noqa: E731
        close(read("intensity") / expected, torch.ones(6), tolerance=1e-6)
        close(read("reached") / reached, torch.ones(6), tolerance=1e-6)
        close(read("share") / (100 * reached / peak), torch.ones(6), tolerance=1e-6)
        names = ["P", "W", "S", "T", "T*", "C"]
        below = [name for name, speed in zip(names, reached, strict=True) if speed < peak]
        expect(page.get_by_role("status")).to_contain_text(
            f"Ridge: {peak / bandwidth:.0f}. Memory decides the speed of "
            f"{', '.join(below) or 'none'};"
        )


def test_a_published_speed_lies_at_its_height_between_the_least_and_the_best_traffic(show):
    kernel = {"name": "fast kernel", "speed": 600.0, "n": 4096}
    page = show(roofline_figure(DEVICES | {"large": DEVICES["large"] | {"published": kernel}}))
    dot = page.locator("[data-name=published]")

    def height(y):  # of a tick of the axis
        box = page.locator("svg text.cl-end", has_text=re.compile(f"^{y}$")).bounding_box()
        return box["y"] + box["height"] / 2

    expect(page.get_by_text("fast kernel, measured: 600")).to_be_visible()
    box = dot.bounding_box()
    found = box["y"] + box["height"] / 2
    decade = height("10") - height("100")
    expected = height("100") - decade * math.log10(6)
    assert abs(found - expected) < 2
    select(page, "numbers").select_option("float32")
    expect(dot).to_be_hidden()
    select(page, "numbers").select_option("bfloat16")
    select(page, "device").select_option("small")
    expect(dot).to_be_hidden()


def test_a_batch_lifts_the_matrices_and_shared_keys_lift_the_cache(show):
    page = show(roofline_figure(DEVICES))
    reached = page.locator(".cl-goals .cl-reached")
    batch = page.get_by_role("slider", name="batch")
    press(batch, "ArrowRight", times=8)
    expect(reached).to_have_count(0)
    press(batch, "ArrowRight")
    expect(reached).to_have_count(1)
    set_to(page, "tokens n", 17)  # does not help the cache
    expect(reached).to_have_count(1)
    set_to(page, "queries per key", 3)
    expect(reached).to_have_count(2)


READING = ["P", "S", "T", "T*"]


def test_the_parts_that_read_have_goals_and_controls_of_their_own(show):
    page = show(roofline_figure(DEVICES, READING))
    for name in ("batch", "queries per key"):
        expect(page.get_by_role("slider", name=name)).to_have_count(0)
    expected = intensities(torch.bfloat16, 2**13, 1, 2**7, 1)[[0, 2, 3, 4]].double()
    close(numbers(page.locator("[data-name=intensity]")) / expected, torch.ones(4), tolerance=1e-6)
    reached = page.locator(".cl-goals .cl-reached")
    set_to(page, "tokens n", 8)  # n / 2 = 128 lies below the ridge of 300, and so does 256
    expect(reached).to_have_count(0)
    set_to(page, "tokens n", 9)
    expect(reached).to_have_count(1)
    set_to(page, "tokens n", 13)
    expect(reached).to_have_count(1)
    set_to(page, "width of a head", 8)  # S makes d / 2, T at most 128
    expect(reached).to_have_count(2)


def test_parts_that_are_none_are_refused():
    with pytest.raises(ValueError, match=r"some of .*'C'\), got \('P', 'Q'\)"):
        roofline_figure(DEVICES, ["P", "Q"])
    with pytest.raises(ValueError, match=r"got \(\)"):
        roofline_figure(DEVICES, [])


EXAMPLE = Example(lambda: roofline_figure(DEVICES), None)
