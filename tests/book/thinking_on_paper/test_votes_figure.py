"""Ways to choose from k samples: numbers, sentence, curves and goals follow the shares."""

import pytest
import torch
from playwright.sync_api import expect

from book.thinking_on_paper import votes_figure
from tests.book.reading import Example, close, numbers, press

pytestmark = pytest.mark.browser

K = 16
SHARES = {
    "one": [0.4] * K,
    "greedy": [0.7] * K,
    "vote": [0.4 + 0.3 * (1 - 0.8**k) for k in range(K)],
    "checked": [0.4 + 0.5 * (1 - 0.7**k) for k in range(K)],
    "any": [1 - 0.6 ** (k + 1) for k in range(K)],
}


def figure():
    return votes_figure(SHARES, k=3)


def test_every_k_shows_its_shares_and_says_how_the_vote_stands(show):
    page = show(figure(), reduced_motion="reduce")
    slider = page.get_by_role("slider", name="samples k =")
    press(slider, "Home")
    for k in range(1, K + 1):
        expected = torch.tensor([curve[k - 1] for curve in SHARES.values()], dtype=torch.float64)
        close(numbers(page.locator("[data-name=right] span[data-value]")), expected)
        behind = round(100 * (0.7 - SHARES["vote"][k - 1]))
        points = "point" if behind == 1 else "points"
        side = f"{behind} {points} below greedy" if behind else "level with greedy"
        expect(page.get_by_role("status")).to_contain_text(side)
        slider.press("ArrowRight")


def test_a_curve_goes_through_its_shares(show):
    page = show(figure(), reduced_motion="reduce")
    way = page.locator("[data-curve=any] path").get_attribute("d")
    points = [list(map(float, point.split())) for point in way[1:].split("L")]
    heights = torch.tensor([y for _, y in points], dtype=torch.float64)
    shares = torch.tensor(SHARES["any"], dtype=torch.float64)
    scale = (heights[0] - heights[-1]) / (shares[-1] - shares[0])
    close((heights[0] - heights) / scale, shares - shares[0], 1e-6)


def test_the_goals_are_reached_where_they_are_and_not_before(show):
    page = show(figure(), reduced_motion="reduce")
    wanted = [
        next(k for k in range(1, K + 1) if SHARES["vote"][k - 1] >= 0.68),
        next(k for k in range(1, K + 1) if SHARES["checked"][k - 1] > 0.7),
        next(k for k in range(1, K + 1) if SHARES["any"][k - 1] >= 0.9),
    ]
    assert len(set(wanted)) == 3
    slider = page.get_by_role("slider", name="samples k =")
    press(slider, "Home")
    for k in range(1, K + 1):
        expect(page.locator(".cl-reached")).to_have_count(sum(goal <= k for goal in wanted))
        slider.press("ArrowRight")


def test_curves_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="5 curves"):
        votes_figure({"one": [0.5, 0.5]})
    with pytest.raises(ValueError, match="before their end, 16; got 16"):
        votes_figure(SHARES, k=16)


EXAMPLE = Example(figure, "[data-name=right] span[data-value]", "td:nth-of-type(1)")
