"""Three intervals and their coverage: the page computes what Python does."""

import math
import re

import pytest
import torch
from playwright.sync_api import expect

from book.is_it_good import intervals_figure
from tests.book.reading import Example, close, numbers, press

pytestmark = pytest.mark.browser

Z = 1.96


def wald(k, n):
    half = Z * math.sqrt(k / n * (1 - k / n) / n)
    return k / n - half, k / n + half


def wilson(k, n):
    share, room = k / n, 1 + Z * Z / n
    middle = (share + Z * Z / (2 * n)) / room
    half = Z / room * math.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))
    return middle - half, middle + half


def chances(n, p):
    return [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]


def bootstrap(k, n):
    sums = torch.tensor(chances(n, k / n), dtype=torch.float64).cumsum(0)
    return tuple((sums < tail).sum().item() / n for tail in (0.025, 0.975))


WAYS = {"Wald": wald, "bootstrap": bootstrap, "Wilson": wilson}


def coverage(name, n, p):
    ends = [WAYS[name](k, n) for k in range(n + 1)]
    held = [low <= p + 1e-9 and p <= high + 1e-9 for low, high in ends]
    return sum(c for c, yes in zip(chances(n, p), held, strict=True) if yes)


def figure():
    found = {name: (lambda n, p, name=name: coverage(name, n, p)) for name in WAYS}
    return intervals_figure(found)


def test_the_coverage_of_every_share_is_that_of_python(show):
    page = show(figure(), reduced_motion="reduce")
    slider = page.get_by_role("slider", name="true share")
    for n in (20, 60):
        page.get_by_label(f"{n} questions", exact=True).check()
        press(slider, "Home")
        for percent in range(50, 100, 7):
            slider.fill(str(percent))
            expected = [coverage(name, n, percent / 100) for name in WAYS]
            found = numbers(page.locator("[data-name=coverage] span[data-value]"))
            close(found, torch.tensor(expected), 1e-6)


def test_the_bars_have_the_lengths_of_the_intervals(show):
    page = show(figure(), reduced_motion="reduce")
    lengths, expected = [], []
    for right in (14, 19):
        page.get_by_role("slider", name="right answers").fill(str(right))
        for name, way in WAYS.items():
            d = page.locator(f"[data-interval={name}]").get_attribute("d")
            low, high = re.search(r"M([\d.]+) [\d.]+H([\d.]+)$", d).groups()
            lengths.append(float(high) - float(low))
            ends = way(right, 20)
            expected.append(ends[1] - ends[0])
    lengths = torch.tensor(lengths, dtype=torch.float64)
    close(lengths / lengths.sum(), torch.tensor(expected) / sum(expected), 1e-6)


def test_the_sentence_names_the_intervals_that_miss(show):
    page = show(figure(), reduced_motion="reduce")
    page.get_by_role("slider", name="right answers").fill("20")
    expect(page.get_by_role("status")).to_have_text(
        "With 20 of 20 right, Wald and bootstrap miss the true 90 %."
    )


def test_another_number_of_questions_keeps_the_share(show):
    page = show(figure(), reduced_motion="reduce")
    page.get_by_label("60 questions", exact=True).check()
    expect(page.get_by_role("slider", name="right answers")).to_have_value("57")


def test_the_goals_are_reached_and_not_before(show):
    page = show(figure(), reduced_motion="reduce")
    reached = page.locator(".cl-reached")
    expect(page.get_by_role("list", name="goals").locator("li")).to_have_count(3)
    expect(reached).to_have_count(0)
    page.get_by_role("slider", name="right answers").fill("20")
    expect(reached).to_have_count(1)
    share = page.get_by_role("slider", name="true share")
    share.fill("97")
    expect(reached).to_have_count(2)
    page.get_by_label("160 questions", exact=True).check()
    expect(reached).to_have_count(2)
    bad = [percent for percent in range(97, 100) if coverage("Wald", 160, percent / 100) < 0.8]
    assert bad
    share.fill(str(bad[0]))
    expect(reached).to_have_count(3)


def test_ways_and_results_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="three ways"):
        intervals_figure({"Wald": lambda n, p: 0.5})
    with pytest.raises(ValueError, match="of 20 answers 21"):
        intervals_figure({name: lambda n, p: 0.5 for name in WAYS}, right=21)


EXAMPLE = Example(figure, "[data-name=coverage] span[data-value]", "tbody td:nth-of-type(1)")
