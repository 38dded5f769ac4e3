"""What is kept of each guess: numbers, sentences, curve and goals follow the rows."""

import pytest
import torch
from playwright.sync_api import expect

from book.in_any_order import pace_figure
from tests.book.reading import Example, close, numbers, press

pytestmark = pytest.mark.browser

NAMES = ["1", "2", "4", "all"]
LOST = [2.5, 4.0, 7.5, 9.5]
SHARES = [0.25, 0.125, 0.03, 0.0]
ROWS = {
    name: {
        "lost": LOST[i],
        "share": SHARES[i],
        "passes": 8 / (i + 1),
        "texts": [(f"the {name} dog {j}", j < 3 - i) for j in range(6)],
    }
    for i, name in enumerate(NAMES)
}


def figure():
    return pace_figure(ROWS, at=1)


def slider(page):
    return page.get_by_role("slider", name="words kept =")


def test_every_row_shows_its_share_its_sentences_and_what_it_costs(show):
    page = show(figure(), reduced_motion="reduce")
    press(slider(page), "Home")
    for i, name in enumerate(NAMES):
        expected = torch.tensor([SHARES[i]], dtype=torch.float64)
        close(numbers(page.locator("[data-name=found] span[data-value]")), expected)
        items = page.get_by_role("list", name="six sentences").locator("li")
        assert items.first.inner_text().startswith(f"the {name} dog 0")
        expect(page.locator(".cl-six .cl-good")).to_have_count(max(0, 3 - i))
        said = page.get_by_role("status")
        expect(said).to_contain_text(f"Keeping {name} of each guess takes {8 / (i + 1):.1f} passes")
        expect(said).to_contain_text(f"loses {LOST[i]:.1f} nats")
        slider(page).press("ArrowRight")


def test_the_ring_stands_on_the_curve(show):
    page = show(figure(), reduced_motion="reduce")
    way = page.locator(".cl-stage path.cl-line").get_attribute("d")
    points = [list(map(float, point.split())) for point in way[1:].split("L")]
    heights = torch.tensor([y for _, y in points], dtype=torch.float64)
    lost = torch.tensor(LOST, dtype=torch.float64)
    scale = (heights[0] - heights[-1]) / (lost[-1] - lost[0])
    close((heights[0] - heights) / scale, lost - lost[0], 1e-6)
    place = page.locator(".cl-stage circle").last.get_attribute("transform")
    x, y = map(float, place.removeprefix("translate(").removesuffix(")").split())
    close(torch.tensor([x, y], dtype=torch.float64), torch.tensor(points[1]), 1e-3)


def test_the_goals_are_reached_where_they_are(show):
    page = show(figure(), reduced_motion="reduce")
    reached = page.locator(".cl-reached")
    expect(page.get_by_role("list", name="goals").locator("li")).to_have_count(2)
    expect(reached).to_have_count(0)
    slider(page).press("ArrowRight")  # 7.5 is more than half-way from 2.5 to 9.5
    expect(reached).to_have_count(1)
    slider(page).press("ArrowRight")
    expect(reached).to_have_count(2)


def test_rows_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="three rows"):
        pace_figure({name: ROWS[name] for name in NAMES[:2]})
    with pytest.raises(ValueError, match="three rows"):
        pace_figure(ROWS | {"all": {"lost": 1.0}})
    with pytest.raises(ValueError, match="from 0 to 3; got 4"):
        pace_figure(ROWS, at=4)


EXAMPLE = Example(figure, "[data-name=found] span[data-value]", "td:nth-of-type(1)")
