"""A next word beside the truth: probabilities, cuts and what they cost, against `companion`."""

import itertools

import pytest
import torch
from playwright.sync_api import expect

from book.page import cut_figure
from companion.generation import next_token_probabilities
from tests.book.reading import Example, close, numbers

pytestmark = pytest.mark.browser

WORDS = [f"word{number}" for number in range(17)]
SHOWN, NO_CUT = 12, 51
RANDOM = torch.Generator().manual_seed(4)


def context(text: str, right: list[int]):
    """Random logits, in which the words that can come are the best ones, and their truth."""
    logits = torch.randn(len(WORDS), generator=RANDOM).add(2).half().double()
    logits[right] = torch.tensor([5.5 + 0.25 * i for i in range(len(right))], dtype=torch.float64)
    truth = torch.zeros(len(WORDS), dtype=torch.float64)
    truth[right] = (logits[right] * 0.9).softmax(-1)
    return text, logits, truth


CONTEXTS = [context("the cat", [3, 5, 11]), context("a dog sees", [0, 2, 7, 8, 16])]


def figure():
    return cut_figure(WORDS, CONTEXTS)


def set_to(page, **how) -> None:
    for name, value in how.items():
        page.locator(f"input[name={name}]").fill(str(value))


def check(page, number: int, **how) -> None:
    _, logits, truth = CONTEXTS[number]
    p = next_token_probabilities(logits[None], **how)[0]
    order = logits.argsort(descending=True)
    best, rest = order[:SHOWN], order[SHOWN:]
    expected = torch.cat([p[best], p[rest].sum()[None]])
    close(numbers(page.locator("[data-name=model]")), expected)
    right = torch.cat([truth[best], truth[rest].sum()[None]])
    close(numbers(page.locator("[data-name=truth]")), right)
    words = page.locator("[data-name=model][data-word]")
    found = words.evaluate_all("all => all.map((node) => node.dataset.word)")
    assert found == [WORDS[i] for i in best]
    cut = [text == "cut" for text in words.all_inner_texts()]
    assert cut == (p[best] == 0).tolist()
    struck = page.locator("[data-name=next] .cl-off").all_inner_texts()
    assert [name for name in struck if name in WORDS] == [
        WORDS[i] for i in best.tolist() if p[i] == 0
    ]
    crossed = [text[:-2] for text in page.get_by_text("✗", exact=False).all_inner_texts()]
    wrong = [WORDS[i] for i in best.tolist() if truth[i] == 0]
    assert [name for name in crossed if name in WORDS] == wrong
    close(numbers(page.locator("td[data-name=wrong]")), p[truth == 0].sum())
    close(numbers(page.locator("td[data-name=lost]")), truth[p == 0].sum())
    distance = torch.special.xlogy(truth, truth / p).nansum()
    text = page.locator("td[data-name=distance]").inner_text()
    if (truth > 0).logical_and(p == 0).any():
        assert text == "∞"
    else:
        close(numbers(page.locator("td[data-name=distance]")), distance)


@pytest.mark.parametrize("number", [0, 1])
def test_temperature_and_cuts_equal_generation_beside_the_truth(show, number):
    page = show(figure())
    page.get_by_role("radio", name=CONTEXTS[number][0]).check()
    for temperature, (k, p) in itertools.product(
        [0, 0.6, 1, 2.5], [(NO_CUT, 1), (2, 1), (7, 0.8), (NO_CUT, 0.45)]
    ):
        how = {"temperature": temperature, "top_k": k, "top_p": p}
        set_to(page, **how)
        check(page, number, **how)


def test_what_is_left_is_said(show):
    page = show(figure())
    say = page.get_by_role("status")
    set_to(page, top_k=2)
    expect(say).to_contain_text("2 words are left to draw from. 0.0 % of the probability lies")
    set_to(page, temperature=0)
    expect(say).to_contain_text("1 word is left")


def test_goals_are_reached_by_the_settings_that_they_ask_for(show):
    page = show(figure())
    goals = page.locator(".cl-goals li").all()
    reached = [False, False, False]
    settings = [(1, 12, 1), (1, NO_CUT, 0.5), (1, 3, 1), (1, 5, 1), (1, NO_CUT, 0.9)]
    for temperature, k, p in [*settings, (0.5, NO_CUT, 0.95), (2.5, 9, 1), (2.5, NO_CUT, 1)]:
        set_to(page, temperature=temperature, top_k=k, top_p=p)
        clean, right = [], []
        for _, logits, truth in CONTEXTS:
            how = {"temperature": temperature, "top_k": k, "top_p": p}
            q = next_token_probabilities(logits[None], **how)[0]
            wrong = q[truth == 0].sum()
            clean.append(bool(wrong < 0.005 and (q[truth > 0] > 0).all()))
            right.append(bool(wrong < 0.005 and truth[q == 0].sum() <= 0.25))
            if len(clean) == 1:
                hot = bool(wrong > 0.5)
        reached[0] |= k < NO_CUT and p == 1 and clean[0]
        reached[1] |= all(right)
        reached[2] |= k == NO_CUT and p == 1 and hot
        for goal, done in zip(goals, reached, strict=True):
            expect(goal).to_have_class("cl-reached" if done else "")
    assert all(reached)


EXAMPLE = Example(figure, "[data-word], [data-name=truth]:not(:last-child)")
