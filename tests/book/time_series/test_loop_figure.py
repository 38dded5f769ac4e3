"""The loop of a forecast: every step against a loop written out by hand in PyTorch."""

import pytest
import torch
from playwright.sync_api import expect
from torch import nn

from book.time_series import loop_figure
from tests.book.reading import Example, close, numbers, press, select

pytestmark = pytest.mark.browser

WINDOW, STEPS, NAMES = 5, 14, ["swing", "stay"]
ROUNDED = 6e-5  # the page gets four decimals


class Swing(nn.Module):
    """The next point is a sum of the last two, as for a pendulum that is slightly too slow."""

    def forward(self, window):
        return 1.72 * window[:, -1:] - window[:, -2:-1]


def stay(window):
    return window[:, -1:]


FORECASTERS = dict(zip(NAMES, (Swing(), stay), strict=True))
TIME = torch.arange(WINDOW + STEPS, dtype=torch.float64)
RUNS = torch.stack([torch.sin(0.5 * TIME), torch.sin(0.15 * TIME + 1)])[..., None]


def by_hand(start: int, name: str) -> tuple[list[float], list[float], int]:
    """Answers, errors, and for how many points the error stays at most .4."""
    series = RUNS[start, :WINDOW, 0].tolist()
    for _ in range(STEPS):
        window = torch.tensor(series[-WINDOW:]).double().view(1, WINDOW, 1)
        series.append(FORECASTERS[name](window).item())
    said = series[WINDOW:]
    errors = [abs(a - b) for a, b in zip(said, RUNS[start, WINDOW:, 0].tolist(), strict=True)]
    good = next((i for i, error in enumerate(errors) if error > 0.4), STEPS)
    return said, errors, good


def check(page, step: int, start: int, name: str) -> None:
    said, errors, good = by_hand(start, name)
    rounds = [0, 1, 1, 2, 10, WINDOW, min(good + 1, STEPS), STEPS][step]
    own = min(WINDOW, 0 if step == 1 else rounds)
    found = numbers(page.locator("dd[data-value]"))
    expected = [rounds, own] + ([errors[rounds - 1]] if rounds else [])
    close(found, torch.tensor(expected), 2 * ROUNDED)
    caption = page.get_by_role("status")
    if 0 < step < 6 and step != 2:
        newest = f"{said[rounds - 1]:.2f}".replace("-", "\u2212")
        expect(caption).to_contain_text(newest)
    if step == 6:
        lost = f"stayed right for {good} points, which is {good * 0.05 * 0.906:.2f} Lyapunov times"
        expect(caption).to_contain_text(lost if good < STEPS else "has not passed 0.4 yet")
    visible = "nodes => nodes.filter((n) => getComputedStyle(n).visibility === 'visible').length"
    assert page.locator(".cl-own-point").evaluate_all(visible) == rounds


@pytest.mark.parametrize("start", [0, 1])
@pytest.mark.parametrize("name", NAMES)
def test_every_step_equals_a_loop_by_hand(show, start, name):
    page = show(loop_figure(FORECASTERS, RUNS, WINDOW), reduced_motion="reduce")
    select(page, "forecaster").select_option(name)
    select(page, "start").select_option(str(start))
    line = page.get_by_role("slider", name="step")
    press(line, "Home")
    for step in range(8):
        check(page, step, start, name)
        press(line, "ArrowRight")


def test_goals(show):
    page = show(loop_figure(FORECASTERS, RUNS, WINDOW), reduced_motion="reduce")
    reached, line = page.locator(".cl-reached"), page.get_by_role("slider", name="step")
    best = max(range(2), key=lambda start: by_hand(start, "swing")[2])
    select(page, "start").select_option(str(1 - best))
    press(line, "Home")
    press(line, "ArrowRight", times=6)
    expect(reached).to_have_count(0)
    select(page, "start").select_option(str(best))
    expect(reached).to_have_count(1)
    furthest = max(
        ((name, start) for name in NAMES for start in range(2)),
        key=lambda choice: by_hand(choice[1], choice[0])[1][-1],
    )
    select(page, "forecaster").select_option(furthest[0])
    select(page, "start").select_option(str(1 - furthest[1]))
    press(line, "End")
    expect(reached).to_have_count(1)
    select(page, "start").select_option(str(furthest[1]))
    expect(reached).to_have_count(2)


def test_the_box_stays_in_the_picture_while_it_glides(show):
    runs = torch.sin(0.5 * torch.arange(WINDOW + 60, dtype=torch.float64))[None, :, None]
    page = show(loop_figure(FORECASTERS, runs, WINDOW), reduced_motion="no-preference")
    line = page.get_by_role("slider", name="step")
    press(line, "Home")
    press(line, "ArrowRight", times=5)
    page.evaluate(
        """() => {
        window.beyond = -Infinity;
        const edge = (name) => document.querySelector(name).getBoundingClientRect().right;
        const look = () => {
          window.beyond = Math.max(window.beyond, edge('.cl-unit') - edge('.cl-stage svg'));
          requestAnimationFrame(look);
        };
        look();
        }"""
    )
    press(line, "End")
    expect(page.locator("dd[data-name=rounds]")).to_have_text("60")
    page.wait_for_timeout(1800)
    assert page.evaluate("beyond") <= 0


@pytest.mark.parametrize("shape", [(2, 40), (2, 10, 1), (2, 40, 3)])
def test_other_runs_are_refused(shape):
    with pytest.raises(ValueError, match="more than 10"):
        loop_figure(FORECASTERS, torch.zeros(shape), WINDOW)


EXAMPLE = Example(lambda: loop_figure(FORECASTERS, RUNS, WINDOW), None)
