"""Who gets whom: the square has every question's expert, and a limit turns the last ones away."""

import pytest
from playwright.sync_api import expect

from book.experts import routing_figure
from tests.book.reading import Example, press

pytestmark = pytest.mark.browser

VIEWS = {
    "trained": [(i % 16) // 2 for i in range(256)],  # two columns for each expert
    "untrained": [0 if i < 128 else 1 + i % 7 for i in range(256)],
}


def figure():
    return routing_figure(VIEWS)


def counted(experts, most, columns=False):
    """Who is turned away, the first served."""
    places = [16 * (i % 16) + i // 16 for i in range(256)] if columns else range(256)
    got, away = dict.fromkeys(range(8), 0), set()
    for i in places:
        got[experts[i]] += 1
        if got[experts[i]] > most:
            away.add(i)
    return away


def dropped(page):
    kinds = page.locator("[data-expert]").evaluate_all(
        "nodes => nodes.map((node) => node.classList.contains('cl-dropped'))"
    )
    return {i for i, is_dropped in enumerate(kinds) if is_dropped}


def test_every_cell_has_its_expert(show):
    page = show(figure(), reduced_motion="reduce")
    for name, experts in VIEWS.items():
        page.get_by_role("radio", name=name, exact=True).check()
        cells = page.locator("[data-expert] text").all_text_contents()
        assert cells == [str(expert + 1) for expert in experts]
        assert dropped(page) == set()


def test_who_comes_late_is_turned_away(show):
    page = show(figure(), reduced_motion="reduce")
    page.get_by_role("radio", name="untrained").check()
    slider = page.get_by_role("slider", name="room")
    press(slider, "Home")  # 0.75: 24 questions
    assert dropped(page) == counted(VIEWS["untrained"], 24)
    page.get_by_role("radio", name="column by column").check()
    assert dropped(page) == counted(VIEWS["untrained"], 24, columns=True)
    away = [counted(VIEWS["untrained"], 24, columns=way) for way in (False, True)]
    status = page.get_by_role("status")
    expect(status).to_contain_text(f"chosen by 128 of 256 questions. Each takes 24: {len(away[1])}")
    expect(status).to_contain_text(f"{len(away[0] - away[1])} are turned away in one order")


def test_the_goals_are_reached_and_not_before(show):
    page = show(figure())
    reached = page.locator(".cl-reached")
    slider = page.get_by_role("slider", name="room")
    press(slider, "ArrowLeft")  # room for three even shares: nobody is turned away
    expect(reached).to_have_count(0)
    page.get_by_role("radio", name="untrained").check()
    expect(reached).to_have_count(2)


def test_experts_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match=r"256 experts.*got \{'one': 256\}"):
        routing_figure({"one": [0] * 256})
    with pytest.raises(ValueError, match="'b': 255"):
        routing_figure({"a": [0] * 256, "b": [0] * 255})
    with pytest.raises(ValueError, match="from 0 to 7"):
        routing_figure({"a": [0] * 256, "b": [8] * 256})


EXAMPLE = Example(figure, None)
