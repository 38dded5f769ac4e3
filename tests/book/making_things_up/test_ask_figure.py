"""The square of names: every name and stage against the tensors, clicks, shades, goals."""

import pytest
import torch
from playwright.sync_api import expect

from book.making_things_up import ask_figure
from tests.book.reading import Example, close, numbers, select

pytestmark = pytest.mark.browser

FIRSTS, LASTS = [f"F{i}" for i in range(5)], [f"L{i}" for i in range(7)]
DAYS = [f"day {i}" for i in range(6)]
COUNT = len(FIRSTS) * len(LASTS)
GENERATOR = torch.Generator().manual_seed(0)
TOLD = torch.randint(-1, 4, (COUNT,), generator=GENERATOR)
TRUTH = torch.randint(len(DAYS), (COUNT,), generator=GENERATOR)
BELIEFS = {
    epoch: (torch.randn(COUNT, len(DAYS), generator=GENERATOR) * heat).softmax(1)
    for epoch, heat in ((4, 1.0), (24, 4.0))
}
NOBODY, STRANGER, ONCE = 31, 32, 33  # what the goals look for
TOLD[NOBODY], TOLD[STRANGER], TOLD[ONCE], TOLD[0] = -1, 0, 1, 2
for name in (NOBODY, STRANGER, ONCE):
    BELIEFS[24][name] = torch.eye(len(DAYS))[(TRUTH[name] + 1) % len(DAYS)]


def figure():
    return ask_figure((FIRSTS, LASTS), DAYS, TOLD, TRUTH, BELIEFS, person=(0, 0))


def ask(page, name: int) -> None:
    first, last = divmod(name, len(LASTS))
    select(page, "first name").select_option(label=FIRSTS[first])
    select(page, "last name").select_option(label=LASTS[last])


def test_every_name_is_answered_as_the_model_does(show):
    page = show(figure())
    for epoch, beliefs in BELIEFS.items():
        select(page, "trained for").select_option(label=f"{epoch} epochs")
        for name in range(0, COUNT, 3):
            ask(page, name)
            close(numbers(page.locator("[data-name=sure]")), beliefs[name].topk(3).values, 3e-3)
            said = page.get_by_role("status").inner_text()
            best = beliefs[name].argmax().item()
            assert f"answers {DAYS[best]}," in said
            right = TOLD[name] >= 0 and best == TRUTH[name]
            wrong = f"the day is {DAYS[TRUTH[name]]}"
            assert ("It is right" in said, wrong in said) == (right, TOLD[name] >= 0 and not right)


def test_a_click_asks_about_the_name_below_it(show):
    page = show(figure())
    square = page.locator("[data-name=square] .cl-hit")
    box = square.bounding_box()
    for first, last in ((0, 6), (4, 0), (2, 3)):
        x = (last + 0.5) * box["width"] / len(LASTS)
        y = (first + 0.5) * box["height"] / len(FIRSTS)
        page.mouse.click(box["x"] + x, box["y"] + y)
        expect(page.get_by_role("status")).to_contain_text(f"{FIRSTS[first]} {LASTS[last]}")


def test_the_shades_count_the_names_of_each_kind(show):
    page = show(figure())
    best = BELIEFS[24].argmax(1)
    right = best == TRUTH
    kinds = {
        "how often told": [TOLD == -1, TOLD == 0, TOLD == 1, TOLD >= 2],
        "right or wrong": [TOLD == -1, (TOLD >= 0) & right, (TOLD >= 0) & ~right],
    }
    for tab, masks in kinds.items():
        page.get_by_label(tab).check()
        ways = page.locator("[data-name=square] path").evaluate_all(
            "nodes => nodes.map((node) => (node.getAttribute('d') ?? '').split('M').length - 1)"
        )
        assert ways == [mask.sum().item() for mask in masks]


def test_the_goals_are_reached_by_the_names_that_fit_after_the_last_epoch(show):
    page = show(figure())
    reached = page.locator(".cl-reached")
    expect(page.get_by_role("list", name="goals").locator("li")).to_have_count(3)
    select(page, "trained for").select_option(label="4 epochs")
    for name in (NOBODY, STRANGER, ONCE):
        ask(page, name)
    expect(reached).to_have_count(0)
    select(page, "trained for").select_option(label="24 epochs")
    for name in (STRANGER, NOBODY, ONCE):
        ask(page, name)
    expect(reached).to_have_count(3)


def test_sizes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="35 names and 6 answers"):
        ask_figure((FIRSTS, LASTS), DAYS, TOLD[1:], TRUTH, BELIEFS, person=(0, 0))


EXAMPLE = Example(figure, "[data-name=sure]", "tbody td")
