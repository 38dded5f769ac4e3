"""The blanks that a trained network fills, held to PyTorch on random weights."""

import re

import pytest
import torch
from playwright.sync_api import expect

from book.in_any_order import blanks_figure
from book.in_any_order.figures.blanks import _coarse
from companion.data import BOS, CLS, EOS, MASK, SEP, Vocabulary
from companion.models import BERT, BERTConfig
from tests.book.reading import Example, close, numbers, randomised, select

pytestmark = pytest.mark.browser

WORDS = "the king queen dog apple keeps sees his her throne crown near and is a red tired".split()
VOCABULARY = Vocabulary((BOS, EOS, *WORDS))
FIRST = VOCABULARY.id("the")


def network(num_layers: int = 1, **changes) -> BERT:
    torch.manual_seed(3)
    sizes = {"vocab_size": len(VOCABULARY), "d_model": 15, "num_heads": 3, "d_ff": 11}
    options = {"max_len": 12, "norm_first": True, "activation": "gelu", "dropout": 0.0}
    config = BERTConfig(**sizes | options | {"num_layers": num_layers} | changes)
    return _coarse(randomised(BERT(config)))


MODEL = network()


def figure(**start):
    return blanks_figure(MODEL, VOCABULARY, **{"size": 5} | start)


@torch.no_grad()
def chances(there: list[str | None], model: BERT = None) -> torch.Tensor:
    """Of every word at every place, (places, words); `there` has None for a blank."""
    ids = VOCABULARY.encode([(CLS, *(word or MASK for word in there), SEP)])
    logits = (model or MODEL)(ids)[0, 1:-1]
    logits[:, :FIRST] = -torch.inf
    return logits.softmax(-1)


def check(page, there: list[str | None], model: BERT = None) -> None:
    """The page shows three words for every blank, with PyTorch's probabilities."""
    shown = page.locator("[data-name=chance]")
    expected = chances(there, model)
    blanks = [i for i, word in enumerate(there) if word is None]
    best, ids = expected[blanks].topk(3)
    close(numbers(shown), best)
    words = shown.evaluate_all("nodes => nodes.map((node) => node.dataset.word)")
    assert words == [VOCABULARY.words[i] for i in ids.flatten()]
    assert page.locator("[data-name=word]").all_inner_texts() == [w for w in there if w]


def drawn(page) -> list[str]:
    """What stands in every place: a word that is there, or the one that is drawn."""
    return page.locator(".cl-blanks .cl-drawn").all_inner_texts()


def keep(page):
    return page.locator("button[name=keep-some]")


@pytest.mark.parametrize("num_layers", [1, 2])
def test_the_first_guesses_equal_pytorch(show, num_layers):
    model = network(num_layers)
    page = show(blanks_figure(model, VOCABULARY, size=4))
    check(page, [None] * 4, model)
    select(page, "words").select_option("9")
    check(page, [None] * 9, model)


def test_a_word_is_written_and_every_guess_is_made_again(show):
    page = show(figure())
    there = [None] * 5
    for place in (2, 4, 0):
        button = page.locator(".cl-blanks > li").nth(place).get_by_role("button").nth(1)
        word = button.locator("[data-name=chance]").get_attribute("data-word")
        button.click()
        there[place] = word
        check(page, there)
    page.locator("button[name=back]").click()
    there[0] = None
    check(page, there)
    page.locator("button[name=again]").click()
    check(page, [None] * 5)


@pytest.mark.parametrize("order", ["at random", "the leftmost", "the surest"])
def test_what_is_framed_is_kept_as_it_was_drawn(show, order):
    page = show(figure())
    select(page, "words kept of each guess").select_option("2")
    select(page, "which").select_option(label=order)
    there = [None] * 5
    for count in (2, 2, 1):
        before = drawn(page)
        marks = page.locator(".cl-blanks > li").evaluate_all("ns => ns.map((n) => n.className)")
        places = [i for i, mark in enumerate(marks) if mark == "cl-next"]
        assert len(places) == count
        blanks = [i for i, word in enumerate(there) if word is None]
        if order == "the leftmost":
            assert places == blanks[:count]
        if order == "the surest":
            most = chances(there).amax(-1)
            assert set(places) == {*sorted(blanks, key=lambda i: -most[i])[:count]}
        keep(page).click()
        for place in places:
            there[place] = before[place]
        check(page, there) if None in there else None
    assert drawn(page) == there
    expect(page.get_by_role("status")).to_have_text(f"“{' '.join(there)}”, in 3 steps.")
    expect(keep(page)).to_be_disabled()


def test_all_are_kept_at_once_and_other_words_are_drawn(show):
    page = show(figure())
    select(page, "words kept of each guess").select_option("all")
    expect(keep(page)).to_have_text("Keep all 5")
    salads = set()
    for _ in range(8):
        salads.add(" ".join(drawn(page)))
        page.locator("button[name=redraw]").click()
    assert len(salads) > 4
    whole = drawn(page)
    keep(page).click()
    assert drawn(page) == whole
    expect(page.get_by_role("status")).to_contain_text("in 1 step.")


def test_the_draws_follow_the_chances(show):
    page = show(figure(size=3, seed=1))
    count, seen = 150, torch.zeros(len(VOCABULARY))
    for _ in range(count):
        seen[VOCABULARY.id(drawn(page)[0])] += 1
        page.locator("button[name=redraw]").click()
    distance = (seen / count - chances([None] * 3)[0]).abs().sum() / 2
    assert distance < 0.25


def test_to_the_end_writes_every_blank(show):
    page = show(figure())
    page.locator("button[name=write]").click()
    said = page.get_by_role("status").inner_text()
    assert re.fullmatch(r"“(\w+ ?){5}”, in 5 steps\.", said)


def moving() -> tuple[int, str]:
    """A place and a word offered there that changes the best word of another blank."""
    before = chances([None] * 5)
    for place in range(5):
        for word in before[place].topk(3).indices.tolist():
            there = [None] * 5
            there[place] = VOCABULARY.words[word]
            others = [i for i in range(5) if i != place]
            if (chances(there).argmax(-1) != before.argmax(-1))[others].any():
                return place, there[place]
    raise AssertionError("no word changes anything")


def test_the_goals_are_reached_and_not_before(show):
    page = show(figure())
    items = page.get_by_role("list", name="goals").locator("li")
    expect(page.locator(".cl-reached")).to_have_count(0)
    place, word = moving()
    page.get_by_role("button", name=f"write {word} at place {place + 1}").click()
    expect(items.nth(0)).to_have_class("cl-reached")
    page.locator("button[name=again]").click()
    page.locator(".cl-blanks > li").nth(4).get_by_role("button").first.click()
    expect(items.nth(2)).not_to_have_class("cl-reached")
    page.locator("button[name=write]").click()
    expect(items.nth(2)).to_have_class("cl-reached")


def test_models_that_the_figure_does_not_compute_are_refused():
    with pytest.raises(ValueError, match="norm_first=True, got False"):
        blanks_figure(network(norm_first=False), VOCABULARY)
    with pytest.raises(ValueError, match="12 positions, got 11"):
        blanks_figure(network(max_len=11), VOCABULARY)


EXAMPLE = Example(
    figure, ".cl-blanks > li button:first-of-type [data-name=chance]", "td:nth-of-type(1)"
)
