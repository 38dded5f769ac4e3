"""Bytes and shares of several memories: the table, the dots and the goals follow the facts."""

import pytest
import torch
from playwright.sync_api import expect

from book.attention_on_a_budget import budget_figure
from tests.book.reading import Example, close, numbers

pytestmark = pytest.mark.browser

FACTS = {
    "few": {"all": (8192, 0.9375), "near": (4096, 0.75), "matrix": (1024, 0.875)},
    "many": {"all": (32768, 0.96875), "near": (4096, 0.125), "matrix": (1024, 0.625)},
    "changing": {"all": (16384, 0.90625), "matrix": (1024, 0.984375)},
}


def figure():
    return budget_figure(FACTS, shown="few")


@pytest.mark.parametrize("kind", FACTS)
def test_the_table_and_the_dots_are_those_of_the_facts(show, kind):
    page = show(figure(), reduced_motion="reduce")
    page.get_by_role("radio", name=kind, exact=True).click()
    found = FACTS[kind]
    for column, name in enumerate(("bytes", "share")):
        expected = torch.tensor([float(point[column]) for point in found.values()])
        close(numbers(page.locator(f"td[data-name={name}][data-value]")), expected)
    expect(page.get_by_text("not run")).to_have_count(2 * (len(FACTS["few"]) - len(found)))
    heights = [
        page.locator(f"[data-dot='{name}']").bounding_box()["y"]
        for name in sorted(found, key=lambda name: -found[name][1])
    ]
    assert heights == sorted(heights)
    least = min(found, key=lambda name: found[name][0])
    expect(page.get_by_role("status")).to_contain_text(f"{kind}: {least} holds the least")


def test_the_goals_are_reached_and_not_before(show):
    page = show(figure())
    reached = page.locator(".cl-reached")
    expect(page.get_by_role("list", name="goals").locator("li")).to_have_count(2)
    expect(reached).to_have_count(0)
    page.get_by_role("radio", name="many").click()
    expect(reached).to_have_count(1)
    page.get_by_role("radio", name="changing").click()
    expect(reached).to_have_count(2)


def test_facts_that_cannot_be_compared_are_refused():
    with pytest.raises(ValueError, match=r"two kinds .* got \['few'\]"):
        budget_figure({"few": FACTS["few"]})
    with pytest.raises(ValueError, match="it needs 'all'"):
        budget_figure(FACTS | {"changing": {"matrix": (1, 0.5)}})
    with pytest.raises(ValueError, match=r"no bytes and share: 0, 0\.5"):
        budget_figure(FACTS | {"changing": {"all": (0, 0.5)}})
    with pytest.raises(ValueError, match="got 'none'"):
        budget_figure(FACTS, shown="none")


EXAMPLE = Example(figure, "td[data-name=share][data-value]", "td:nth-of-type(2)")
