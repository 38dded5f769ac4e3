"""The page of the book on what the checks know."""

from book._press.strength import _escaped, with_mistakes
from tests.book.answers import chapters, ladders
from tests.book.conftest import ROOT

chapters()  # importing them fills the lists
PAGE = (ROOT / "book" / "checking" / "strength.md").read_text("utf8")


def test_every_check_is_on_the_page_with_the_mistakes_that_it_knows():
    page = with_mistakes(PAGE, ROOT)
    mistakes = [text for ladder in ladders().values() for text in ladder.mistakes]
    assert f"{len(ladders())} checks" in page and f"{len(mistakes)} mistakes" in page
    for check, ladder in ladders().items():
        assert f"### {check.__name__}\n" in page
        for rung in ladder.rungs:
            assert f"1. {_escaped(rung.idea)}" in page
    for mistake in mistakes:
        assert f"- *{_escaped(mistake)}*" in page


def test_chapters_stand_in_the_order_of_the_book():
    page = with_mistakes(PAGE, ROOT)
    assert page.index("## Self attention") < page.index("## Full model") < page.index("## Scaling")


def test_markdown_means_nothing_in_what_is_told():
    assert _escaped("half * of a | b, `x | y`") == r"half \* of a \| b, `x | y`"


def test_another_page_is_left_alone():
    assert with_mistakes("{checks} of {mistakes}", ROOT) == "{checks} of {mistakes}"
