"""Through the window of a format: what is lost follows format, scale and tokens."""

from itertools import product

import pytest
import torch
from playwright.sync_api import expect

from book.many_machines import underflow_figure
from book.many_machines.figures.underflow import lost
from book.many_machines.formats import DTYPES, histogram, windows
from tests.book.reading import Example, close, numbers

pytestmark = pytest.mark.browser

SHOWN = "[data-name=zero], [data-name=few], [data-name=over]"
BINS = {-30: 0.0078125, -22: 0.25, -18: 0.4921875, -14: 0.25}


def figure():
    return underflow_figure(BINS, windows(), tokens=256, format="fp16")


def test_every_number_is_that_of_python(show):
    page = show(figure())
    for name, scale, tokens in product(DTYPES, (0, 13, 30), (6, 8, 11)):
        page.get_by_role("radio", name=name).check()
        page.get_by_role("slider", name="scale").fill(str(scale))
        page.get_by_role("slider", name="tokens").fill(str(tokens))
        expected = lost(BINS, windows()[name], scale - (tokens - 8))
        close(numbers(page.locator(SHOWN)), 100 * torch.tensor(expected).double(), 1e-5)


@pytest.mark.parametrize(("name", "dtype"), DTYPES.items(), ids=DTYPES)
def test_a_window_is_what_the_format_keeps(name, dtype):
    least, normal, most = windows()[name]
    through = lambda k: torch.tensor(2.0**k, dtype=torch.float64).to(dtype).double().item()  # noqa: E731
    assert through(least) == 2.0**least
    assert through(least - 2) == 0
    assert through(most - 1) == 2.0 ** (most - 1)
    three = torch.tensor(1.5 * 2.0**normal, dtype=torch.float64)
    assert three.to(dtype).double() == three
    assert (
        torch.tensor(1.5 * 2.0**least, dtype=torch.float64).to(dtype).double() != 1.5 * 2.0**least
    )


def test_what_becomes_zero_is_what_torch_makes_zero():
    torch.manual_seed(0)
    x = torch.randn(20_000) * 2.0**-24
    zero, few, over = lost(histogram(x), windows()["fp16"], 0)
    assert zero == pytest.approx((x.half() == 0).double().mean().item())
    assert zero + few == pytest.approx(1)
    assert over == 0
    x *= 2.0**40
    zero, few, over = lost(histogram(x), windows()["fp16"], 0)
    assert over == pytest.approx((~x.half().isfinite()).double().mean().item(), abs=1e-3)


def test_the_goals_are_reached_and_not_before(show):
    page = show(figure(), reduced_motion="reduce")
    reached = page.locator(".cl-reached")
    page.get_by_role("slider", name="tokens").fill("20")
    expect(reached).to_have_count(0)
    page.get_by_role("radio", name="bf16").check()
    expect(reached).to_have_count(1)
    page.get_by_role("radio", name="fp16").check()
    page.get_by_role("slider", name="scale").fill("24")
    expect(reached).to_have_count(2)
    page.get_by_role("slider", name="scale").fill("40")
    expect(reached).to_have_count(2)
    page.get_by_role("slider", name="tokens").fill("8")
    expect(reached).to_have_count(3)


def test_a_format_without_a_window_is_refused():
    with pytest.raises(ValueError, match="no window for 'fp4'"):
        underflow_figure(BINS, windows(), tokens=256, format="fp4")


EXAMPLE = Example(figure, SHOWN)
