"""Who wrote this book: answers, probabilities after each author, bars and goals follow the data."""

import pytest
import torch
from playwright.sync_api import expect

from book.in_any_order import asked_figure
from tests.book.reading import Example, close, numbers, press, select

pytestmark = pytest.mark.browser

AUTHORS = [f"author{i}" for i in range(9)]
BOOKS = [f"book{i}" for i in range(4)]
WROTE = [6, 2, 0, 8]
CHANCES = torch.rand(4, 9, generator=torch.Generator().manual_seed(0)).mul(0.2).double()
CHANCES[range(4), WROTE] = 0.75
GPT = [AUTHORS[3]] * 4
OTHER = [AUTHORS[i] for i in (6, 2, 5, 8)]


def figure():
    return asked_figure(BOOKS, AUTHORS, [AUTHORS[i] for i in WROTE], (GPT, OTHER), CHANCES)


def slider(page):
    return page.get_by_role("slider", name="after")


def shown(page):
    return numbers(page.locator("[data-name=p] span[data-value]"))


def test_every_book_after_every_author(show):
    page = show(figure())
    for i, book in enumerate(BOOKS):
        select(page, "book").select_option(label=book)
        press(slider(page), "Home")
        for j, author in enumerate(AUTHORS):
            close(shown(page), CHANCES[i, j : j + 1], 1e-4)
            expect(page.get_by_role("status")).to_contain_text(f"After “{author} wrote”")
            expect(page.locator(".cl-stage rect")).to_have_count(j + 1)
            slider(page).press("ArrowRight")


def test_both_answers_stand_beside_the_question_and_are_judged(show):
    page = show(figure())
    for i, book in enumerate(BOOKS):
        select(page, "book").select_option(label=book)
        for name, answers in (("GPT", GPT), ("any order", OTHER)):
            right = answers[i] == AUTHORS[WROTE[i]]
            cell = page.locator(f"[data-name='{name}']")
            expect(cell).to_have_text(f"{answers[i]} {'✓' if right else '✗'}")
            assert cell.get_attribute("data-right") == str(right).lower()


def test_asking_after_all_finds_the_most_probable_author(show):
    page = show(figure())
    page.locator("button[name=all]").click()
    expect(page.locator(".cl-stage rect")).to_have_count(9)
    close(shown(page), torch.tensor([0.75]))
    expect(page.get_by_role("status")).to_contain_text("Asked after 9 of 9 authors.")


def test_the_goals_are_reached_where_they_are(show):
    page = show(figure())
    reached = page.locator(".cl-reached")
    expect(page.get_by_role("list", name="goals").locator("li")).to_have_count(3)
    expect(reached).to_have_count(0)
    press(slider(page), "ArrowRight", 3)  # whom GPT names
    expect(reached).to_have_count(1)
    press(slider(page), "ArrowRight", 3)
    expect(reached).to_have_count(2)
    select(page, "book").select_option(label="book2")
    expect(reached).to_have_count(3)


def test_numbers_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="two answers"):
        asked_figure(BOOKS, AUTHORS, [AUTHORS[0]], (GPT, OTHER), CHANCES)
    with pytest.raises(ValueError, match=r"\(4, 9\), got \(9, 4\)"):
        asked_figure(BOOKS, AUTHORS, [AUTHORS[i] for i in WROTE], (GPT, OTHER), CHANCES.T)


EXAMPLE = Example(figure, "[data-name=p] span[data-value]", "tbody tr:first-child td")
