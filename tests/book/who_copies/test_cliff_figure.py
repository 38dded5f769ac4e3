"""The film of a training, held to PyTorch."""

import pytest
import torch
from playwright.sync_api import expect

from book.who_copies import cliff_figure
from tests.book.reading import Example, close, numbers, press

pytestmark = pytest.mark.browser

LETTERS, PERIOD = list("abcdabcda"), 4
LOSSES = [4.0, 3.9, 1.4, 1.0]


def film(steps: int = 4, heads: int = 4, T: int = 9) -> torch.Tensor:
    """Random causal weights in 255ths, as they travel."""
    random = torch.Generator().manual_seed(3)
    scores = 3 * torch.randn(steps, heads, T, T, generator=random)
    later = torch.ones(T, T, dtype=torch.bool).triu(1)
    weights = scores.masked_fill(later, -torch.inf).softmax(-1).double()
    return (255 * weights).round() / 255


def make(maps: torch.Tensor | None = None):
    maps = film() if maps is None else maps
    return cliff_figure(LETTERS, [0, 20, 40, 60], LOSSES, maps, period=PERIOD)


def check(page, maps: torch.Tensor, frame: int) -> None:
    t = torch.arange(PERIOD, len(LETTERS))
    for name, back in (("previous", 1), ("induction", PERIOD - 1)):
        expected = maps[frame][:, t, t - back].mean(-1)
        close(numbers(page.locator(f"tspan[data-name={name}]")), expected)
    squares = page.locator("[data-name=map]").nth(1).locator(".cl-tip")
    drawn = squares.evaluate_all("nodes => nodes.map((node) => +node.style.opacity)")
    rows, columns = torch.tril_indices(9, 9)
    close(torch.tensor(drawn, dtype=torch.float64), maps[frame, 1, rows, columns], 1e-5)
    close(numbers(page.locator("[data-name=loss]")), torch.tensor([LOSSES[frame]]), 1e-6)


def test_every_step_equals_pytorch(show):
    page, maps = show(make()), film()
    slider = page.get_by_role("slider", name="training step")
    check(page, maps, 2)  # it opens on the last step but one
    press(slider, "Home")
    check(page, maps, 0)
    for frame in (1, 2, 3):
        press(slider, "ArrowRight")
        check(page, maps, frame)


def test_two_goals_are_reached_on_the_edge_and_behind_it(show):
    maps = torch.zeros(4, 4, 9, 9).double()
    maps[..., 0] = 1
    t = torch.arange(PERIOD, 9)
    maps[3:, 3, t, 0] = 0
    maps[3:, 3, t, t - PERIOD + 1] = 1
    page = show(make(maps))
    reached = page.locator(".cl-goals .cl-reached")
    slider = page.get_by_role("slider", name="training step")
    expect(reached).to_have_count(0)
    press(slider, "ArrowRight")
    expect(reached).to_have_count(1)
    expect(reached).to_contain_text("induction score above 0.5")
    press(slider, "ArrowLeft", times=2)
    expect(reached).to_have_count(2)
    status = page.get_by_role("status")
    expect(status).to_contain_text("After 20 steps the loss is 3.90 nats.")


def test_the_ring_is_drawn_along_the_curve(show):
    page, maps = show(make(), reduced_motion="reduce"), film()
    press(page.get_by_role("slider", name="training step"), "Home")
    handle = page.get_by_role("slider", name="place on the curve")
    box = handle.locator(".cl-knob").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    svg = page.locator(".cl-stage svg").bounding_box()
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 0.7 * (svg["width"] - 46), y + 10, steps=5)
    page.mouse.up()
    check(page, maps, 2)
    press(handle, "ArrowRight", times=3)
    check(page, maps, 3)
    expect(handle).to_have_attribute("aria-valuetext", "step 60, loss 1.00")


@pytest.mark.parametrize("changes", [{"period": 9}, {"layers": 3}, {"losses": LOSSES[:3]}])
def test_a_film_that_does_not_fit(changes):
    options = {"losses": LOSSES, "film": film(), "period": PERIOD} | changes
    with pytest.raises(ValueError, match="a film"):
        cliff_figure(LETTERS, [0, 20, 40, 60], **options)


def test_weights_that_see_the_future_are_refused():
    with pytest.raises(ValueError, match="causal"):
        make(film().transpose(-1, -2))


EXAMPLE = Example(make, "[data-name=loss]")
