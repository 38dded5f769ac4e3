"""The four terms of a score, held to PyTorch."""

import pytest
import torch
from playwright.sync_api import expect

from book.positional_encoding import terms_figure
from companion.nn import sinusoidal_encoding
from tests.book.reading import Example, close, numbers, press, select

pytestmark = pytest.mark.browser

VECTORS = {"Alice": [2, 0], "loves": [0, 1], "Bob": [1, 1]}


def check(page, words: str, step: int) -> None:
    """The scene at a step: vectors, the four terms, and the sum of those that have appeared."""
    x = torch.tensor([VECTORS[word] for word in words.split()], dtype=torch.float64)
    p = sinusoidal_encoding(3, 2, dtype=torch.float64)
    terms = torch.stack([a @ b.T for a in (x, p) for b in (x, p)])
    for name, expected in {"x": x, "p": p, "sum": x + p, "total": terms[:step].sum(0)}.items():
        close(numbers(page.locator(f"[data-name={name}] [data-value]")), expected)
    close(numbers(page.locator("[data-name^=term-] [data-value]")), terms)


def test_every_step_equals_torch(show):
    page = show(terms_figure())
    check(page, "Alice loves Bob", 4)  # it opens on the term that knows no words
    press(page.get_by_role("slider", name="step"), "Home")
    for step in range(6):
        check(page, "Alice loves Bob", min(step, 4))
        expect(page.get_by_role("status")).not_to_be_empty()
        press(page.get_by_role("button", name="Next"), "Enter")
    x = torch.tensor(list(VECTORS.values()), dtype=torch.float64)
    together = x + sinusoidal_encoding(3, 2, dtype=torch.float64)
    close(numbers(page.locator("[data-name=total] [data-value]")), together @ together.T)


def test_other_words_and_goals(show):
    page = show(terms_figure())
    reached = page.locator(".cl-reached")
    step = page.get_by_role("slider", name="step")
    expect(reached).to_have_count(0)
    select(page, "first word").select_option("Bob")
    select(page, "last word").select_option("Alice")
    check(page, "Bob loves Alice", 4)
    expect(reached).to_have_count(1)
    select(page, "last word").select_option("Bob")
    expect(reached).to_have_count(1)
    press(step, "End")
    check(page, "Bob loves Bob", 4)
    expect(reached).to_have_count(2)
    expect(page.get_by_role("status")).to_contain_text("different rows")


EXAMPLE = Example(terms_figure, "[data-name^=term-] [data-value]")
