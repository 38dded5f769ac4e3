"""Bets on changes: the dots stay away until they are asked for, and stand where the effects say."""

import pytest
from playwright.sync_api import expect

from book.attention_on_a_budget import trial_figure
from tests.book.reading import Example

pytestmark = pytest.mark.browser

PLACEBO = [0.005, -0.01, 0.002]
EFFECTS = {
    "a larger norm": [-0.03, -0.05, -0.021],
    "a gate": [-0.03, -0.05, -0.019],  # one seed stays in the band
    "no heads": [0.021, 0.04, 0.06],
}
OUTCOMES = dict(zip(EFFECTS, ["better", "no difference", "worse"], strict=True))


def figure():
    return trial_figure(EFFECTS, PLACEBO)


def bet(page, outcomes):
    for name, outcome in outcomes.items():
        page.get_by_role("combobox", name=name).select_option(outcome)


def test_no_dot_is_seen_before_the_reader_asks(show):
    page = show(figure(), reduced_motion="reduce")
    dots, found = page.locator("[data-change='no heads'] circle"), page.locator("[data-outcome]")
    expect(dots.first).to_have_css("opacity", "0")
    zero = page.locator("[data-change='no heads'] line").get_attribute("x1")
    assert {dot.get_attribute("cx") for dot in dots.all()} == {zero}
    expect(found).to_have_text(["", "", ""])
    expect(page.locator("[data-change='the placebo'] circle").first).to_have_css("opacity", "1")
    page.get_by_role("button", name="Show the answer").click()
    expect(dots.first).to_have_css("opacity", "1")
    expect(found).to_have_text(list(OUTCOMES.values()))


def test_dots_and_band_stand_where_the_effects_say(show):
    page = show(figure(), reduced_motion="reduce")
    page.get_by_role("button", name="Show the answer").click()
    places = {}
    for name, effects in {"the placebo": PLACEBO, **EFFECTS}.items():
        dots = page.locator(f"[data-change='{name}'] circle").all()
        assert [float(dot.get_attribute("data-value")) for dot in dots] == effects
        places |= {
            e: float(dot.get_attribute("cx")[:-1]) for e, dot in zip(effects, dots, strict=True)
        }
    unit = (places[0.06] - places[-0.05]) / 0.11
    for effect, place in places.items():
        assert place - places[-0.05] == pytest.approx(unit * (effect + 0.05))
    band = page.locator("[data-change='a gate'] rect")
    left, width = (float(band.get_attribute(name).rstrip("%")) for name in ("x", "width"))
    assert left == pytest.approx(places[-0.01] - 0.01 * unit)  # twice the placebo's largest
    assert width == pytest.approx(0.04 * unit)


def test_bets_are_counted_and_cannot_be_changed_while_the_dots_are_shown(show):
    page = show(figure(), reduced_motion="reduce")
    reached, status = page.locator(".cl-reached"), page.get_by_role("status")
    bet(page, {"a larger norm": "better", "a gate": "better"})
    expect(status).to_have_text("You have bet on 2 of 3 changes.")
    page.get_by_role("button", name="Show the answer").click()
    expect(status).to_contain_text("1 of your 2 bets are right.")
    expect(page.locator("[data-outcome='a larger norm']")).to_have_text("✓ better")
    expect(page.get_by_role("combobox", name="no heads")).to_be_disabled()
    expect(reached).to_have_count(0)
    page.get_by_role("button", name="Guess again").click()
    bet(page, dict.fromkeys(EFFECTS, "no difference"))
    page.get_by_role("button", name="Show the answer").click()
    expect(reached).to_have_count(1)  # every change, and no more right than that
    page.get_by_role("button", name="Guess again").click()
    bet(page, {"no heads": "worse"})
    page.get_by_role("button", name="Show the answer").click()
    expect(reached).to_have_count(2)


def test_changes_without_an_effect_for_each_seed_are_refused():
    with pytest.raises(ValueError, match=r"needs 3 effects, got \{'a gate': 2\}"):
        trial_figure({"a gate": [0.1, 0.2]}, PLACEBO)
    with pytest.raises(ValueError, match=r"got \{\}"):
        trial_figure({}, PLACEBO)


EXAMPLE = Example(figure, None)
