"""One word through self-attention: every number of every step is PyTorch's."""

from collections.abc import Iterator

import pytest
import torch
from playwright.sync_api import Page, expect

from book.self_attention import word_figure
from companion.nn import scaled_dot_product_attention
from tests.book.reading import Example, close, numbers, press

pytestmark = pytest.mark.browser

WORDS = ["animal", "street", "it"]
STEPS = ["words", "query", "keys", "compare", "scale", "softmax", "values", "sum"]
RANDOM = torch.Generator().manual_seed(5)
X, W_Q, W_K, W_V = (
    torch.randn(shape, generator=RANDOM, dtype=torch.float64)
    for shape in [(3, 5), (5, 4), (5, 4), (5, 2)]
)


def figure():
    return word_figure(WORDS, X, W_Q, W_K, W_V)


def walk(page: Page) -> Iterator[str]:
    """From step to step with the button."""
    press(page.get_by_role("slider", name="step"), "Home")
    for number, step in enumerate(STEPS):
        if number:
            page.get_by_role("button", name="Next").click()
        expect(page.get_by_text(f"{number + 1} of 8: {step}")).to_be_visible()
        yield step


def check(page: Page, word: int, step: str) -> None:
    """What stands in the picture at this step, for this word."""
    query, key, value = X[word : word + 1] @ W_Q, X @ W_K, X @ W_V
    output, weights = scaled_dot_product_attention(query, key, value)
    scores = query @ key.T
    compared = {"scale": scores / 2, **dict.fromkeys(STEPS[5:], (scores / 2).exp())}
    expected = {
        "x": X,
        "q": query.repeat(3, 1),  # one beside every key
        "k": key,
        "v": value,
        "compared": compared.get(step, scores),
        "weight": weights,
        "output": output,
    }
    for name, numbers_ in expected.items():
        found = f"[data-name={name}]"
        close(numbers(page.locator(f"{found}[data-value], {found} [data-value]")), numbers_)


@pytest.mark.parametrize("word", range(3))
def test_every_number_of_every_step_equals_pytorch(show, word):
    page = show(figure(), reduced_motion="reduce")
    page.get_by_role("button", name=f"follow {WORDS[word]}").click()
    for step in walk(page):
        check(page, word, step)
    expect(page.get_by_role("button", name="Next")).to_have_attribute("aria-disabled", "true")


def test_each_step_shows_what_it_is_about(show):
    page = show(figure(), reduced_motion="reduce")
    first_step = {"x": "words", "k": "keys", "v": "values", "output": "sum", "weight": "softmax"}
    for step in walk(page):
        for name, first in first_step.items():
            visible = expect(page.locator(f"[data-name={name}]").first)
            if STEPS.index(step) >= STEPS.index(first):
                visible.to_be_visible()
            else:
                visible.not_to_be_visible()


def test_the_weight_is_guessed_before_it_is_shown(show):
    page = show(figure(), reduced_motion="reduce")
    _, weights = scaled_dot_product_attention(X[2:] @ W_Q, X @ W_K, X @ W_V)
    best = weights.argmax().item()
    press(page.get_by_role("slider", name="step"), "ArrowRight")  # from "compare", where it opens
    mark = page.get_by_role("slider", name="your guess")
    press(mark, "ArrowLeft", times=3)
    expect(mark).to_have_attribute("aria-valuetext", f"0.47 for {WORDS[best]}")
    page.get_by_role("button", name="Next").click()
    expect(mark).not_to_be_visible()
    caption = page.get_by_role("status")
    sentence = f"You guessed 0.47 for “{WORDS[best]}”; it gets {weights.max():.2f}."
    expect(caption).to_contain_text(sentence)
    page.get_by_role("button", name="follow street").press("Enter")  # a new word, a new guess
    expect(caption).not_to_contain_text("You guessed")


def test_keys_and_play_lead_through_the_steps(show):
    page = show(figure(), reduced_motion="reduce")
    count = page.locator(".cl-stepper .cl-score")
    page.get_by_role("button", name="Next").focus()
    for key, number in [("End", 8), ("ArrowLeft", 7), ("Home", 1), ("ArrowRight", 2)]:
        page.keyboard.press(key)
        expect(count).to_contain_text(f"{number} of 8")
    page.clock.install()
    page.get_by_role("button", name="Play").click()
    expect(count).to_contain_text("3 of 8")
    page.clock.run_for(20_000)  # waits for the guess
    expect(count).to_contain_text("5 of 8")
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    page.get_by_role("button", name="Play").click()
    page.clock.run_for(4_000)
    expect(count).to_contain_text("7 of 8")
    page.get_by_role("button", name="Back").click()  # who turns, stops it
    page.clock.run_for(20_000)
    expect(count).to_contain_text("6 of 8")


def test_parts_glide_unless_motion_is_unwanted(show):
    """Half a second after the step the output is there; right after it, it is on its way or not."""
    place = "() => document.querySelector('[data-name=output]').style.opacity"
    still = show(figure(), reduced_motion="reduce")
    press(still.get_by_role("slider", name="step"), "End")
    assert still.evaluate(place) == "1"
    moving = show(figure(), reduced_motion="no-preference")
    opacity = moving.evaluate(
        f"""() => {{
        const line = document.querySelector('input[name=step]');
        line.value = 7;
        line.dispatchEvent(new Event('input'));
        return ({place})();
        }}"""
    )
    assert float(opacity) < 1
    moving.wait_for_function(f"({place})() === '1'")


EXAMPLE = Example(figure, "[data-name=weight]", "tr:last-child td")
