"""Flipping a carry: the page shows the answer that Python stored for each sum and line."""

import pytest
from playwright.sync_api import expect

from book.thinking_on_paper import carry_figure
from book.thinking_on_paper.figures.carry import SUMS
from tests.book.reading import Example, numbers, press, select

pytestmark = pytest.mark.browser

LINES = [f"{i:03b}" for i in range(8)]


def stubborn(prompts: list[str]) -> list[str]:
    """A model that makes a column a 0 or a 9 where its carry is false, and adds the others."""
    answers = []
    for prompt in prompts:
        a, b, carries = int(prompt[:3]), int(prompt[4:7]), [int(c) for c in prompt[8:11]]
        digits = [str(true_carries(a, b)[2])]
        for i in (2, 1, 0):
            before = carries[i - 1] if i else 0
            digit = (a // 10**i + b // 10**i + before) % 10
            told, true = carries[i], true_carries(a, b)[i]
            digits.append(str(digit) if told == true else "90"[told])
        answers.append("".join(digits))
    return answers


def true_carries(a: int, b: int) -> list[int]:
    return [int(a % 10**k + b % 10**k >= 10**k) for k in (1, 2, 3)]


def by_hand(a: int, b: int, carries: str) -> str:
    """Every column added by itself, with the carry that is written for the one before it."""
    given = [0, *map(int, carries)]
    columns = [(a // 10**i % 10 + b // 10**i % 10 + given[i]) % 10 for i in range(3)]
    return "".join(map(str, [given[3], *reversed(columns)]))


def figure():
    return carry_figure(stubborn)


def row(page, name: str) -> str:
    return "".join(page.locator(f"[data-name={name}]").all_inner_texts())


def test_every_line_of_every_sum_shows_the_stored_answer(show):
    page = show(figure())
    for a, b in SUMS:
        select(page, "sum").select_option(label=f"{a} + {b}")
        answers = stubborn([f"{a}+{b}={line}:" for line in LINES])
        for line, answer in zip(LINES, answers, strict=True):
            page.get_by_role("button", name=f"carries {' '.join(line)}").click()
            assert row(page, "model") == answer
            assert row(page, "hand") == by_hand(a, b, line)
            assert row(page, "truth") == f"{a + b:04d}"
            assert numbers(page.locator("[data-name=answer]")).item() == int(answer)
            off = page.locator("[data-name=model].cl-astray").count()
            right = f"{a + b:04d}"
            assert off == sum(x != y for x, y in zip(answer, right, strict=True))


def test_a_carry_is_flipped_by_keyboard_and_said(show):
    page = show(figure())
    say = page.get_by_role("status")
    expect(say).to_have_text(
        "One carry is false. The model writes 1239; a person who trusts the carries makes 1235."
    )
    press(page.get_by_role("button", name="carry of the units"), "Enter")
    expect(say).to_have_text("The carries are true, and so is the answer, 1245.")
    press(page.get_by_role("button", name="carry of the hundreds"), "Space")
    assert row(page, "model") == "1945"
    expect(page.get_by_role("button", name="carry of the hundreds: 0, false")).to_be_focused()
    page.get_by_role("button", name="true carries").click()
    assert row(page, "model") == "1245"


def test_lines_that_were_not_tried_keep_their_answers_to_themselves(show):
    page = show(figure())
    expect(page.get_by_role("button", name="carries 0 1 1")).to_have_text("011:1239")
    expect(page.get_by_role("button", name="carries 1 1 1")).to_have_text("111:····")
    select(page, "sum").select_option(label="123 + 234")
    expect(page.get_by_role("button", name="carries 0 1 1")).to_have_text("011:····")
    expect(page.get_by_role("button", name="carries 0 0 0")).to_have_text("000:0357")


def test_the_goals_are_reached_and_not_before(show):
    page = show(figure())
    reached = page.locator(".cl-reached")
    expect(page.get_by_role("list", name="goals").locator("li")).to_have_count(2)
    page.get_by_role("button", name="carries 1 1 1").click()
    expect(reached).to_have_count(0)
    page.get_by_role("button", name="carries 0 0 0").click()  # 1999
    expect(reached).to_have_count(1)
    select(page, "sum").select_option(label="123 + 234")
    expect(reached).to_have_count(1)
    page.get_by_role("button", name="carry of the tens").click()  # 0407
    expect(reached).to_have_count(2)


def test_a_goal_that_no_line_reaches_is_not_set(show):
    page = show(carry_figure(lambda prompts: ["1234"] * len(prompts)))
    expect(page.get_by_role("list", name="goals").locator("li")).to_have_count(1)


def test_sums_and_answers_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="three digits here, got 45"):
        carry_figure(stubborn, [(45, 678)])
    with pytest.raises(ValueError, match="got '124'"):
        carry_figure(lambda prompts: ["124"] * len(prompts))


EXAMPLE = Example(figure, "[data-name=answer]", "tbody tr:first-child td")
