"""The reader as an examiner: pairs, verdicts and scores."""

import pytest
import torch
from playwright.sync_api import expect

from book.from_noise import examiner_figure
from book.from_noise.figures.examiner import ROUNDS
from tests.book.reading import Example, numbers

pytestmark = pytest.mark.browser

LABELS = torch.arange(30) % 10
REAL = torch.ones(30, 1, 8, 8)
PAINTED = torch.zeros(30, 1, 8, 8)


def figure():
    painters = {"fog": (PAINTED, 0.97), "paper": (PAINTED, 0.625)}
    return examiner_figure(REAL, LABELS, painters, LABELS, seed=3)


def sides(painter: int = 0) -> list[str]:
    pairs = figure().data["painters"][painter]["pairs"]
    return ["right" if pair["side"] else "left" for pair in pairs]


def judge(page, truly: bool, painter: int = 0, rounds=range(10)) -> None:
    for number in rounds:
        right = sides(painter)[number]
        other = {"left": "right", "right": "left"}[right]
        page.locator(f"[data-name={right if truly else other}]").click()
        page.get_by_role("button", name="Next pair").click()


def test_the_real_picture_is_on_the_side_that_is_said(show):
    page = show(figure())
    assert set(sides()) == {"left", "right"}
    for number in range(ROUNDS):
        right = sides()[number]
        for side in ("left", "right"):
            ink = page.locator(f"[data-name={side}] rect").evaluate_all(
                "nodes => nodes.map((node) => +node.getAttribute('opacity'))"
            )
            assert set(ink) == {float(side == right)}
        page.locator(f"[data-name={right}]").click()
        expect(page.get_by_role("status")).to_have_text(f"Yes: a person drew the {right} one.")
        expect(page.locator(f"[data-name={right}]")).to_contain_text("a person")
        page.get_by_role("button", name="Next pair").click()
    expect(page.get_by_role("status")).to_have_text(f"All pairs are judged: {ROUNDS} right.")


def test_wrong_answers_do_not_count_and_each_painter_has_a_score(show):
    page = show(figure())
    own = page.locator("[data-name=own]")
    judge(page, truly=False, rounds=range(2))
    judge(page, truly=True, rounds=range(2, 5))
    expect(own).to_have_text("3 of 5")
    assert numbers(page.locator("[data-name=share]")).item() == 0.97
    page.get_by_role("radio", name="paper").check()
    expect(own).to_have_text("0 of 0")
    assert numbers(page.locator("[data-name=share]")).item() == 0.625
    page.get_by_role("radio", name="fog").check()
    expect(own).to_have_text("3 of 5")


def test_a_pair_is_judged_once(show):
    page = show(figure())
    page.locator("[data-name=left]").click()
    page.locator("[data-name=right]").click()
    expect(page.locator("[data-name=own]")).to_have_text(
        "1 of 1" if sides()[0] == "left" else "0 of 1"
    )


def test_the_goals(show):
    page = show(figure())
    ten, eight, deceived = page.get_by_role("list", name="goals").get_by_role("listitem").all()
    judge(page, truly=False, painter=0, rounds=range(2))
    judge(page, truly=True, painter=0, rounds=range(2, 9))
    expect(page.locator(".cl-reached")).to_have_count(0)
    judge(page, truly=True, painter=0, rounds=[9])
    expect(ten).to_have_class("cl-reached")
    expect(eight).to_have_class("cl-reached")
    expect(deceived).not_to_have_class("cl-reached")
    page.get_by_role("radio", name="paper").check()
    judge(page, truly=False, painter=1, rounds=range(3))
    expect(deceived).to_have_class("cl-reached")


def test_an_examiner_without_painters_is_refused():
    with pytest.raises(ValueError, match="at least one painter"):
        examiner_figure(REAL, LABELS, {}, LABELS)


EXAMPLE = Example(figure, "[data-name=share]", "tbody tr:first-child td")
