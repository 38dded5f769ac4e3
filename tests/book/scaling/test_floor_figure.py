"""A floor through four points: the factor, the misses and the prediction equal least squares."""

import pytest
import torch
from playwright.sync_api import expect

from book.scaling import floor_figure
from tests.book.reading import Example, close, numbers, press

pytestmark = pytest.mark.browser

SIZES, LOSSES, NEXT = [3000, 6000, 11000, 20000], [2.5, 2.05, 1.83, 1.71], (40000, 1.63)
LOW, HIGH = 0.71, 1.71
EXPONENTS = torch.arange(1, 81, dtype=torch.float64) / 20


def figure():
    return floor_figure(SIZES, LOSSES, NEXT, 1.36, tolerance=0.02, apart=0.1)


def fitted(floor: float, exponent: float) -> tuple[float, float]:
    """The farthest point and the prediction, the factor by torch's least squares."""
    sizes = torch.tensor([*SIZES, NEXT[0]], dtype=torch.float64)
    shape = (sizes / sizes[0]) ** -exponent
    above = torch.tensor(LOSSES, dtype=torch.float64) - floor
    factor = torch.linalg.lstsq(shape[:4, None], above[:, None]).solution.item()
    return (factor * shape[:4] - above).abs().max().item(), floor + factor * shape[4].item()


def best(floor: float) -> tuple[float, float]:
    return min(fitted(floor, exponent) for exponent in EXPONENTS.tolist())


def expected(floor: float, fit: tuple[float, float]) -> torch.Tensor:
    return torch.tensor([floor, *fit], dtype=torch.float64)


def shown(page):
    return numbers(page.locator("dd[data-value]"))


def test_every_fit_is_that_of_least_squares(show):
    page = show(figure(), reduced_motion="reduce")
    handle, exponent = (
        page.get_by_role("slider", name="floor"),
        page.get_by_role("slider", name="exponent"),
    )
    close(shown(page), expected(1.21, fitted(1.21, 0.5)))
    press(exponent, "ArrowRight", times=7)
    close(shown(page), expected(1.21, fitted(1.21, 0.85)))
    press(handle, "ArrowUp", times=3)
    press(handle, "Shift+ArrowDown")
    close(shown(page), expected(1.19, fitted(1.19, 0.85)))
    press(handle, "Shift+ArrowUp", times=11)
    close(shown(page), expected(HIGH, fitted(HIGH, 0.85)))
    press(handle, "Shift+ArrowDown", times=25)
    close(shown(page), expected(LOW, fitted(LOW, 0.85)))


def test_the_best_exponent_is_found_for_every_floor(show):
    page = show(figure(), reduced_motion="reduce")
    page.get_by_role("checkbox", name="best exponent").check()
    expect(page.get_by_role("slider", name="exponent")).to_be_disabled()
    handle = page.get_by_role("slider", name="floor")
    for floor in (1.21, 1.26, 1.31, 1.36, 1.41, 1.46):
        close(shown(page), expected(floor, best(floor)))
        press(handle, "Shift+ArrowUp")


def test_the_floor_is_dragged(show):
    page = show(figure(), reduced_motion="reduce")
    box = page.locator(".cl-knob").last.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y - 40)
    page.mouse.up()
    scale = (LOSSES[0] + 0.1 - LOW) / (270 - 14)
    assert abs(shown(page)[0].item() - (1.21 + 40 * scale)) < 0.02


def test_the_next_size_is_hidden_until_it_is_asked_for(show):
    page = show(figure(), reduced_motion="reduce")
    say = page.get_by_role("status")
    truth = page.locator("svg g.cl-measure")
    expect(truth).to_be_hidden()
    expect(say).not_to_contain_text("1.630")
    page.get_by_role("button", name="Show the next size").click()
    off = abs(fitted(1.21, 0.5)[1] - NEXT[1])
    expect(say).to_contain_text(f"The next size reached 1.630, {off:.3f} from the prediction")
    expect(truth).to_be_visible()
    press(page.get_by_role("slider", name="floor"), "ArrowUp")
    expect(truth).to_be_hidden()


def test_the_goals_are_reached_and_not_before(show):
    page = show(figure(), reduced_motion="reduce")
    reached = page.locator(".cl-reached")
    page.get_by_role("button", name="Show the next size").click()
    assert fitted(1.21, 0.5)[0] > 0.02
    assert abs(fitted(1.21, 0.5)[1] - NEXT[1]) > 0.02
    expect(reached).to_have_count(0)
    page.get_by_role("checkbox", name="best exponent").check()
    handle, lowest = page.get_by_role("slider", name="floor"), None
    for step in range(22):
        floor = round(1.21 + 0.02 * step, 2)
        if best(floor)[0] <= 0.02 and lowest is None:
            lowest = floor
        passed = lowest is not None
        wide = passed and best(floor)[0] <= 0.02 and floor - lowest >= 0.1 - 1e-9
        expect(reached, f"floor {floor}").to_have_count(passed + wide)
        if wide:
            break
        press(handle, "ArrowUp", times=2)
    assert wide
    page.get_by_role("button", name="Show the next size").click()
    expect(reached).to_have_count(2 + (abs(best(floor)[1] - NEXT[1]) <= 0.02))
    assert abs(best(floor)[1] - NEXT[1]) <= 0.02


def test_sizes_that_do_not_grow_are_refused():
    near = {"tolerance": 0.02, "apart": 0.1}
    with pytest.raises(ValueError, match="as many losses"):
        floor_figure([1, 2], [3.0], (4, 2.0), 1.0, **near)
    with pytest.raises(ValueError, match="growing"):
        floor_figure([2, 1], [3.0, 2.0], (4, 2.0), 1.0, **near)
    with pytest.raises(ValueError, match="growing"):
        floor_figure([1, 2], [3.0, 2.0], (2, 2.0), 1.0, **near)


EXAMPLE = Example(figure, None)
