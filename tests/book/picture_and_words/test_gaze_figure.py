"""What a word reads: weights, answers and goals against the reader itself."""

import pytest
import torch
from playwright.sync_api import expect

from book.picture_and_words import gaze_figure
from book.picture_and_words.reader import VOCABULARY, Reader
from tests.book.reading import Example, close, numbers, select

pytestmark = pytest.mark.browser

TEXTS = ("place 3 . ?", "left 4 2 ?")
ASKED = torch.tensor([[VOCABULARY.index(word) for word in text.split()] for text in TEXTS])


def made():
    torch.manual_seed(5)
    return Reader(0.4, 0.6).eval(), {"digits": torch.rand(5, 64), "blank": torch.zeros(5, 64)}


def figure():
    return gaze_figure(*made(), ASKED)


def test_weights_and_answers_are_the_readers(show):
    reader, pictures = made()
    page = show(figure(), reduced_motion="reduce")
    weights = page.locator("[data-name=weight]")
    answers = page.locator("[data-name=answers] span[data-value]")
    for name, picture in pictures.items():
        select(page, "it is shown").select_option(label=name)
        for text, ids in zip(TEXTS, ASKED, strict=True):
            select(page, "it is asked").select_option(label=text)
            with torch.no_grad():
                logits, given = reader(picture[None], ids[None], need_weights=True)
            close(numbers(answers), logits[0].softmax(0).topk(3).values, 1e-3)
            for layer in (0, 1):
                select(page, "layer").select_option(str(layer))
                for i, word in ((1, text.split()[1]), (3, "?")):
                    page.get_by_role("button", name=f"word {word}").first.click()
                    select(page, "head").select_option("2")
                    close(numbers(weights), given[layer][0, 2, 5 + i], 1e-3)
                    select(page, "head").select_option("-1")
                    close(numbers(weights), given[layer][0, :, 5 + i].mean(0), 2e-3)


def test_the_goals_are_reached_and_not_before(show):
    made = figure()
    weights = [[[[[0.1] * 9] * 4] * 4] * 2] * 2
    weights[0] = [[[[0.1] * 9] * 4] * 4, [[[0.001] * 9] * 4] * 4]
    looks = [[0.1] * 9, [0.0, 0.0, 0.9, 0.0, 0.0, 0.1, 0.0, 0.0, 0.0], [0.1] * 9, [0.1] * 9]
    weights[0][0] = [[[0.1] * 9] * 4] * 3 + [looks]
    pictures = [picture | {"weights": weights} for picture in made.data["pictures"]]
    made.data = made.data | {"pictures": pictures}
    page = show(made, reduced_motion="reduce")
    reached = page.locator(".cl-reached")
    expect(reached).to_have_count(0)
    page.get_by_role("button", name="word 3").press("Enter")
    expect(reached).to_have_count(0)
    select(page, "head").select_option("3")
    expect(reached).to_have_count(1)
    select(page, "layer").select_option("1")
    expect(reached).to_have_count(1)
    select(page, "head").select_option("-1")
    expect(reached).to_have_count(2)
    select(page, "it is asked").select_option(label=TEXTS[1])
    select(page, "it is shown").select_option(label="blank")
    expect(reached).to_have_count(2)
    select(page, "it is asked").select_option(label=TEXTS[0])
    expect(reached).to_have_count(3)


def test_what_cannot_be_shown_is_refused():
    reader, pictures = made()
    with pytest.raises(ValueError, match="no question 2 of 2"):
        gaze_figure(reader, pictures, ASKED, question=2)
    with pytest.raises(ValueError, match="must be five patches"):
        gaze_figure(reader, {"short": torch.zeros(4, 64)}, ASKED)


EXAMPLE = Example(figure, "[data-name=answers] span[data-value]")
