"""Ten questions in Chromium: the first that is new to a reader says where to begin."""

import re

import pytest
from playwright.sync_api import expect

from book._press.questions import with_questions
from book.page.figures.begin import begin_figure
from tests.book.conftest import ROOT
from tests.book.reading import Example

pytestmark = pytest.mark.browser

QUESTIONS = [
    {
        "name": name,
        "text": f"What is `{name}`?",
        "options": [
            {"text": "This", "why": "No.", "right": right == 0},
            {"text": "That", "why": "No.", "right": right == 1},
            {"text": "Neither", "why": "No.", "right": right == 2},
        ],
    }
    for name, right in (("one", 1), ("two", 0), ("three", 2))
]
CHAPTERS = [
    {"href": f"{name}/{name}.html", "title": f"On {name}", "question": f"Why {name}?"}
    for name in ("one", "two", "three")
]


def make():
    return begin_figure(QUESTIONS, CHAPTERS, {"href": "said.html", "title": "What is said"})


EXAMPLE = Example(make, None)


def answered(page, *options):
    """The page after these answers, with what it says."""
    if page.get_by_role("button", name="Start again").is_enabled():
        page.get_by_role("button", name="Start again").click()
    for option in options:
        page.get_by_role("radio", name=option).check()
        page.get_by_role("button", name="Next").click()
    return page.get_by_role("status")


def test_the_first_that_is_new_decides_and_later_ones_are_told(show):
    page = show(make())
    expect(page.get_by_role("button", name="Next")).to_be_disabled()
    expect(answered(page, "That")).to_have_text("1 right so far.")
    said = answered(page, "That", "I do not know")
    expect(said).to_have_text("Begin with On two: Why two?")
    expect(said.get_by_role("link")).to_have_attribute("href", "two/two.html")
    expect(answered(page, "This", "This", "That")).to_have_text(
        "Begin with On one: Why one? New to you as well: On three."
    )
    expect(page.get_by_role("button", name="Next")).to_be_hidden()
    said = answered(page, "That", "This", "Neither")
    expect(said).to_have_text("All 3 right. Begin with What is said and follow what surprises you.")
    expect(said.get_by_role("link")).to_have_attribute("href", "said.html")


def test_an_answer_counts_when_one_goes_on_and_may_be_changed_until_then(show):
    page = show(make())
    page.get_by_role("radio", name="This").check()
    expect(page.get_by_role("status")).to_have_text("Choose an answer, also where it is a guess.")
    page.get_by_role("radio", name="That").check()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_have_text("1 right so far.")
    expect(page.get_by_role("group", name="2 of 3. What is two?")).to_be_visible()
    assert page.evaluate("document.activeElement.type") == "radio"


def test_no_reason_of_a_quiz_and_no_key_is_lost_on_the_way():
    page = with_questions("<!-- begin: embeddings/look_up is_it_good/overlap -->", ROOT)
    titles = re.findall(r'<a href="[\w/]+.html">(.+?)</a>', page)
    assert titles == ["Tokens and embeddings", "How do you know that it is good?"]
    assert page.count('"right": true') + page.count('"right":true') == 2
    assert page.count("I do not know") == 2 and '"why"' not in page
    with pytest.raises(ValueError, match="quiz of embeddings has no question 'nothing'"):
        with_questions("<!-- begin: embeddings/nothing -->", ROOT)
