"""The three verdicts, as text, as HTML, and as a grader takes them."""

import re

import pytest

from book.checking.verdict import Verdict

NEW = Verdict("not attempted")
GOOD = Verdict("passed", tried="two heads & one")
BAD = Verdict("mistake", "the mask is inverted", "mask = [True]\nexpected <0>, got <1>")


def test_text():
    assert repr(NEW) == "Not attempted yet"
    assert repr(GOOD) == "Passed: tried on two heads & one"
    assert repr(BAD) == (
        "Not yet right: the mask is inverted\nmask = [True]\nexpected <0>, got <1>"
    )


@pytest.mark.parametrize("verdict", [NEW, GOOD, BAD], ids=lambda verdict: verdict.status)
def test_html_says_what_the_text_says(verdict):
    page = verdict._repr_html_()
    text = re.sub(r"<[^>]*>", "", page.replace("<pre", "\n<pre"))
    text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    assert text == repr(verdict)


def test_html_escapes_what_came_from_the_answer():
    page = Verdict("mistake", "it raised <script>", "<img src=x>")._repr_html_()
    assert "<script" not in page and "<img" not in page


def test_html_leaves_text_and_background_to_the_page():
    colours = re.findall(r"[^-](?:color|background):([^;\"]*)", BAD._repr_html_())
    assert set(colours) == {"inherit", "transparent"}


def test_require_lets_only_passed_answers_through():
    GOOD.require()
    with pytest.raises(AssertionError, match="the mask is inverted"):
        BAD.require()
    with pytest.raises(AssertionError, match="Not attempted yet"):
        NEW.require()


def test_there_are_three_statuses():
    with pytest.raises(ValueError, match="got 'failed'"):
        Verdict("failed")


def test_a_verdict_cannot_be_changed():
    with pytest.raises(AttributeError):
        BAD.status = "passed"
