"""Two copies on the same questions: counts, intervals and p follow what the reader chooses."""

import re
from math import comb

import pytest
import torch
from playwright.sync_api import expect

from book.is_it_good import contest_figure
from tests.book.reading import Example, close, numbers, press, select

pytestmark = pytest.mark.browser

COUNT = 40
COPIES = ("whole", "rounded", "block cut")


def hits(share: float, seed: int) -> list[bool]:
    generator = torch.Generator().manual_seed(seed)
    return (torch.rand(COUNT, generator=generator) < share).tolist()


RIGHT = {
    "plain": {
        "the text": dict(zip(COPIES, (hits(0.7, 0), hits(0.6, 1), hits(0.65, 2)), strict=True)),
        "per token": dict(zip(COPIES, (hits(0.5, 3), hits(0.4, 4), hits(0.5, 5)), strict=True)),
    },
    "options": {
        "the text": dict(zip(COPIES, (hits(0.15, 6), hits(0.9, 7), hits(0.3, 8)), strict=True)),
        "its letter": dict(
            zip(COPIES, (hits(0.25, 9), hits(0.25, 10), hits(0.2, 11)), strict=True)
        ),
    },
}


def figure():
    return contest_figure(RIGHT, form="plain", scorer="the text")


def mcnemar(a: int, b: int) -> float:
    tail = sum(comb(a + b, i) for i in range(min(a, b) + 1))
    return min(1.0, 2 * tail / 2 ** (a + b))


def expected(form: str, scorer: str, copy: str, asked: list[int]) -> torch.Tensor:
    whole, other = (RIGHT[form][scorer][name] for name in ("whole", copy))
    whole, other = ([answers[i] for i in asked] for answers in (whole, other))
    alone = sum(a and not b for a, b in zip(whole, other, strict=True))
    behind = sum(b and not a for a, b in zip(whole, other, strict=True))
    found = [sum(whole), sum(other), alone, behind, mcnemar(alone, behind)]
    return torch.tensor(found, dtype=torch.float64)


NAMES = ("whole", "other", "whole-alone", "other-alone", "p")


def shown(page) -> torch.Tensor:
    return torch.cat([numbers(page.locator(f"[data-name={name}]")) for name in NAMES])


def test_every_choice_shows_its_counts_and_its_p(show):
    page = show(figure(), reduced_motion="reduce")
    for copy in COPIES[1:]:
        page.get_by_label(copy).check()
        for form, scorers in RIGHT.items():
            select(page, "asked as").select_option(form)
            for scorer in scorers:
                select(page, "scored by").select_option(scorer)
                close(shown(page), expected(form, scorer, copy, list(range(COUNT))))


def test_fewer_questions_are_those_of_the_drawn_order(show):
    page = show(figure(), reduced_motion="reduce")
    draw = page.get_by_role("button", name="draw other questions")
    expect(draw).to_be_disabled()
    press(page.get_by_role("slider", name="questions"), "Home")
    orders = figure().data["orders"]
    for order in (0, 1, 2):
        close(shown(page), expected("plain", "the text", "rounded", orders[order][:20]))
        draw.click()


def test_the_bars_end_where_wilson_puts_them(show):
    page = show(figure(), reduced_motion="reduce")
    k, n, z = sum(RIGHT["plain"]["the text"]["whole"]), COUNT, 1.959964
    middle = (k / n + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * (k / n * (1 - k / n) / n + z * z / (4 * n * n)) ** 0.5
    way = page.locator("path[d*=H][style*=ink]").first.get_attribute("d")
    low, high = float(re.match(r"M([\d.]+)", way)[1]), float(re.search(r"H([\d.]+)", way)[1])
    width = float(page.locator("svg rect").first.get_attribute("width"))
    bar = torch.tensor([(high - low) / width], dtype=torch.float64)
    close(bar, torch.tensor([2 * half / (k / n)]), 1e-4)
    assert low < width + float(page.locator("svg rect").first.get_attribute("x")) < high
    assert 0 < middle - half < middle + half < 1


def test_a_form_without_letters_takes_the_scorer_back(show):
    page = show(figure(), reduced_motion="reduce")
    select(page, "asked as").select_option("options")
    select(page, "scored by").select_option("its letter")
    select(page, "asked as").select_option("plain")
    expect(select(page, "scored by")).to_have_value("the text")


def test_the_goals_are_reached_and_not_before(show):
    page = show(figure(), reduced_motion="reduce")
    expect(page.get_by_role("list", name="goals").locator("li")).to_have_count(3)
    expect(page.locator(".cl-reached")).to_have_count(0)
    select(page, "asked as").select_option("options")  # .15 against .9
    expect(page.locator(".cl-reached")).to_have_count(3)


def test_copies_and_answers_that_cannot_be_are_refused():
    two = {"plain": {"the text": {"whole": [True], "rounded": [True]}}}
    with pytest.raises(ValueError, match="three copies"):
        contest_figure(two, form="plain", scorer="the text")
    uneven = {"plain": {"the text": {"a": [True], "b": [True], "c": [True, False]}}}
    with pytest.raises(ValueError, match=r"got \[1, 2\] answers"):
        contest_figure(uneven, form="plain", scorer="the text")


EXAMPLE = Example(figure, "[data-name=whole]", "tbody tr:first-child td:nth-of-type(1)")
