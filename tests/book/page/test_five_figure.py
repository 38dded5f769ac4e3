"""Five questions in Chromium, from what the browser remembers."""

import pytest
from playwright.sync_api import expect

from book._press.questions import with_questions
from book.page.figures.five import five_figure
from tests.book.conftest import ROOT
from tests.book.reading import Example

pytestmark = pytest.mark.browser

READ, MISSED = "chapters-read", "questions-missed"


def quizzes(chapters=3, questions=6):
    options = [{"text": "Wrong", "why": "No."}, {"text": "Right", "why": "Yes.", "right": True}]
    return {
        (f"on_{c}/on_{c}.html", f"On {c}"): [
            {"name": f"q{q}", "text": f"Chapter {c}, question {q}?", "options": options}
            for q in range(questions)
        ]
        for c in range(chapters)
    }


EXAMPLE = Example(lambda: five_figure(quizzes()), None)


def remembering(page, **kept):
    """The page, loaded again where the browser keeps that."""
    page.evaluate(
        "kept => Object.entries(kept).forEach("
        "([key, value]) => localStorage.setItem(key, JSON.stringify(value)))",
        {key.replace("_", "-"): value for key, value in kept.items()},
    )
    page.reload()
    return page


def asked(page):
    return page.locator(".cl-question legend").evaluate_all(
        "all => all.map(legend => legend.textContent.replace(/^\\d of \\d\\. /, ''))"
    )


def answer(page, option):
    page.get_by_role("radio", name=option).check()
    page.get_by_role("button", name="Check").click()


def test_five_different_questions_from_what_was_read_and_else_from_the_first_chapter(show):
    page = show(five_figure(quizzes()))
    assert len({*asked(page)}) == 5 and all("Chapter 0" in text for text in asked(page))
    expect(page.get_by_text("has read none to its end")).to_be_visible()
    remembering(page, chapters_read=["on_1.html", "on_2.html", "elsewhere.html"])
    expect(page.get_by_text("2 of 3 chapters")).to_be_visible()
    found = set()
    for _ in range(20):
        now = asked(page)
        assert len({*now}) == 5 and not any("Chapter 0" in text for text in now)
        found |= {*now}
        page.get_by_role("button", name="Five others").click()
    assert len(found) == 12  # one is left out with a probability of (7 / 12)^20, under 3e-5 each
    expect(page.get_by_role("link")).to_have_text(f"On {asked(page)[0][8]}")


def test_what_was_missed_comes_more_often(show):
    page = show(five_figure(quizzes(questions=30)))
    remembering(page, questions_missed={"on_0.html:q7": 5})

    def times(text, turns=30):
        came = 0
        for _ in range(turns):
            came += text in asked(page)
            page.get_by_role("button", name="Five others").click()
        return came

    assert times("Chapter 0, question 7?") > 20  # 28 expected, and 5 of any other
    assert times("Chapter 0, question 8?") < 15


def test_the_first_answer_counts_and_is_kept(show):
    page = show(five_figure(quizzes()))
    kept = f"JSON.parse(localStorage.getItem('{MISSED}'))"
    first, second, *_ = (f"on_0.html:q{text[-2]}" for text in asked(page))
    answer(page, "Wrong")
    answer(page, "Right")
    assert page.evaluate(kept) == {first: 1}
    page.get_by_role("button", name="Next").click()
    answer(page, "Right")
    assert page.evaluate(kept) == {first: 1, second: 0}
    expect(page.locator(".cl-score")).to_have_text("2 of 5 right")


def test_a_browser_that_keeps_nothing_is_asked_all_the_same(show):
    page = show(five_figure(quizzes()))
    page.add_init_script(
        "Storage.prototype.getItem = Storage.prototype.setItem = () => { throw new Error('no'); }"
    )
    page.reload()
    answer(page, "Right")
    expect(page.locator(".cl-score")).to_have_text("1 of 5 right")


def test_the_page_has_all_quizzes():
    page = with_questions("<!-- five questions -->", ROOT)
    count = sum(text.count("[[questions]]") for text in map(read, ROOT.glob("book/*/quiz.toml")))
    assert page.count('"why"') > 3 * count > 500


def read(path):
    return path.read_text("utf8")
