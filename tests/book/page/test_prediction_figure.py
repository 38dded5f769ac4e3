"""A guess, then the truth: by slider, by choice, by a drawn line."""

import re
from itertools import pairwise

import pytest
import torch
from playwright.sync_api import Page, expect

from book.page import prediction_figure
from tests.book.reading import Example, close, numbers, press

pytestmark = pytest.mark.browser

CHOICES = ["one head", "two heads", "no head at all"]
LENGTHS = [1, 2, 4, 8]


def slider_figure():
    return prediction_figure("How much?", torch.tensor(0.8), between=(0, 1), because="It learned.")


def line_figure():
    return prediction_figure(
        "How high?", [0.0, 0.25, 0.5, 1.0], x=LENGTHS, between=(0, 1), along="words later"
    )


def show_answer(page: Page) -> None:
    page.get_by_role("button", name="Show the answer").click()


NO_GUESS = "You saw it without a guess."


def test_a_number_is_guessed_then_shown(show):
    page = show(slider_figure(), reduced_motion="reduce")
    measured = page.locator(".cl-stage text[data-value]")
    expect(measured).not_to_be_visible()
    expect(page.get_by_text("your guess not made yet")).to_be_visible()
    expect(page.locator(".cl-ring")).not_to_be_visible()
    slider = page.get_by_role("slider")
    press(slider, "ArrowRight", times=3)
    expect(page.get_by_text("your guess 0.03")).to_be_visible()
    expect(page.locator(".cl-ring")).to_be_visible()
    assert "0.8" not in page.get_by_role("status").inner_text()
    show_answer(page)
    expect(page.get_by_role("status")).to_have_text("You guessed 0.03; it is 0.80. It learned.")
    expect(measured).to_be_visible()
    close(numbers(measured), torch.tensor([0.8]), 1e-7)
    expect(slider).to_be_disabled()
    page.get_by_role("button", name="Guess again").click()
    expect(measured).not_to_be_visible()
    expect(slider).to_be_enabled()


def test_an_answer_says_how_it_was_found(show):
    for computed, word in ((False, "measured"), (True, "computed")):
        page = show(prediction_figure("How many?", 3, between=(0, 10), computed=computed))
        show_answer(page)
        expect(page.locator(".cl-stage text[data-value]")).to_have_text(f"{word} 3")
        line = prediction_figure("?", [1, 2], x=[1, 2], between=(0, 9), computed=computed)
        legend = show(line).locator(".cl-legend span").last
        expect(legend).to_have_text(word)


def test_the_points_of_a_line_are_as_far_apart_as_their_numbers(show):
    page = show(line_figure())
    boxes = [handle.bounding_box() for handle in page.get_by_role("slider").all()]
    middles = torch.tensor([box["x"] + box["width"] / 2 for box in boxes])
    expected = (torch.tensor(LENGTHS) - 1) / 7
    close(((middles - middles[0]) / (middles[-1] - middles[0])).double(), expected, 0.01)
    expect(page.get_by_text("words later")).to_be_visible()


def test_no_two_names_below_a_line_meet_on_a_phone(show):
    names = [0, 5000, 10_000, 20_000, 40_000, 80_000]
    figure = prediction_figure("?", [0.5] * 6, x=names, between=(0, 1), along="steps")
    page = show(figure, viewport={"width": 360, "height": 700})
    shown = page.locator(".cl-stage text").filter(has_text=re.compile(r"^\d+0$"))
    boxes = [text.bounding_box() for text in shown.all()]
    assert 2 <= len(boxes) < 6 and shown.last.text_content() == "80000"
    for box, after in pairwise(boxes):
        assert box["x"] + box["width"] < after["x"]


def test_the_ends_of_a_scale_are_written_as_a_person_would(show):
    ends = ".cl-stage .cl-quiet"
    page = show(prediction_figure("How many?", 12.5, between=(0.0, 25.0), unit="%"))
    assert page.locator(ends).all_text_contents() == ["0\u00a0%", "25\u00a0%"]
    page = show(prediction_figure("How far?", -0.25, between=(-0.5, 0)))
    assert page.locator(ends).all_text_contents() == ["\u22120.5", "0"]
    page = show(line_figure())
    assert page.locator(ends).all_text_contents()[:3] == ["0", "0.5", "1"]


def test_a_choice_is_made_then_judged(show):
    page = show(prediction_figure("Who?", "two heads", choices=CHOICES, because="They share."))
    page.get_by_label("no head at all").check()
    show_answer(page)
    expect(page.get_by_text(NO_GUESS)).to_have_count(0)
    status = page.get_by_role("status")
    expect(status).to_have_text("✗ You chose “no head at all”; it is “two heads”. They share.")
    expect(page.locator(".cl-true")).to_have_text("two heads")
    page.get_by_role("button", name="Guess again").click()
    expect(page.locator(".cl-true")).to_have_count(0)
    page.get_by_label("two heads").check()
    show_answer(page)
    expect(status).to_have_text("✓ Right: two heads. They share.")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (slider_figure, "It is 0.80. It learned."),
        (line_figure, ""),
        (lambda: prediction_figure("Who?", "a", choices=["a", "b"]), "It is “a”."),
    ],
)
def test_an_answer_seen_without_a_guess_says_so_and_asks_for_one(show, make, said):
    page = show(make(), reduced_motion="reduce")
    status = page.get_by_role("status")
    show_answer(page)
    expect(page.get_by_text(NO_GUESS)).to_be_visible()
    expect(status).to_have_text(said)
    page.get_by_role("button", name="Make a guess").click()
    expect(page.get_by_text(NO_GUESS)).to_have_count(0)
    expect(status).to_have_text("Make your guess, then see the answer.")
    page.evaluate("document.dispatchEvent(new CustomEvent('companion-answers', { detail: true }))")
    expect(status).to_have_text(said)


def test_a_choice_that_ends_a_sentence_or_has_quotes_gets_no_more_of_them(show):
    both = "“LSTM” and “Transformer”"
    page = show(prediction_figure("Who?", both, choices=["“LSTM”", both]))
    page.get_by_label("“LSTM”", exact=True).check()
    show_answer(page)
    status = page.get_by_role("status")
    expect(status).to_have_text("✗ You chose “LSTM”; it is “LSTM” and “Transformer”.")
    page = show(prediction_figure("What?", "We open at nine.", choices=["We open at nine.", "No."]))
    page.get_by_label("We open at nine.").check()
    show_answer(page)
    expect(page.get_by_role("status")).to_have_text("✓ Right: We open at nine.")


def test_lines_of_code_stand_alone_and_break_on_a_phone(show):
    line = "return F.cross_entropy(logits.softmax(dim=-1).flatten(0,1),targets.flatten())"
    figure = prediction_figure("?", "a", choices=["a", "b"], because=f"The line\n{line}\nis gone.")
    page = show(figure, viewport={"width": 360, "height": 700})
    page.get_by_label("b").check()
    show_answer(page)
    assert f"The line\n{line}\nis gone." in page.get_by_role("status").inner_text()
    assert page.locator(".cl").evaluate("box => box.scrollWidth - box.clientWidth") <= 0


def test_a_line_is_drawn_with_keys_and_pointer_then_compared(show):
    page = show(line_figure(), reduced_motion="reduce")
    handles = page.get_by_role("slider")
    expect(handles).to_have_count(4)
    last = page.get_by_role("slider", name="guess at 8")
    press(last, "ArrowUp", times=5)
    expect(last).to_have_attribute("aria-valuenow", "0.6")
    press(last, "Shift+ArrowDown", times=1)
    expect(last).to_have_attribute("aria-valuenow", "0.5")
    measured = page.locator("path.cl-measured")
    expect(measured).not_to_be_visible()

    first, box = handles.first.bounding_box(), handles.last.bounding_box()
    page.mouse.move(first["x"] + first["width"] / 2, first["y"] + first["height"] / 2)
    page.mouse.down()
    end = box["x"] + box["width"] / 2
    page.mouse.move(end, box["y"] - 400, steps=20)  # passes every point, up to the top
    page.mouse.up()
    expect(last).to_have_attribute("aria-valuenow", "1")
    guess = handles.evaluate_all("nodes => nodes.map((node) => +node.ariaValueNow)")
    assert guess == sorted(guess) and guess[1] > 0.5
    off = sum(abs(a - b) for a, b in zip(guess, [0.0, 0.25, 0.5, 1.0], strict=True)) / 4
    show_answer(page)
    expect(measured).to_be_visible()
    found = re.search(r"Your line is ([.\d]+) off", page.get_by_role("status").inner_text())
    assert float(found[1]) == pytest.approx(off, abs=0.0051)
    press(last, "ArrowDown")  # the guess is made
    expect(last).to_have_attribute("aria-valuenow", "1")


@pytest.mark.parametrize("make", [slider_figure, line_figure])
def test_without_javascript_the_answer_is_in_a_fold(show, make):
    page = show(make(), java_script_enabled=False)
    expect(page.locator("td").first).not_to_be_visible()
    page.locator("summary").click()
    expect(page.locator("td").first).to_be_visible()


EXAMPLE = Example(slider_figure, None)
