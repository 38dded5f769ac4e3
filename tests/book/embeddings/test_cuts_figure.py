"""The live figure of real tokens, held to the tokenizer that it shows."""

import pytest
from playwright.sync_api import expect

from book.embeddings import cuts_figure
from tests.book.reading import Example, numbers, select

pytestmark = pytest.mark.browser


class Halves:
    """Cuts a text into pairs of characters, and a sun into three bytes."""

    def encode(self, text: str) -> list[str]:
        return [text[i : i + 2] for i in range(0, len(text), 2)] if text != "☀" else ["�"] * 3

    def pieces(self, ids: list[str]) -> list[str]:
        return ids


TEXTS = ["a text", "x\ny", "☀", "of"]


def figure():
    return cuts_figure(Halves(), TEXTS)


def test_every_text_is_cut_as_the_tokenizer_cuts_it(show):
    page = show(figure())
    for number, text in enumerate(TEXTS):
        select(page, "the text").select_option(str(number))
        pieces = Halves().encode(text)
        shown = [p.replace("�", "▯").replace(" ", "␣").replace("\n", "⏎") for p in pieces]
        assert page.get_by_role("list", name="tokens").locator("li").all_inner_texts() == shown
        assert numbers(page.locator("[data-name=count]")).tolist() == [len(pieces)]
        expect(page.get_by_role("status")).to_contain_text(
            f"{len(pieces)} tokens for {len(text)} characters."
        )


def test_parts_of_a_character_are_counted_and_goals_reached(show):
    page = show(figure())
    reached = page.locator(".cl-reached")
    expect(reached).to_have_count(0)
    select(page, "the text").select_option("2")
    expect(page.get_by_role("status")).to_contain_text("3 of them (▯) are only a part")
    expect(reached).to_have_text(
        ["Find a text that takes more tokens than it has characters. (reached)"]
    )
    select(page, "the text").select_option("3")
    expect(reached).to_have_count(2)


@pytest.mark.parametrize("texts", [[], ["some", ""]])
def test_nothing_to_cut_is_refused(texts):
    with pytest.raises(ValueError, match="at least one text, and none that is empty"):
        cuts_figure(Halves(), texts)


EXAMPLE = Example(figure, "[data-name=count]", "td:nth-child(2)")
