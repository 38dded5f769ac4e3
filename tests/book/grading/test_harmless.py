"""What the instructor's browser gets to see of a submission cannot do anything there."""

import pytest
from nbconvert.filters import markdown2html

from book._grading import harmless

LINKS = [
    "[a](javascript:alert(1))",
    "[a](JavaScript:alert(1))",
    "[a](java&#115;cript:alert(1))",
    "[a][b]\n\n[b]: javascript:alert(1)",
    "[a](vbscript:alert)",
    "[a](data:text/html;base64,PHNjcmlwdD4=)",
    "<b>[a](javascript:alert(1))</b>",
    "![a](javascript:alert(1))",
]


@pytest.mark.parametrize("text", LINKS)
def test_a_link_that_may_be_a_script_is_shown_as_it_was_typed(text):
    page = markdown2html(harmless.markdown(text))
    assert "href=" not in page and "src=" not in page
    assert "As it was typed" in page and "[a]" in page


@pytest.mark.parametrize(
    "text",
    [r"$\href{javascript:alert(1)}{x}$", "~~~ mermaid\ngraph TD\n~~~", "![a](attachment:no)"],
)
def test_what_a_page_would_run_or_not_find_is_shown_as_it_was_typed(text):
    assert harmless.markdown(text).startswith("As it was typed:\n\n    ")


@pytest.mark.parametrize("text", ["<\0script>alert(1)", "<\0img src=x onerror=alert(1)>"])
def test_nothing_hides_in_front_of_a_tag(text):
    page = markdown2html(harmless.markdown(text))
    assert "<script" not in page and "<img" not in page


@pytest.mark.parametrize(
    "text",
    [
        "[a](https://example.org/x?y=z:1)",
        "[a](other.ipynb#b)",
        "[a](#b)",
        "$a < b: c$",
        "*a*: `b`",
        "",
    ],
)
def test_other_markdown_stays_as_it_is(text):
    assert harmless.markdown(text) == text
