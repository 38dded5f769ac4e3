"""The page of the book on how strong the checks are."""

from pathlib import Path

from book._press import strength
from book._press.strength import with_answers
from companion.checks import Verdict
from tests.checks.answers import RIGHT, WRONG, chapters

chapters()  # importing them fills the two lists
PAGE = (Path(__file__).parents[2] / "book" / "exercises" / "strength.md").read_text("utf8")


def verdict_on(answer) -> Verdict:
    """Instead of the real check, which takes seconds and has its own tests."""
    return Verdict("mistake", mistake="half * of a | b, `x | y`")


def test_every_answer_is_on_the_page_with_what_it_was_told():
    page = with_answers(PAGE, verdict_on)
    assert f"{len(RIGHT)} right answers and {len(WRONG)} wrong ones" in page
    assert page.count(r"| half \* of a \| b, `x \| y` |") == len(WRONG)
    for answer in RIGHT + WRONG:
        assert f"`{answer.answer.__name__}`" in page
        assert f"### {answer.check.__name__}" in page
    assert "### masked_attention (core)" in page
    assert "### slopes\n" not in page and "### slopes (core)" in page


def test_an_exception_is_told_without_its_message_which_python_words_by_version():
    raised = Verdict("mistake", mistake="it raised TypeError: no 3 (line 2)")
    page = with_answers(PAGE, lambda answer: raised)
    assert "it raised TypeError, with its message and its line" in page
    assert "no 3" not in page


def test_the_real_checks_are_asked(monkeypatch):
    """On one exercise, for the time that all of them take; each answer has its own tests."""
    wrong = next(answer for answer in WRONG if answer.answer.__name__ == "states_instead")
    for name, answers in {"RIGHT": RIGHT, "WRONG": WRONG}.items():
        of_one = [answer for answer in answers if answer.check is wrong.check]
        monkeypatch.setattr(strength, name, of_one)
    page = with_answers(PAGE)
    assert wrong.mistake in wrong.check(wrong.answer).mistake and wrong.mistake in page
    assert page == with_answers(PAGE, lambda answer: answer.check(answer.answer))


def test_another_page_is_left_alone():
    assert with_answers("{checks} of {rights}") == "{checks} of {rights}"
