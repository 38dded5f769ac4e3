"""pass@k of several models: numbers and curves are those of the binomials."""

import math

import pytest
import torch
from playwright.sync_api import expect

from book.after_pretraining import passes_figure
from tests.book.reading import Example, close, numbers, press

pytestmark = pytest.mark.browser

STAGES = {
    "luck": {"trained": [1, 5, 2], "unseen": [2, 1], "tries": 40, "entropy": 3.0},
    "taught": {"trained": [6, 3, 0], "unseen": [3, 1], "tries": 20},
    "sharp": {"trained": [15, 16, 0], "unseen": [8, 0], "tries": 16},
}


def figure():
    return passes_figure(STAGES, k=2)


def expected(which: str, k: int) -> torch.Tensor:
    """The share of all ways to pick k answers in which one passes, from the drawn answers."""
    found = []
    for stage in STAGES.values():
        n = stage["tries"]
        shares = [
            1 - math.prod((n - right - i) / (n - i) for i in range(k)) if right <= n - k else 1.0
            for right in stage[which]
        ]
        found.append(sum(shares) / len(shares))
    return torch.tensor(found, dtype=torch.float64)


@pytest.mark.parametrize("which", ["trained", "unseen"])
def test_every_k_is_that_of_the_binomials(show, which):
    page = show(figure(), reduced_motion="reduce")
    page.get_by_role("radio", name=f"{which} requests").check()
    slider = page.get_by_role("slider", name="tries k =")
    press(slider, "Home")
    for k in range(1, 17):
        close(numbers(page.locator("[data-name=pass] span[data-value]")), expected(which, k))
        slider.press("ArrowRight")


def test_of_two_that_are_equal_neither_is_called_the_best(show):
    same = {"trained": [3, 4], "unseen": [1, 2], "tries": 4}
    page = show(passes_figure({"one": same, "other": same, "none": {**same, "trained": [0, 1]}}))
    page.get_by_role("slider", name="tries k =").press("End")
    expect(page.get_by_role("status")).to_have_text(
        "With 4 tries, A, B meet most trained requests: 100 % of them."
    )


def test_models_are_switched_and_the_best_is_named(show):
    page = show(figure(), reduced_motion="reduce")
    say = page.get_by_role("status")
    best = f"{100 * expected('trained', 2)[2]:.0f} %"
    expect(say).to_have_text(f"With 2 tries, “sharp” meets most trained requests: {best} of them.")
    page.get_by_role("checkbox", name="C sharp").uncheck()
    expect(say).to_contain_text("“taught” meets most")
    close(numbers(page.locator("[data-name=pass] span[data-value]")), expected("trained", 2)[:2])
    expect(page.locator("[data-curve=sharp]")).to_be_hidden()
    expect(page.locator("[data-curve=luck]")).to_be_visible()
    for name in ("A luck", "B taught"):
        page.get_by_role("checkbox", name=name).uncheck()
    expect(say).to_have_text("No model is shown.")


def test_a_curve_goes_through_its_numbers(show):
    page = show(figure(), reduced_motion="reduce")
    way = page.locator("[data-curve=taught] path").get_attribute("d")
    points = [list(map(float, point.split())) for point in way[1:].split("L")]
    assert len(points) == 16
    heights = torch.tensor([y for _, y in points], dtype=torch.float64)
    shares = torch.stack([expected("trained", k)[1] for k in range(1, 17)])
    scale = (heights[0] - heights[-1]) / (shares[-1] - shares[0])
    close((heights[0] - heights) / scale, shares - shares[0], 1e-6)


def test_the_goals_are_reached_and_not_before(show):
    page = show(figure(), reduced_motion="reduce")
    reached = page.locator(".cl-reached")
    slider = page.get_by_role("slider", name="tries k =")
    press(slider, "Home")
    first = next(k for k in range(1, 17) if expected("trained", k)[0] >= expected("trained", 1)[1])
    for k in range(1, first):
        expect(reached, f"k = {k}").to_have_count(0)
        slider.press("ArrowRight")
    expect(reached).to_have_count(1)
    press(slider, "Home")
    page.get_by_role("radio", name="unseen requests").check()
    lead = [float(expected("unseen", k)[2] - expected("unseen", k)[1]) for k in range(1, 17)]
    furthest = 1 + lead.index(max(lead))
    assert 1 < furthest < 16
    for k in range(1, furthest):
        expect(reached, f"k = {k}").to_have_count(1)
        slider.press("ArrowRight")
    expect(reached).to_have_count(2)


def test_counts_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="up to 6"):
        passes_figure({"short": {"trained": [6], "unseen": [0], "tries": 4}})
    with pytest.raises(ValueError, match="pass@9"):
        passes_figure({"short": {"trained": [1], "unseen": [0], "tries": 4}}, k=9)


EXAMPLE = Example(figure, "[data-name=pass] span[data-value]", "td:nth-of-type(1)")
