"""The page of the book on how strong the checks are."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from book._press import strength
from book._press.strength import told, with_answers
from book.checking.verdict import Verdict
from tests.book.answers import RIGHT, WRONG, Answer, chapters, ladders

chapters()  # importing them fills the two lists
ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "book" / "exercises" / "strength.md").read_text("utf8")


def test_every_answer_is_on_the_page_with_what_it_was_told():
    texts = [f"half * of a | b, `x | y`: {number}" for number in range(len(WRONG))]
    page = with_answers(PAGE, lambda: texts)
    known = [text for ladder in ladders().values() for text in ladder.mistakes]
    wrongs = len(WRONG) + len(known)
    assert f"{len(RIGHT)} right answers and {wrongs} wrong ones" in page
    assert page.count("| a mistake that the check knows |") == len(known)
    for number, answer in enumerate(WRONG):
        told = rf"half \* of a \| b, `x \| y`: {number}"
        assert page.count(f"| `{answer.answer.__name__}` | {told} |") == 1
    for answer in RIGHT + WRONG:
        assert f"`{answer.answer.__name__}`" in page
        assert f"### {answer.check.__name__}" in page
    assert "### masked_attention (core)" in page
    assert "### slopes\n" not in page and "### slopes (core)" in page


@pytest.fixture
def book(tmp_path):
    """The files that what the checks say depends on."""
    shutil.copytree(ROOT / "tests" / "checks", tmp_path / "tests" / "checks")
    shutil.copytree(ROOT / "companion", tmp_path / "companion")
    shutil.copy(ROOT / "requirements.txt", tmp_path)
    return tmp_path


def test_the_checks_are_asked_once_until_something_changes(book, monkeypatch):
    asked = []

    def check(answer):
        asked.append(answer)
        return Verdict("mistake", mistake=answer())

    answers = [
        Answer(check, lambda: "one", "one"),
        Answer(check, lambda: "it raised TypeError: no 3 (line 2)", "it raised TypeError"),
    ]
    monkeypatch.setattr(strength, "WRONG", answers)
    # Another process would not know of these two.
    monkeypatch.setattr(strength, "ProcessPoolExecutor", lambda mp_context: ThreadPoolExecutor(1))
    # Of an exception its type: Python words the message by version.
    expected = ["one", "it raised TypeError, with its message and its line"]
    for changed, times in {
        "": 2,
        "companion/page/figures/heads.js": 2,
        "companion/grading/grade.py": 2,
        "companion/checks/decoding.py": 4,
        "companion/nn/attention.py": 6,
        "tests/checks/answers_decoding.py": 8,
    }.items():
        if changed:
            (book / changed).write_text((book / changed).read_text("utf8") + "\n", "utf8")
        assert told(book) == expected
        assert len(asked) == times, changed


def test_another_page_is_left_alone():
    assert with_answers("{checks} of {rights}", told) == "{checks} of {rights}"
