"""Runs to be told apart in the page: what each instrument shows, and what a name is told."""

from functools import cache

import pytest
import torch
from playwright.sync_api import expect

from book.debugging import checks, diagnose_figure, the_model
from book.debugging.compare import mark
from book.debugging.fault import SOUND
from book.debugging.figures.diagnose import shown
from tests.book.reading import Example, close, numbers, select

pytestmark = pytest.mark.browser

NAMES = ("padding counts in the loss", "the last block's output is not used", SOUND)


@cache
def runs():
    """Three runs of 60 steps, and the sound one."""
    return [the_model.train_with(306, name, 60) for name in (*NAMES, SOUND)]


@cache
def figure():
    *three, sound = runs()
    return diagnose_figure(shown(the_model, three, sound))


EXAMPLE = Example(figure, ".cl-marks b")


@pytest.mark.parametrize("letter", "ABC")
def test_every_instrument_shows_the_run_beside_the_sound_one(show, letter):
    page = show(figure())
    page.get_by_role("radio", name=letter).check()
    looks = figure().data["runs"]["ABC".index(letter)]["looks"]
    mine, sound = runs()["ABC".index(letter)].instruments(), runs()[-1].instruments()
    assert [look["name"] for look in looks] == [*mine]
    for name, found in mine.items():
        select(page, "what to look at").select_option(name)
        if isinstance(found, tuple):
            ends = torch.tensor([found[1][-1], sound[name][1][-1]], dtype=torch.float64)
            close(numbers(page.locator(".cl-marks b")), torch.cat([ends, -ends.diff()]))
            continue
        table = page.get_by_role("table")
        if isinstance(found, str):
            expect(table.locator("tbody td").first).to_have_text(" ".join(found.split()))
            continue
        signs = [mark(number, sound[name][part]) for part, number in found.items()]
        own = table.locator("tbody td:nth-child(2)").all_inner_texts()
        assert [text[-1] in "▲▼" for text in own] == [bool(sign) for sign in signs]
        assert table.get_by_role("rowheader").all_inner_texts() == [*found]


def test_a_name_is_told_what_the_check_says(show):
    page = show(figure())
    status = page.get_by_role("status")
    for name in [fault.name for fault in the_model.FAULTS if "judged" not in fault.name]:
        select(page, "what is wrong with it?").select_option(name)
        page.get_by_role("button", name="Name it").press("Enter")
        verdict = checks.the_model(runs()[0], name)
        expect(status).to_contain_text("Yes." if name == NAMES[0] else verdict.mistake)
        measured = verdict.example.splitlines()[-1]
        expect(status).to_contain_text(measured.removeprefix("In your run, ").rstrip("."))


def test_each_run_keeps_its_name_and_the_goals_can_be_reached(show):
    page = show(figure())
    goals = page.get_by_role("list", name="goals").get_by_role("listitem")
    name_it = page.get_by_role("button", name="Name it")
    expect(name_it).to_be_disabled()
    for letter, first, truth in zip("ABC", ("softmax twice", *NAMES[1:]), NAMES, strict=True):
        page.get_by_role("radio", name=letter).check()
        expect(page.get_by_role("status")).to_contain_text(f"Run {letter} differs")
        for name in (first, truth):
            select(page, "what is wrong with it?").select_option(name)
            name_it.press("Enter")
        expect(page.get_by_role("status")).to_contain_text("Yes.")
        expect(goals.nth(0)).to_contain_text("(reached)" if letter != "A" else "attempt")
    expect(goals.nth(1)).to_contain_text("(reached)")
    page.get_by_role("radio", name="A").check()
    expect(select(page, "what is wrong with it?")).to_have_value(NAMES[0])
    expect(page.get_by_role("status")).to_contain_text("ignore_index")
