"""A quiz in Chromium, answered with the keyboard alone."""

from importlib import import_module

import pytest
from playwright.sync_api import Page, expect

from book import self_attention
from book.page import quiz
from book.page.figures.quiz import read_quiz
from tests.book.conftest import ROOT
from tests.book.reading import Example

pytestmark = pytest.mark.browser

QUIZZES = {path.parent.name: path for path in sorted(ROOT.glob("book/*/quiz.toml"))}


def plain(text: str) -> str:
    """A question's text as a reader sees it."""
    return text.replace("`", "")


def number_of(question: dict, *, right: bool) -> int:
    """Which option is the right one, or the first that is not."""
    return next(i for i, o in enumerate(question["options"]) if o.get("right", False) == right)


def focused(page: Page) -> str:
    """What the keyboard acts on: the label of a radio button, the text of another control."""
    return page.evaluate(
        "() => (document.activeElement.labels?.[0] ?? document.activeElement).innerText"
    )


def choose(page: Page, option: int, *, marked: int | None = None) -> None:
    """Move to an option from the radio button that has the focus; no arrow is needed there."""
    if marked is None:
        page.keyboard.press("Space")
        marked = 0
    for _ in range(abs(option - marked)):
        page.keyboard.press("ArrowDown" if option > marked else "ArrowUp")


def test_a_question_is_answered_with_the_keyboard_alone(show):
    first = read_quiz(QUIZZES["self_attention"])[0]
    options = [plain(option["text"]) for option in first["options"]]
    wrong, right = number_of(first, right=False), number_of(first, right=True)
    page = show(quiz(self_attention))
    status = page.get_by_role("status")
    expect(page.get_by_role("group", name=plain(first["text"]))).to_be_visible()
    expect(page.get_by_role("radio")).to_have_count(len(options))

    page.keyboard.press("Tab")
    assert focused(page) == options[0]
    expect(page.get_by_role("radio", checked=True)).to_have_count(0)
    page.keyboard.press("Tab")
    assert focused(page) == "Check"
    page.keyboard.press("Enter")  # nothing is chosen yet: back to the options
    assert focused(page) == options[0]
    expect(status).to_have_text("Choose an answer, then check it.")

    choose(page, wrong)
    assert focused(page) == options[wrong]
    expect(status).to_have_text("Choose an answer, then check it.")  # choosing tells nothing yet
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    why = plain(first["options"][wrong]["why"])
    expect(status).to_have_text(f"✗ Not this one. {why}")
    expect(page.get_by_text("Why not the others")).to_be_hidden()
    expect(page.locator(".cl-score")).to_have_text("0 of 6 right")

    page.keyboard.press("Shift+Tab")
    choose(page, right, marked=wrong)
    expect(status).to_have_text("Choose an answer, then check it.")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(status).to_have_text(f"✓ Right. {plain(first['options'][right]['why'])}")
    expect(page.locator(".cl-score")).to_have_text("1 of 6 right")
    page.keyboard.press("Tab")
    assert focused(page) == "Why not the others"
    page.keyboard.press("Enter")
    expect(page.get_by_text(why)).to_be_visible()


VERDICT = {True: "✓ Right.", False: "✗ Not this one."}
# Each option in turn: its label, and what is said once it has been checked.
TRY_ALL = """(radios, [check, status]) => radios.map((radio) => {
  radio.click();
  check.click();
  return [radio.labels[0].innerText, status.innerText];
})"""


@pytest.mark.parametrize("chapter", QUIZZES)
def test_every_question_can_be_reached_and_has_one_right_answer(show, chapter):
    questions = read_quiz(QUIZZES[chapter])
    page = show(quiz(import_module(f"book.{chapter}")), viewport={"width": 360, "height": 740})
    status, check = page.get_by_role("status"), page.get_by_role("button", name="Check")
    for number, question in enumerate(questions, 1):
        group = page.get_by_role("group", name=plain(question["text"]))
        expect(group).to_contain_text(f"{number} of {len(questions)}.")
        expect(page.get_by_role("radio")).to_have_count(len(question["options"]))
        places = [check.element_handle(), status.element_handle()]
        said = group.get_by_role("radio").evaluate_all(TRY_ALL, places)
        assert said == [
            [plain(option["text"]), f"{VERDICT[option.get('right', False)]} {plain(option['why'])}"]
            for option in question["options"]
        ]
        group.get_by_role("radio").nth(number_of(question, right=True)).check()
        check.press("Enter")
        page.get_by_text("Why not the others").click()
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        if number < len(questions):
            page.get_by_role("button", name="Next").press("Enter")
            first = questions[number]["options"][0]
            assert focused(page) == plain(first["text"])
    expect(page.get_by_role("button", name="Next")).to_be_disabled()
    expect(page.locator(".cl-score")).to_have_text(f"{len(questions)} of {len(questions)} right")


def test_an_answer_is_kept_when_the_page_is_turned_back(show):
    question = read_quiz(QUIZZES["self_attention"])[0]
    page = show(quiz(self_attention))
    expect(page.get_by_role("button", name="Previous")).to_be_disabled()
    page.get_by_role("radio").nth(1).check()
    page.get_by_role("button", name="Check").press("Enter")
    page.get_by_role("button", name="Next").press("Enter")
    expect(page.get_by_role("status")).to_have_text("Choose an answer, then check it.")
    page.get_by_role("button", name="Previous").press("Enter")
    assert focused(page) == plain(question["options"][1]["text"])
    expect(page.get_by_role("status")).to_contain_text(plain(question["options"][1]["why"]))


def test_two_quizzes_on_a_page_do_not_share_their_answers(show):
    figure = quiz(self_attention)

    class Twice:
        name = figure.name
        to_html = staticmethod(lambda: figure.to_html() * 2)

    page = show(Twice())
    one, two = page.locator(".cl").first, page.locator(".cl").last
    one.get_by_role("radio").nth(0).check()
    two.get_by_role("radio").nth(1).check()
    expect(one.get_by_role("radio").nth(0)).to_be_checked()


def test_without_javascript_the_answers_are_one_click_away(show):
    question = read_quiz(QUIZZES["self_attention"])[0]
    page = show(quiz(self_attention), java_script_enabled=False)
    expect(page.get_by_text(plain(question["text"]))).to_be_visible()
    why = page.get_by_text(plain(question["options"][0]["why"]))
    expect(why).to_be_hidden()
    page.get_by_text("Answer", exact=True).first.click()
    expect(why).to_be_visible()


def test_as_a_widget_the_quiz_tells_the_kernel_and_follows_it(browser):
    """The anywidget module, imported as Jupyter does it, with a stand-in for the kernel's model."""
    figure, page = quiz(self_attention), browser.new_page()
    question = figure.data["questions"][0]
    page.route("**/*", lambda route: route.fulfill(content_type="text/html", body="<body></body>"))
    page.goto("http://notebook.test/")
    page.evaluate(
        """async ([esm, traits]) => {
        const file = new Blob([esm], { type: 'text/javascript' });
        const { default: widget } = await import(URL.createObjectURL(file));
        const listeners = new Set();
        const tell = () => listeners.forEach((listener) => listener());
        window.fromKernel = (value) => { traits.value = value; tell(); };
        const model = {
          get: (name) => traits[name],
          set: (name, content) => { traits[name] = content; tell(); },
          save_changes: () => { window.saved = structuredClone(traits.value); },
          on: (event, listener) => listeners.add(listener),
          off: (event, listener) => listeners.delete(listener),
        };
        const close = widget.render({ model, el: document.body });
        window.endFigure = () => { close(); return listeners.size; };
        }""",
        [figure._esm, {"data": figure.data, "value": figure.value}],
    )
    page.get_by_role("radio").nth(2).check()
    page.get_by_role("button", name="Check").click()
    expected = {"question": 0, "chosen": {question["name"]: 2}, "checked": [question["name"]]}
    assert page.evaluate("saved") == expected
    page.evaluate("value => fromKernel(value)", figure.value)
    expect(page.get_by_role("radio", checked=True)).to_have_count(0)
    expect(page.get_by_role("status")).to_have_text("Choose an answer, then check it.")
    assert page.evaluate("endFigure()") == 0
    page.close()


EXAMPLE = Example(lambda: quiz(self_attention), None)  # no number in it
