"""The live figure of the Lorenz system, held to PyTorch on random weights."""

import math
import re

import pytest
import torch
from playwright.sync_api import expect

from book.time_series import forecast_figure
from companion.data import lorenz, lorenz_path, split_series
from companion.forecasting import roll_out, valid_steps
from companion.models import Forecaster, ForecasterConfig
from tests.book.reading import Example, close, numbers, press, randomised, select

pytestmark = pytest.mark.browser

CONFIG = ForecasterConfig(
    features=3,
    window=6,
    horizon=1,
    patch_size=2,
    step_scale=0.25,
    d_model=14,
    num_layers=2,
    num_heads=2,
    d_ff=11,
)
DT, STEPS, START = 0.05, 70, [-5, -8, 16]
LYAPUNOV = DT * 0.906  # of one step


@pytest.fixture(scope="module")
def split():
    return split_series(lorenz(200, seed=7)[0], gap=7)


@pytest.fixture
def forecaster() -> Forecaster:
    model = randomised(Forecaster(CONFIG))
    model.head.weight.data /= 32  # a power of two: float16 still holds it exactly
    return model.eval()


@torch.no_grad()
def unfolded(model, split, start):
    """Truth and forecast (1 + STEPS, 3) from the last point shown on, and how many are good."""
    path = lorenz_path(torch.tensor(start, dtype=torch.float64), 6 + STEPS, dt=DT)
    scaled = split.standardised(path)[None]
    said = roll_out(model, scaled[:, :6], STEPS)
    good = valid_steps(said, scaled[:, 6:])
    said = torch.cat([scaled[:, 5:6], said], dim=1)
    return path[5:], split.restored(said[0]), good.item()


def check(page, model, split, start, after):
    truth, said, good = unfolded(model, split, start)
    points = torch.stack([truth[after], said[after]])
    close(numbers(page.locator("[data-name=points] td[data-value]")), points, 1e-6)
    valid = numbers(page.locator("[data-name=good]")).item()
    assert valid == pytest.approx(good * LYAPUNOV)
    shown = page.locator("[data-name=good]").inner_text()
    expect(page.get_by_role("status")).to_contain_text(f"{shown} Lyapunov times")  # one rounding


def test_the_forecast_equals_pytorch(show, forecaster, split):
    page = show(forecast_figure(forecaster, split, dt=DT, steps=STEPS))
    check(page, forecaster, split, START, 60)
    press(page.get_by_role("slider", name="time"), "ArrowLeft", times=3)
    check(page, forecaster, split, START, 57)
    press(page.get_by_role("slider", name="time"), "End")
    check(page, forecaster, split, START, 70)
    press(page.get_by_role("slider", name="start x"), "ArrowRight", times=2)
    press(page.get_by_role("slider", name="start y"), "Home")
    press(page.get_by_role("slider", name="start z"), "End")
    check(page, forecaster, split, [-4.8, -25, 48], 70)
    press(page.get_by_role("slider", name="time"), "Home")
    check(page, forecaster, split, [-4.8, -25, 48], 0)


def test_the_exact_equations_part_too(show, forecaster, split):
    page = show(forecast_figure(forecaster, split, dt=DT, steps=STEPS))
    select(page, "forecast by").select_option("twin")
    press(page.get_by_role("slider", name="time"), "End")
    truth, _, _ = unfolded(forecaster, split, START)
    twin = lorenz_path(truth[0] + torch.tensor([0.1, 0, 0]).double(), STEPS + 1, dt=DT)
    points = torch.stack([truth[-1], twin[-1]])
    close(numbers(page.locator("[data-name=points] td[data-value]")), points, 1e-6)
    expect(page.get_by_role("status")).to_contain_text("Right for all of the 3.17 Lyapunov times")


def test_goals(show, split):
    model = randomised(Forecaster(CONFIG)).eval()
    model.head.weight.data.zero_()
    model.head.bias.data.zero_()  # it stays where it is: good for long beside a point of rest
    page = show(forecast_figure(model, split, dt=DT, steps=STEPS))
    reached = page.locator(".cl-reached")
    rest = [8.5, 8.5, 27]
    assert unfolded(model, split, START)[2] * LYAPUNOV < 0.5
    assert unfolded(model, split, rest)[2] * LYAPUNOV > 3
    expect(reached).to_have_text(re.compile("wrong within half"))
    select(page, "forecast by").select_option("twin")
    for key, number in zip("xyz", rest, strict=True):
        page.get_by_role("slider", name=f"start {key}").fill(str(number))
    expect(page.get_by_role("status")).to_contain_text("Right for all")
    expect(reached).to_have_count(1)  # not the Forecaster's doing
    select(page, "forecast by").select_option("model")
    expect(reached).to_have_count(2)


TALL = {"width": 900, "height": 1400}  # all of it without scrolling


def middle(locator):
    box = locator.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(page, from_, across, down):
    page.mouse.move(*from_)
    page.mouse.down()
    page.mouse.move(from_[0] + across, from_[1] + down, steps=4)
    page.mouse.up()


def start_of(page):
    return [float(page.get_by_role("slider", name=f"start {key}").input_value()) for key in "xyz"]


def test_the_start_is_dragged_in_the_plane_of_the_picture(show, forecaster, split):
    page = show(forecast_figure(forecaster, split, dt=DT, steps=STEPS), viewport=TALL)
    for name in ("turn", "tilt"):
        page.get_by_role("slider", name=name).fill("0")  # x to the right, z upwards
    circle = page.locator("svg circle").last
    before = middle(circle)
    drag(page, before, 60, -40)
    x, y, z = start_of(page)
    assert x > -5 and y == -8 and z > 16
    assert (x + 5) / (z - 16) == pytest.approx(1.5, abs=0.05)
    after = middle(page.locator("svg circle").last)
    assert (after[0] - before[0], after[1] - before[1]) == pytest.approx((60, -40), abs=1.5)
    check(page, forecaster, split, [x, y, z], 60)
    page.get_by_role("slider", name="turn").fill("90")  # y to the right
    drag(page, middle(page.locator("svg circle").last), 30, 0)
    moved = start_of(page)
    assert moved[0] == pytest.approx(x) and moved[1] > -8 and moved[2] == pytest.approx(z)
    drag(page, middle(page.locator("svg circle").last), 3000, 0)
    assert start_of(page)[1] == 25  # and no further


def test_a_finger_drags_the_start_upwards_and_keys_move_it(show, forecaster, split):
    figure = forecast_figure(forecaster, split, dt=DT, steps=STEPS)
    page = show(figure, viewport=TALL, has_touch=True)
    handle = page.get_by_role("slider", name="where it starts")
    x, y = middle(handle)
    touch = page.context.new_cdp_session(page)

    def send(kind, up):
        points = [{"x": x, "y": y - up}] if kind != "touchEnd" else []
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    send("touchStart", 0)
    for up in range(10, 90, 10):
        send("touchMove", up)
        page.evaluate("() => new Promise(requestAnimationFrame)")  # moves come once in a frame
    send("touchEnd", 80)
    dragged = start_of(page)
    assert dragged[2] > 24  # the page would scroll, were the finger not held
    after = middle(handle)
    assert (after[0] - x, y - after[1]) == pytest.approx((0, 80), abs=2)
    press(handle, "ArrowUp", times=2)
    assert start_of(page)[2] == pytest.approx(dragged[2] + math.cos(math.radians(15)), abs=0.11)


def test_elsewhere_dragging_turns_the_view(show, forecaster, split):
    page = show(forecast_figure(forecaster, split, dt=DT, steps=STEPS), viewport=TALL)
    box = page.locator("svg").first.bounding_box()
    drag(page, (box["x"] + box["width"] - 12, box["y"] + 12), -40, 20)
    assert page.get_by_role("slider", name="turn").input_value() == "50"
    assert page.get_by_role("slider", name="tilt").input_value() == "25"
    assert start_of(page) == START


def test_what_stands_there_without_javascript_is_what_is_shown(show, forecaster, split):
    figure = forecast_figure(forecaster, split, dt=DT, steps=STEPS)
    cells = show(figure, java_script_enabled=False).locator("td").all_inner_texts()
    shown = numbers(show(figure).locator("[data-name=points] td[data-value]"))
    close(torch.tensor([float(cell) for cell in cells]).double(), shown, 6e-4)


EXAMPLE = Example(
    lambda: forecast_figure(
        randomised(Forecaster(CONFIG)), split_series(lorenz(200, seed=7)[0], gap=7), steps=STEPS
    ),
    "[data-name=points] td[data-value]",
)
