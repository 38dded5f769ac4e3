"""Three objectives on one sentence: every term of every question is the models' own."""

import pytest
import torch
import torch.nn.functional as F
from playwright.sync_api import Page, expect

from book.three_families import objectives_figure
from companion.data import BOS, CLS, EOS, MASK, SEP, Vocabulary
from companion.models import BERT, GPT, BERTConfig, GPTConfig, Transformer, TransformerConfig
from tests.book.reading import Example, close, numbers, press, randomised, select

pytestmark = pytest.mark.browser

WORDS = "the king keeps his throne".split()
VOCABULARY = Vocabulary((BOS, EOS, *WORDS, "queen"))
SIZES = {"vocab_size": len(VOCABULARY), "d_model": 8, "num_layers": 1, "num_heads": 2, "d_ff": 12}
SIZES |= {"max_len": 12, "dropout": 0.0}
ENDS = {"bos_id": VOCABULARY.id(BOS), "eos_id": VOCABULARY.id(EOS)}
BERT_, GPT_, BOTH = (
    randomised(BERT(BERTConfig(**SIZES))),
    randomised(GPT(GPTConfig(**SIZES))),
    randomised(Transformer(TransformerConfig(**SIZES, **ENDS))),
)


def ids(*words: str) -> torch.Tensor:
    return VOCABULARY.encode([words])


@torch.no_grad()
def loss(logits: torch.Tensor, answers: list[str]) -> torch.Tensor:
    return F.cross_entropy(logits[0], ids(*answers)[0], reduction="none")


def figure():
    return objectives_figure(WORDS, BERT_, GPT_, BOTH, VOCABULARY)


EXAMPLE = Example(figure, "[data-name=term][data-value]")


def at(page: Page, family: str, step: int = 2) -> None:
    page.get_by_role("radio", name=family).check()
    line = page.get_by_role("slider", name="step")
    press(line, "Home")
    press(line, "ArrowRight", times=step)


def hide(page: Page, hidden: set[int]) -> None:
    for i, word in enumerate(WORDS):
        button = page.get_by_role("group", name="hidden words").get_by_role(
            "button", name=word, exact=True
        )
        if (button.get_attribute("aria-pressed") == "true") != (i in hidden):
            button.click()


@pytest.mark.parametrize("hidden", [{0}, {3}, {1, 3}, {0, 2, 4}, set(range(5))])
def test_the_encoder_is_asked_for_what_is_hidden(show, hidden):
    page = show(figure(), reduced_motion="reduce")
    at(page, "encoder-only")
    hide(page, hidden)
    read = [MASK if i in hidden else word for i, word in enumerate(WORDS)]
    terms = loss(BERT_(ids(CLS, *read, SEP))[:, 1:-1], WORDS)[sorted(hidden)]
    close(numbers(page.locator(EXAMPLE.numbers)), terms)
    expect(page.get_by_role("status")).to_contain_text(f"{len(hidden)} question")
    expect(page.get_by_role("status")).to_contain_text(f"{terms.sum():.2f} nats")


def test_each_family_has_its_own_controls(show):
    page = show(figure(), reduced_motion="reduce")
    hidden = page.get_by_role("group", name="hidden words")
    gap = page.get_by_role("slider", name="words in the gap")
    for family, hides, gaps in (
        ("encoder-only", True, False),
        ("decoder-only", False, False),
        ("encoder-decoder", False, True),
    ):
        at(page, family)
        assert (hidden.is_visible(), gap.is_visible()) == (hides, gaps)


def test_nothing_hidden_is_no_question(show):
    page = show(figure(), reduced_motion="reduce")
    at(page, "encoder-only")
    hide(page, set())
    assert page.locator(EXAMPLE.numbers).count() == 0
    expect(page.get_by_role("status")).to_contain_text("0 questions, 0.00 nats")


def test_the_decoder_is_asked_for_every_next_word(show):
    page = show(figure(), reduced_motion="reduce")
    at(page, "decoder-only")
    terms = loss(GPT_(ids(BOS, *WORDS)), [*WORDS, EOS])
    close(numbers(page.locator(EXAMPLE.numbers)), terms)
    expect(page.get_by_role("status")).to_contain_text(f"6 questions, {terms.sum():.2f} nats")


@pytest.mark.parametrize(("start", "size"), [(0, 1), (1, 2), (2, 3), (3, 3), (4, 2)])
def test_the_encoder_decoder_is_asked_for_the_gap_and_its_end(show, start, size):
    page = show(figure(), reduced_motion="reduce")
    at(page, "encoder-decoder")
    for name, number in (("the gap begins with", start), ("words in the gap", size - 1)):
        control = page.get_by_role("slider", name=name)
        press(control, "Home")
        press(control, "ArrowRight", times=number)
    end = min(start + size, 5)
    source = ids(CLS, *WORDS[:start], MASK, *WORDS[end:], SEP)
    gap = WORDS[start:end]
    terms = loss(BOTH(source, ids(BOS, *gap)), [*gap, EOS])
    close(numbers(page.locator(EXAMPLE.numbers)), terms)


def test_it_opens_on_the_mask_of_a_gap(show):
    page = show(figure(), viewport={"width": 900, "height": 900})
    expect(page.get_by_role("radio", name="encoder-decoder")).to_be_checked()
    expect(page.get_by_text("2 of 3: what is seen")).to_be_visible()
    expect(page.locator("[data-name=mask]")).to_be_visible()
    expect(page.get_by_role("status")).to_have_text(
        "The position of his may look at 8 of 9 positions."
    )


def test_it_fits_a_screen(show):
    page = show(figure(), viewport={"width": 740, "height": 800})
    for family in ("encoder-only", "decoder-only", "encoder-decoder"):
        for step in range(3):
            at(page, family, step)
            assert page.locator(".cl").bounding_box()["height"] <= 640


@pytest.mark.parametrize("hidden", [{2}, {0, 1, 2, 3}])
def test_the_first_step_counts_the_questions_of_all_families(show, hidden):
    page = show(figure(), reduced_motion="reduce", viewport={"width": 900, "height": 900})
    at(page, "encoder-only", step=0)
    hide(page, hidden)
    counts = numbers(page.locator("[data-name=count]"))
    assert counts.tolist() == [len(hidden), len(WORDS) + 1, 3]  # words and the end; gap and end


@pytest.mark.parametrize(
    ("family", "rows", "expected"),
    [
        ("encoder-only", 7, lambda i, j: True),
        ("decoder-only", 6, lambda i, j: j <= i),
        ("encoder-decoder", 9, lambda i, j: j < 6 if i < 6 else j <= i),
    ],
)
def test_the_second_step_shows_the_mask(show, family, rows, expected):
    page = show(figure(), reduced_motion="reduce", viewport={"width": 900, "height": 900})
    at(page, family, step=1)
    opacity = page.locator("[data-name=mask] .cl-tip").evaluate_all(
        "cells => cells.map((cell) => Number(cell.style.opacity))"
    )
    square = torch.tensor(opacity).view(9, 9)
    assert (square[rows:] == 0).all() and (square[:, rows:] == 0).all()
    assert (square == 1).tolist() == [
        [i < rows and j < rows and expected(i, j) for j in range(9)] for i in range(9)
    ]


def seen(page: Page) -> list[bool]:
    """Which lines can be seen, from the top."""
    return page.locator("svg g.cl-attention:not([data-name])").evaluate_all(
        "nodes => nodes.map((node) => node.style.visibility !== 'hidden')"
    )


@pytest.mark.parametrize(
    ("family", "rows", "expected"),
    [
        ("encoder-only", 7, lambda i, j: True),
        ("decoder-only", 6, lambda i, j: j <= i),
        ("encoder-decoder", 9, lambda i, j: j < 6 if i < 6 else j <= i),  # a gap of two words
    ],
)
def test_lines_lead_to_what_the_mask_allows(show, family, rows, expected):
    page = show(figure(), reduced_motion="reduce")
    at(page, family, step=0)
    assert not any(seen(page))
    expect(select(page, "the position that is marked")).not_to_be_visible()
    at(page, family, step=1)
    place = select(page, "the position that is marked")
    assert place.locator("option").count() == rows
    for i in range(rows):
        place.select_option(str(i))
        assert seen(page) == [j < rows and expected(i, j) for j in range(9)]


def test_the_marked_place_says_its_answer_and_the_models_first(show):
    page = show(figure(), reduced_motion="reduce")
    at(page, "decoder-only")
    select(page, "the position that is marked").select_option("3")
    p = GPT_(ids(BOS, *WORDS))[0, 3].softmax(-1)
    first = VOCABULARY.words[p.argmax()]
    expect(page.get_by_role("status")).to_contain_text(
        f"The answer here is “his”; the model puts “{first}” first ({p.max():.2f})."
    )
    at(page, "encoder-only")
    select(page, "the position that is marked").select_option("0")
    expect(page.get_by_role("status")).to_contain_text("Nothing is asked")


def test_goals_wait_for_what_they_ask(show):
    page = show(figure(), reduced_motion="reduce")
    goals = page.get_by_role("list", name="goals").get_by_role("listitem")

    def reached() -> list[bool]:
        return ["(reached)" in goals.nth(i).inner_text() for i in range(2)]

    decoder = loss(GPT_(ids(BOS, *WORDS)), [*WORDS, EOS])
    alone = [
        loss(BERT_(ids(CLS, *WORDS[:i], MASK, *WORDS[i + 1 :], SEP))[:, 1:-1], WORDS)[i]
        for i in range(5)
    ]
    easier = [i for i in range(5) if alone[i] < decoder[i]]
    harder = [i for i in range(5) if i not in easier]
    assert easier and harder
    at(page, "encoder-only", step=1)
    hide(page, {easier[0]})
    assert reached() == [False, False]  # not asked yet
    hide(page, {easier[0], harder[0]})
    press(page.get_by_role("slider", name="step"), "ArrowRight")
    assert reached() == [False, False]  # two words, not one
    hide(page, set())
    for i in harder:
        hide(page, {i})
    assert reached() == [False, False]
    hide(page, {easier[0]})
    assert reached() == [True, False]
    at(page, "decoder-only")
    at(page, "encoder-decoder")
    assert reached() == [True, False]  # two words and the end
    press(page.get_by_role("slider", name="the gap begins with"), "End")
    press(page.get_by_role("slider", name="words in the gap"), "End")
    assert reached() == [True, False]  # the gap ends with the sentence
    press(page.get_by_role("slider", name="the gap begins with"), "Home")
    assert reached() == [True, True]


def test_a_sentence_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="four to seven words, got 2"):
        objectives_figure(["the", "king"], BERT_, GPT_, BOTH, VOCABULARY)
