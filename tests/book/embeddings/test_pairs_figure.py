"""The live figure of byte pairs: every step against `learn_bpe` and `apply_bpe`."""

from collections import Counter
from itertools import pairwise

import pytest
from playwright.sync_api import expect

from book.embeddings import pairs_figure
from book.embeddings.byte_pairs import apply_bpe, learn_bpe
from tests.book.reading import Example, numbers, press

pytestmark = pytest.mark.browser

WORDS = "newer lower wider newest lowest widest".split()


def shown_pieces(page) -> list[str]:
    """The pieces of all words that are to be seen, in order."""
    return page.locator("[data-piece]:not([data-piece=''])").evaluate_all(
        "nodes => nodes.map((node) => node.dataset.piece)"
    )


def check(page, words: list[str], step: int) -> None:
    """The page shows what companion.data finds after so many merges."""
    merges = learn_bpe(words, step)
    rows = [apply_bpe(word, merges) for word in words]
    assert shown_pieces(page) == [piece for row in rows for piece in row]
    assert numbers(page.locator("[data-name=tokens]")).item() == sum(map(len, rows))
    counts = Counter(pair for row in rows for pair in pairwise(row))
    best = [count for _, count in counts.most_common(5)]
    if best:
        assert numbers(page.locator("[data-name=pairs] [data-value]")).tolist() == best
        left, right = learn_bpe(words, step + 1)[-1]
        first = page.locator("[data-name=pairs] > span").first
        assert first.inner_text() == f"{left} + {right}"
    vocabulary = page.locator("[data-name=vocabulary]").inner_text().split()
    joined = ["".join(pair) for pair in merges]
    assert vocabulary == [*sorted(set("".join(words))), *dict.fromkeys(joined)]


def test_every_step_joins_the_pair_that_the_package_joins(show):
    page = show(pairs_figure(WORDS), reduced_motion="reduce")
    for step in range(11):
        check(page, WORDS, step)
        if step < 10:
            page.get_by_role("button", name="Next").click()
    reached = page.locator(".cl-reached")
    expect(reached).to_have_text(["Go on until a whole word is one token. (reached)"])
    press(page.get_by_role("slider", name="step"), "ArrowLeft")
    check(page, WORDS, 9)


@pytest.mark.parametrize(
    "text",
    ["the then them this that bath", "aaaaaaa aaaa aaa banana bananas a", "so so so so so so"],
)
def test_a_text_of_the_reader_is_joined_as_the_package_joins_it(show, text):
    page = show(pairs_figure(WORDS), reduced_motion="reduce")
    page.get_by_role("textbox", name="your six words").fill(text)
    for step in range(6):
        check(page, text.split(), step)
        page.get_by_role("button", name="Next").click()


def test_a_first_piece_is_a_goal(show):
    page = show(pairs_figure(WORDS))
    goal = page.get_by_role("listitem").nth(1)
    expect(goal).to_contain_text("whose first piece is th")
    expect(goal).not_to_have_class("cl-reached")
    page.get_by_role("textbox", name="your six words").fill("the then them this that bath")
    expect(goal).to_have_class("cl-reached")


def test_what_is_no_text_of_six_words_is_said(show):
    page = show(pairs_figure(WORDS))
    box = page.get_by_role("textbox", name="your six words")
    for text in ("five words are not enough", "a b c d e überlang", "a b c d e incredible"):
        box.fill(text)
        expect(page.get_by_role("alert")).to_have_text(
            "Write 6 words of at most 9 letters from a to z."
        )
        check(page, WORDS, 0)  # what was there still counts


@pytest.mark.parametrize("words", [WORDS[:5], [*WORDS[:5], "Upper"], [*WORDS[:5], "incredible"]])
def test_other_words_are_refused(words):
    with pytest.raises(ValueError, match="give 6 words of 1 to 9 letters"):
        pairs_figure(words)


EXAMPLE = Example(lambda: pairs_figure(WORDS), "[data-name=pairs] [data-value]")
