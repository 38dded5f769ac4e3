"""Bets on changes: the dots stay away until they are asked for, and stand where the effects say."""

import pytest
from playwright.sync_api import expect

from book.experts import trial_figure
from tests.book.reading import Example, press

pytestmark = pytest.mark.browser

BANDS = [0.3, 0.2, 0.15]
EFFECTS = {
    "a larger norm": [-0.3, -0.5, -0.2],
    "a gate": [-0.35, -0.05, 0.01],  # leaves the band with the first seed alone
    "no heads": [0.2, 0.4, 0.6],
    "a hat": [0.1, -0.1, 0.0],
}
OUTCOMES = dict(zip(EFFECTS, ["better", "no difference", "worse", "no difference"], strict=True))


def figure():
    return trial_figure(EFFECTS, BANDS)


def bet(page, outcomes):
    for name, outcome in outcomes.items():
        page.get_by_role("combobox", name=name).select_option(outcome)


def test_no_dot_is_seen_before_the_reader_asks(show):
    page = show(figure(), reduced_motion="reduce")
    dots, found = page.locator("[data-change='no heads'] circle"), page.locator("[data-outcome]")
    expect(dots.first).to_have_css("opacity", "0")
    zero = page.locator("[data-change='no heads'] .cl-line").get_attribute("x1")
    assert {dot.get_attribute("cx") for dot in dots.all()} == {zero}
    assert page.locator("[data-change='no heads'] .cl-mean").get_attribute("x1") == zero
    expect(found).to_have_text([""] * 4)
    page.get_by_role("button", name="Show the answer").click()
    expect(dots.first).to_have_css("opacity", "1")
    expect(found).to_have_text(list(OUTCOMES.values()))


def test_dots_means_and_band_follow_the_seeds(show):
    page = show(figure(), reduced_motion="reduce")
    page.get_by_role("button", name="Show the answer").click()
    slider = page.get_by_role("slider", name="number of seeds")
    press(slider, "Home")
    zero = float(page.locator("[data-change='a hat'] .cl-line").get_attribute("x1")[:-1])
    first = page.locator("[data-change='a hat'] circle").first
    unit = (float(first.get_attribute("cx")[:-1]) - zero) / 0.1
    for n, limit in enumerate(BANDS, 1):
        for name, effects in EFFECTS.items():
            strip = page.locator(f"[data-change='{name}']")
            dots = strip.locator("circle").all()
            assert [float(dot.get_attribute("data-value")) for dot in dots] == effects
            places = [(float(dot.get_attribute("cx")[:-1]) - zero) / unit for dot in dots]
            assert places == pytest.approx(effects)
            expect(strip.locator("circle.cl-out")).to_have_count(3 - n)
            mean = float(strip.locator(".cl-mean").get_attribute("x1")[:-1])
            assert (mean - zero) / unit == pytest.approx(sum(effects[:n]) / n)
            band = strip.locator("rect")
            left, width = (float(band.get_attribute(x).rstrip("%")) for x in ("x", "width"))
            assert (left - zero) / unit == pytest.approx(-limit)
            assert width / unit == pytest.approx(2 * limit)
        said = page.locator("[data-outcome='a gate']")
        expect(said).to_have_text("better" if n == 1 else "no difference")
        slider.press("ArrowRight")


def test_bets_are_counted_and_cannot_be_changed_while_the_dots_are_shown(show):
    page = show(figure(), reduced_motion="reduce")
    reached, status = page.locator(".cl-reached"), page.get_by_role("status")
    bet(page, {"a larger norm": "better", "a gate": "better"})
    expect(status).to_contain_text("You have bet on 2 of 4 changes.")
    page.get_by_role("button", name="Show the answer").click()
    expect(status).to_contain_text("1 of your 2 bets are right. 2 of 4 changes leave the band.")
    expect(page.locator("[data-outcome='a larger norm']")).to_have_text("✓ better")
    expect(page.get_by_role("combobox", name="no heads")).to_be_disabled()
    expect(reached).to_have_count(0)
    page.get_by_role("button", name="Guess again").click()
    bet(page, dict.fromkeys(EFFECTS, "no difference"))
    page.get_by_role("button", name="Show the answer").click()
    expect(reached).to_have_count(0)  # no more right than that
    page.get_by_role("button", name="Guess again").click()
    bet(page, {"no heads": "worse"})
    page.get_by_role("button", name="Show the answer").click()
    expect(reached).to_have_count(1)
    press(page.get_by_role("slider", name="number of seeds"), "ArrowLeft")
    expect(reached).to_have_count(2)  # two seeds say what three say, one says more


def test_changes_without_an_effect_for_each_seed_are_refused():
    with pytest.raises(ValueError, match=r"needs 3 effects, got \{'a gate': 2\}"):
        trial_figure({"a gate": [0.1, 0.2]}, BANDS)
    with pytest.raises(ValueError, match=r"got \{\}"):
        trial_figure({}, BANDS)


EXAMPLE = Example(figure, None)
